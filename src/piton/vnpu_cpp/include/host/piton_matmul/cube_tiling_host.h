/*
 * optiling::TCubeTiling: the host's form of TCubeTiling, with a setter and a getter per field.
 *
 * Problem and approach: tiling structures of operator projects hold it as a member, and programs save it to a buffer, so that it is a tiling definition like
 * any other, of the fields of the kernel's structure (ascendc/matmul/cube_tiling.h).
 * Limits: none known.
 */
#ifndef PITON_MATMUL_CUBE_TILING_HOST_H
#define PITON_MATMUL_CUBE_TILING_HOST_H

#include "ascendc/matmul/cube_tiling.h"
#include "piton_project/tiling_data.h"

namespace optiling {

#define PITON_FIELD(name) TILING_DATA_FIELD_DEF(int32_t, name);
BEGIN_TILING_DATA_DEF(TCubeTiling)
PITON_CUBE_TILING_FIELDS(PITON_FIELD)
END_TILING_DATA_DEF;
#undef PITON_FIELD

}  // namespace optiling

namespace piton_matmul {

inline void Copy(const AscendC::tiling::TCubeTiling &from, optiling::TCubeTiling &to) {
#define PITON_FIELD(name) to.set_##name(from.name);
    PITON_CUBE_TILING_FIELDS(PITON_FIELD)
#undef PITON_FIELD
}

inline AscendC::tiling::TCubeTiling Plain(const optiling::TCubeTiling &from) {
    AscendC::tiling::TCubeTiling to;
#define PITON_FIELD(name) to.name = from.get_##name();
    PITON_CUBE_TILING_FIELDS(PITON_FIELD)
#undef PITON_FIELD
    return to;
}

}  // namespace piton_matmul

#endif /* PITON_MATMUL_CUBE_TILING_HOST_H */
