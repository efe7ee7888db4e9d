/* Which axis of a matrix is reduced: asked by kernels and by host code. */
#ifndef PITON_ASCENDC_NORMS_REDUCE_PATTERN_H
#define PITON_ASCENDC_NORMS_REDUCE_PATTERN_H

#include <cstdint>

namespace AscendC {

/* A: kept, R: reduced. */
enum class ReducePattern : uint32_t { AR = 0, RA = 1 };

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_REDUCE_PATTERN_H */
