/*
 * optiling::SoftMaxTiling, LayerNormTiling and the like: the host's form of those structures, with a setter and a getter per field.
 *
 * Problem and approach: tiling structures of operator projects hold them as members, and programs save them to a buffer, so that they are tiling definitions
 * like any other, of the fields of the kernel's structures (ascendc/norms/tilings.h).
 * Limits: none known.
 */
#ifndef PITON_NORMS_DEFINITIONS_H
#define PITON_NORMS_DEFINITIONS_H

#include "ascendc/norms/tilings.h"
#include "piton_project/tiling_data.h"

namespace optiling {

#define PITON_NUMBER(name) TILING_DATA_FIELD_DEF(uint32_t, name);
#define PITON_REAL(name) TILING_DATA_FIELD_DEF(float, name);
#define PITON_TRUTH(name) TILING_DATA_FIELD_DEF(bool, name);
#define PITON_TILING(Name, FIELDS)                \
    BEGIN_TILING_DATA_DEF(Name)                   \
    FIELDS(PITON_NUMBER, PITON_REAL, PITON_TRUTH) \
    END_TILING_DATA_DEF;
PITON_NORM_TILINGS(PITON_TILING)
#undef PITON_TILING
#undef PITON_NUMBER
#undef PITON_REAL
#undef PITON_TRUTH

}  // namespace optiling

namespace piton_norms {

#define PITON_FIELD(name) to.set_##name(from.name);
#define PITON_TILING(Name, FIELDS)                                                                                            \
    inline void Copy(const AscendC::tiling::Name &from, optiling::Name &to) { FIELDS(PITON_FIELD, PITON_FIELD, PITON_FIELD) } \
    inline void Copy(const AscendC::tiling::Name &from, AscendC::tiling::Name &to) { to = from; }
PITON_NORM_TILINGS(PITON_TILING)
#undef PITON_TILING
#undef PITON_FIELD

inline uint32_t Bytes(uint64_t value) { return value > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(value); }

}  // namespace piton_norms

#endif /* PITON_NORMS_DEFINITIONS_H */
