/*
 * LayerNormGrad and LayerNormGradBeta: what flows back through a LayerNorm, to its input and to gamma and beta.
 *
 * Problem: three sums of each row go into each of its elements; gamma and beta take sums over all rows.
 * Approach: the documented formulas, with the rows' sums taken first. With x1 = dy * gamma, x2 = x - mean, r = 1 / root(variance + epsilon):
 * v = -1/2 r^3 sum(x1 x2), m = -r sum(x1) - 2/H v sum(x2), and dx = x1 r + 2/H v x2 + m / H. Halves go through float.
 * Limits: format ND, rows not cut. Of a tiling only the shape is read. The powers come from Sqrt and Div; last digits may differ from the vendor's.
 */
#ifndef PITON_ASCENDC_NORMS_LAYER_NORM_GRAD_H
#define PITON_ASCENDC_NORMS_LAYER_NORM_GRAD_H

#include "../shape_info.h"
#include "layer_norm.h"

namespace AscendC {

struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};

}  // namespace AscendC

namespace piton {

/* What LayerNormGrad reads and writes. */
template <typename T>
struct LayerNormGradTensors {
    const AscendC::LocalTensor<T> &dx, &forGamma, &dy, &x, &variance, &mean;
};

/* Numbers: 0 mean, 1 deviation, 2 its reciprocal r, 3 the sum of x1 x2 and then 2 v / H, 4 that of x1 and then m / H, 5 that of x2, 6 scratch. */
template <typename T>
struct LayerNormGradGroup {
    const RowsWork &work;
    const LayerNormGradTensors<T> &tensors;
    const FloatTensor &gamma;
    float epsilon;
    uint32_t start, count;

    PITON_API void operator()() const {
        TakeNumbers();
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            Load(first, block);
            work.Sum(work.Number(4), first, work.Slot(1), block);
            work.Sum(work.Number(5), first, work.Slot(0), block);
            block.Steps().Mul(work.Slot(2), work.Slot(0), work.Slot(1));
            work.Sum(work.Number(3), first, work.Slot(2), block);
        });
        MakeFactors();
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            if (!work.IsOneChunk(count)) {
                Load(first, block);
            }
            Give(first, block.Whole());
        });
    }

private:
    /* Slot 0: x - mean, slot 1: dy * gamma. */
    PITON_API void Load(uint32_t first, const RowBlock &block) const {
        const uint32_t at = (start + first) * work.shape.pitch;
        const RowBlock all = block.Whole();
        all.ByNumber<SubOfTwo>(work.Slot(0), work.Wide(0, tensors.x[at], block), work.Spread(0)[first * kFloatsOfBlock]);
        all.ByRow<MulOfTwo>(work.Slot(1), work.Wide(1, tensors.dy[at], block), gamma);
    }
    PITON_API void TakeNumbers() const {
        const FloatSteps steps = work.Numbers(count);
        steps.Adds(work.Number(0), WidePart(work.Number(0), tensors.mean[start], steps), 0.0f);
        steps.Adds(work.Number(1), WidePart(work.Number(1), tensors.variance[start], steps), epsilon);
        steps.Sqrt(work.Number(1), work.Number(1));
        steps.Set(work.Number(2), 1.0f);
        steps.Div(work.Number(2), work.Number(2), work.Number(1));
        work.SpreadNumbers(work.Spread(0), work.Number(0), count);
        work.SpreadNumbers(work.Spread(1), work.Number(2), count);
    }
    PITON_API void MakeFactors() const {
        const float each = 1.0f / static_cast<float>(work.shape.last);
        const FloatSteps steps = work.Numbers(count);
        const FloatTensor r = work.Number(2), v = work.Number(3), m = work.Number(4), scratch = work.Number(6);
        steps.Mul(scratch, r, r);
        steps.Mul(scratch, scratch, r);
        steps.Mul(v, v, scratch);
        steps.Muls(v, v, -each); /* 2 v / H */
        steps.Mul(scratch, v, work.Number(5));
        steps.Mul(m, m, r);
        steps.Add(m, m, scratch);
        steps.Muls(m, m, -each);
        work.SpreadNumbers(work.Spread(2), v, count);
        work.SpreadNumbers(work.Spread(3), m, count);
    }
    PITON_API FloatTensor Blocks(uint32_t which, uint32_t first) const { return work.Spread(which)[first * kFloatsOfBlock]; }
    PITON_API void Give(uint32_t first, const RowBlock &block) const {
        const FloatTensor x2 = work.Slot(0), x1 = work.Slot(1), product = work.Slot(2);
        const uint32_t at = (start + first) * work.shape.pitch;
        block.ByNumber<MulOfTwo>(product, x2, Blocks(2, first));
        block.ByNumber<MulOfTwo>(x1, x1, Blocks(1, first));
        block.Steps().Add(product, product, x1);
        block.ByNumber<AddOfTwo>(product, product, Blocks(3, first));
        block.ByNumber<MulOfTwo>(x2, x2, Blocks(1, first));
        work.Give(tensors.dx[at], product, block.Count());
        work.Give(tensors.forGamma[at], x2, block.Count());
    }
};

/* Sums over all rows of dy * forGamma, and of dy. */
template <typename T>
PITON_API void SumGradients(const RowsWork &work, const AscendC::LocalTensor<T> &dGamma, const AscendC::LocalTensor<T> &dBeta,
                            const AscendC::LocalTensor<T> &forGamma, const AscendC::LocalTensor<T> &dy) {
    const uint32_t pitch = work.shape.pitch;
    const FloatSteps row{FloatTensor(), 0, static_cast<int32_t>(pitch), work.shape.at};
    const FloatTensor gamma = work.memory, beta = work.memory[pitch];
    row.Set(gamma, 0.0f);
    row.Set(beta, 0.0f);
    work.EachChunk(work.shape.first, [&](uint32_t first, const RowBlock &block) {
        const FloatTensor wide = work.Wide(0, dy[first * pitch], block), product = work.Slot(1);
        block.Steps().Mul(product, wide, work.Wide(1, forGamma[first * pitch], block));
        for (uint32_t i = 0; i < block.shape.rows; ++i) {
            row.Add(gamma, gamma, product[i * pitch]);
            row.Add(beta, beta, wide[i * pitch]);
        }
    });
    work.Give(dGamma, gamma, pitch);
    work.Give(dBeta, beta, pitch);
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isReuseSource = false>
PITON_API void LayerNormGrad(const LocalTensor<T> &outputPdX, const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy, const LocalTensor<T> &inputX,
                             const LocalTensor<T> &inputVariance, const LocalTensor<T> &inputMean, const LocalTensor<T> &inputGamma,
                             const LocalTensor<uint8_t> &sharedTmpBuffer, T epsilon, const tiling::LayerNormGradTiling &tiling,
                             const LayerNormGradShapeInfo &shapeInfo = {}, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("LayerNormGrad", piton::kIsFloat<T>, "half, float");
    piton::RequireRange("LayerNormGrad", 10, static_cast<uint32_t>(shapeInfo.dataFormat), 0, 0, at); /* DataFormat::ND */
    const piton::AxisShape shape = piton::RowsOfTiling(tiling, at);
    const piton::RowsWork work("LayerNormGrad", sharedTmpBuffer, piton::LayerNormGradNeeds(shape.pitch), shape);
    piton::RequireRows(work, outputPdX, inputX);
    piton::RequireRows(work, resForGamma, inputDy);
    work.Apart(shape.pitch, inputGamma);
    work.Apart(shape.first, inputVariance, inputMean);
    const piton::FloatSteps row{piton::FloatTensor(), 0, static_cast<int32_t>(shape.pitch), at};
    const piton::FloatTensor gamma = piton::WidePart(work.memory, inputGamma, row);
    const piton::LayerNormGradTensors<T> tensors{outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean};
    work.EachGroup([&](uint32_t start, uint32_t count) { piton::LayerNormGradGroup<T>{work, tensors, gamma, static_cast<float>(epsilon), start, count}(); });
}
template <typename T, bool isReuseSource = false>
PITON_API void LayerNormGrad(const LocalTensor<T> &outputPdX, const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy, const LocalTensor<T> &inputX,
                             const LocalTensor<T> &inputVariance, const LocalTensor<T> &inputMean, const LocalTensor<T> &inputGamma, T epsilon,
                             const tiling::LayerNormGradTiling &tiling, const LayerNormGradShapeInfo &shapeInfo = {}, piton::Location at = piton::Location()) {
    LayerNormGrad<T, isReuseSource>(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma, GetTPipePtr(at)->UnusedMemory(at), epsilon,
                                    tiling, shapeInfo, at);
}

template <typename T, bool isReuseSource = false>
PITON_API void LayerNormGradBeta(const LocalTensor<T> &outputPdGamma, const LocalTensor<T> &outputPdBeta, const LocalTensor<T> &resForGamma,
                                 const LocalTensor<T> &inputDy, const LocalTensor<uint8_t> &sharedTmpBuffer, const tiling::LayerNormGradBetaTiling &tiling,
                                 piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("LayerNormGradBeta", piton::kIsFloat<T>, "half, float");
    const piton::AxisShape shape = piton::RowsOfTiling(tiling, at);
    const piton::RowsWork work("LayerNormGradBeta", sharedTmpBuffer, piton::LayerNormGradBetaNeeds(shape.pitch), shape);
    piton::RequireRows(work, resForGamma, inputDy);
    work.Apart(shape.pitch, outputPdGamma, outputPdBeta);
    piton::SumGradients(work, outputPdGamma, outputPdBeta, resForGamma, inputDy);
}
template <typename T, bool isReuseSource = false>
PITON_API void LayerNormGradBeta(const LocalTensor<T> &outputPdGamma, const LocalTensor<T> &outputPdBeta, const LocalTensor<T> &resForGamma,
                                 const LocalTensor<T> &inputDy, const tiling::LayerNormGradBetaTiling &tiling, piton::Location at = piton::Location()) {
    LayerNormGradBeta<T, isReuseSource>(outputPdGamma, outputPdBeta, resForGamma, inputDy, GetTPipePtr(at)->UnusedMemory(at), tiling, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_LAYER_NORM_GRAD_H */
