/*
 * DeepNorm: LayerNorm of alpha * x + gx.
 *
 * Problem and approach: as layer_norm.h, with rows that are made as they are read.
 * Limits: format ND, at most 2040 elements of a row, as documented. The third result is the variance: so the example of the page has it, where its text says
 * the reciprocal of the deviation.
 */
#ifndef PITON_ASCENDC_NORMS_DEEP_NORM_H
#define PITON_ASCENDC_NORMS_DEEP_NORM_H

#include "layer_norm.h"

namespace piton {

/* The loader of alpha * x + gx, in slot 0. */
template <typename T>
PITON_API auto LoadResiduals(const RowsWork &work, const AscendC::LocalTensor<T> &x, const AscendC::LocalTensor<T> &gx, float alpha) {
    return [&work, &x, &gx, alpha](uint32_t first, const RowBlock &block) {
        const FloatTensor sum = work.Slot(0);
        block.Steps().Muls(sum, work.Wide(0, x[first * work.shape.pitch], block), alpha);
        block.Steps().Add(sum, sum, work.Wide(1, gx[first * work.shape.pitch], block));
        return sum;
    };
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
PITON_API void DeepNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &meanLocal, const LocalTensor<T> &rstdLocal, const LocalTensor<T> &srcLocal,
                        const LocalTensor<T> &gxLocal, const LocalTensor<T> &betaLocal, const LocalTensor<T> &gammaLocal,
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const T alpha, const T epsilon, const tiling::DeepNormTiling &tiling,
                        piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("DeepNorm", piton::kIsFloat<T>, "half, float");
    constexpr uint32_t kMostColumns = 2040;
    const piton::AxisShape shape = piton::RowsOfTiling(tiling, at);
    piton::RequireRange("DeepNorm", 10, shape.pitch, 1, kMostColumns, at);
    const piton::RowsWork work("DeepNorm", sharedTmpBuffer, piton::LayerNormNeeds(shape.pitch, sizeof(T) == sizeof(half)), shape);
    piton::RequireRows(work, dstLocal, srcLocal);
    piton::RequireRows(work, dstLocal, gxLocal);
    work.Apart(shape.pitch, gammaLocal, betaLocal);
    work.Apart(shape.first, meanLocal, rstdLocal);
    const piton::NormOutputs<T> outputs{meanLocal, rstdLocal, false};
    piton::LayerNormRows(work, dstLocal, outputs, piton::ScaleAndShift::Of(work, &gammaLocal, &betaLocal), static_cast<float>(epsilon),
                         piton::LoadResiduals(work, srcLocal, gxLocal, static_cast<float>(alpha)));
}
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
PITON_API void DeepNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &meanLocal, const LocalTensor<T> &rstdLocal, const LocalTensor<T> &srcLocal,
                        const LocalTensor<T> &gxLocal, const LocalTensor<T> &betaLocal, const LocalTensor<T> &gammaLocal, const T alpha, const T epsilon,
                        const tiling::DeepNormTiling &tiling, piton::Location at = piton::Location()) {
    DeepNorm<T, isReuseSrc, isBasicBlock>(dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal, GetTPipePtr(at)->UnusedMemory(at), alpha,
                                          epsilon, tiling, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_DEEP_NORM_H */
