/*
 * RmsNorm: rows over their root mean square, scaled element by element.
 *
 * Problem and approach: as layer_norm.h, by the documented steps: squares and their sum times 1/n, epsilon, root, quotient, times gamma.
 * Limits: format ND, half and float. Of the tiling only the shape is read.
 */
#ifndef PITON_ASCENDC_NORMS_RMS_NORM_H
#define PITON_ASCENDC_NORMS_RMS_NORM_H

#include "layer_norm.h"

namespace piton {

template <typename T>
PITON_API void RmsNormRows(const RowsWork &work, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<T> &gamma,
                           float epsilon) {
    const FloatTensor scale = ScaleAndShift::Of<T>(work, &gamma, nullptr).gamma;
    const auto load = LoadRows(work, src);
    work.EachGroup([&](uint32_t start, uint32_t count) {
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            const FloatTensor x = load(start + first, block);
            block.Steps().Mul(work.Slot(1), x, x);
            work.Sum(work.Number(0), first, work.Slot(1), block);
        });
        const FloatSteps numbers = work.Numbers(count);
        numbers.Muls(work.Number(0), work.Number(0), 1.0f / static_cast<float>(work.shape.last));
        numbers.Adds(work.Number(0), work.Number(0), epsilon);
        numbers.Sqrt(work.Number(0), work.Number(0));
        work.SpreadNumbers(work.Spread(0), work.Number(0), count);
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            const FloatTensor x = load(start + first, block), y = work.Slot(1);
            block.ByNumber<DivOfTwo>(y, x, work.Spread(0)[first * kFloatsOfBlock]);
            block.ByRow<MulOfTwo>(y, y, scale);
            work.Give(dst[(start + first) * work.shape.pitch], y, block.Count());
        });
    });
}

}  // namespace piton

namespace AscendC {

/* The tiling tells the shape: bLength, sLength, hLength, originalHLength. */
template <typename T, bool isBasicBlock = false, typename Tiling>
PITON_API void RmsNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gammaLocal,
                       const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon, const Tiling &tiling, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("RmsNorm", piton::kIsFloat<T>, "half, float");
    const piton::AxisShape shape = piton::RowsOfTiling(tiling, at);
    const piton::RowsWork work("RmsNorm", sharedTmpBuffer, piton::RmsNormNeeds(shape.pitch, sizeof(T) == sizeof(half)), shape);
    piton::RequireRows(work, dstLocal, srcLocal);
    work.Apart(shape.pitch, gammaLocal);
    piton::RmsNormRows(work, dstLocal, srcLocal, gammaLocal, static_cast<float>(epsilon));
}
template <typename T, bool isBasicBlock = false, typename Tiling>
PITON_API void RmsNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gammaLocal, const T epsilon, const Tiling &tiling,
                       piton::Location at = piton::Location()) {
    RmsNorm<T, isBasicBlock>(dstLocal, srcLocal, gammaLocal, GetTPipePtr(at)->UnusedMemory(at), epsilon, tiling, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_RMS_NORM_H */
