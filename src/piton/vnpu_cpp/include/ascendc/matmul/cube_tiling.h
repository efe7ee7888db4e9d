/*
 * TCubeTiling: how a matrix product is cut for one core, as host code fills it in and a kernel reads it.
 *
 * Problem: host and kernel share the bytes, and kernels copy them word by word.
 * Approach: fifty numbers of 32 bits in the documented order (page of TCubeTiling; the reserved ones as public programs declare them).
 * Limits: what belongs to other chips and to microscaling formats is only carried.
 */
#ifndef PITON_ASCENDC_MATMUL_CUBE_TILING_H
#define PITON_ASCENDC_MATMUL_CUBE_TILING_H

#include <cstdint>

/* Every field in order; `X` is given each name. */
/* clang-format off */
#define PITON_CUBE_TILING_FIELDS(X) \
    X(usedCoreNum) X(M) X(N) X(Ka) X(Kb) X(singleCoreM) X(singleCoreN) X(singleCoreK) X(baseM) X(baseN) X(baseK) X(depthA1) X(depthB1) X(stepM) \
    X(stepN) X(isBias) X(transLength) X(iterateOrder) X(shareMode) X(shareL1Size) X(shareL0CSize) X(shareUbSize) X(batchM) X(batchN) X(singleBatchM) \
    X(singleBatchN) X(stepKa) X(stepKb) X(depthAL1CacheUB) X(depthBL1CacheUB) X(dbL0A) X(dbL0B) X(dbL0C) X(ALayoutInfoB) X(ALayoutInfoS) \
    X(ALayoutInfoN) X(ALayoutInfoG) X(ALayoutInfoD) X(BLayoutInfoB) X(BLayoutInfoS) X(BLayoutInfoN) X(BLayoutInfoG) X(BLayoutInfoD) X(CLayoutInfoB) \
    X(CLayoutInfoS1) X(CLayoutInfoN) X(CLayoutInfoG) X(CLayoutInfoS2) X(BatchNum) X(mxTypePara)
/* clang-format on */

namespace AscendC {
namespace tiling {

struct TCubeTiling {
#define PITON_FIELD(name) int32_t name = 0;
    PITON_CUBE_TILING_FIELDS(PITON_FIELD)
#undef PITON_FIELD
};
static_assert(sizeof(TCubeTiling) == 50 * sizeof(int32_t), "host and kernel share the bytes");

}  // namespace tiling
}  // namespace AscendC

using AscendC::tiling::TCubeTiling;

#endif /* PITON_ASCENDC_MATMUL_CUBE_TILING_H */
