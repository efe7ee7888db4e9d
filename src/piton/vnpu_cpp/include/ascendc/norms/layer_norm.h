/*
 * LayerNorm, Normalize and DeepNorm: rows less their mean, over their deviation, scaled and moved element by element.
 *
 * Problem: mean and deviation of a row have to meet each of its elements, results of either type go out, and memory decides how many rows go at once.
 * Approach: the documented steps: elements times 1/n and their sum; differences, squares times 1/n and their sum; root of the variance and epsilon;
 * difference over it, times gamma, plus beta. Rows go in groups and chunks (row_block.h), halves through float. The time is that of these instructions.
 * Limits: format ND, rows not cut. Of a tiling only the shape is read. Where the vendor takes Rsqrt or Exp and Ln we take Sqrt and Div, and it adds in
 * another order, so that last digits may differ. DeepNorm gives the variance where its page says its reciprocal root, as the example of that page does.
 */
#ifndef PITON_ASCENDC_NORMS_LAYER_NORM_H
#define PITON_ASCENDC_NORMS_LAYER_NORM_H

#include "reduce_pattern.h"
#include "row_block.h"
#include "tilings.h"

namespace AscendC {

struct LayerNormConfig {
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
    bool isOutputRstd = true;
};
constexpr LayerNormConfig LNCFG_NORM = {};

/* Rows, elements of a row, and those with padding. */
struct LayerNormPara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};
constexpr NormalizeConfig NLCFG_NORM = {};

struct NormalizePara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

}  // namespace AscendC

namespace piton {

/* What each row is multiplied with and moved by, as floats; none where there is no tensor. */
struct ScaleAndShift {
    FloatTensor gamma, beta;
    bool hasGamma = false, hasBeta = false;

    template <typename U>
    PITON_API static ScaleAndShift Of(const RowsWork &work, const AscendC::LocalTensor<U> *gamma, const AscendC::LocalTensor<U> *beta) {
        const FloatSteps steps{FloatTensor(), 0, static_cast<int32_t>(work.shape.last), work.shape.at};
        ScaleAndShift made;
        made.hasGamma = gamma != nullptr;
        made.hasBeta = beta != nullptr;
        if (made.hasGamma) {
            made.gamma = WidePart(work.memory, *gamma, steps);
        }
        if (made.hasBeta) {
            made.beta = WidePart(work.memory[work.shape.pitch], *beta, steps);
        }
        return made;
    }
};

/* numbers 1 = the variance of each row around number 0, whose spread is Spread(0); leaves the differences in slot 0. */
template <typename Load>
PITON_API void VarianceOfRows(const RowsWork &work, uint32_t count, float factor, const Load &load) {
    work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
        block.ByNumber<SubOfTwo>(work.Slot(0), load(first, block), work.Spread(0)[first * kFloatsOfBlock]);
        block.Steps().Mul(work.Slot(1), work.Slot(0), work.Slot(0));
        block.Steps().Muls(work.Slot(1), work.Slot(1), factor);
        work.Sum(work.Number(1), first, work.Slot(1), block);
    });
}

/* numbers 0 = the mean of each row, and its spread. */
template <typename Load>
PITON_API void MeanOfRows(const RowsWork &work, uint32_t count, float factor, const Load &load) {
    work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
        block.Steps().Muls(work.Slot(1), load(first, block), factor);
        work.Sum(work.Number(0), first, work.Slot(1), block);
    });
    work.SpreadNumbers(work.Spread(0), work.Number(0), count);
}

/* numbers 2 = root(variance + epsilon), and its spread. */
PITON_API void DeviationOfRows(const RowsWork &work, uint32_t count, float epsilon) {
    const FloatSteps numbers = work.Numbers(count);
    numbers.Adds(work.Number(2), work.Number(1), epsilon);
    numbers.Sqrt(work.Number(2), work.Number(2));
    work.SpreadNumbers(work.Spread(1), work.Number(2), count);
}

/* dst = (x - mean) / deviation * gamma + beta; with `isDone` the differences of the only chunk are in slot 0. */
template <typename T, typename Load>
PITON_API void NormalisedRows(const RowsWork &work, const AscendC::LocalTensor<T> &dst, uint32_t count, const ScaleAndShift &change, bool isDone,
                              const Load &load) {
    work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
        const FloatTensor y = work.Slot(1);
        if (!isDone) {
            block.ByNumber<SubOfTwo>(work.Slot(0), load(first, block), work.Spread(0)[first * kFloatsOfBlock]);
        }
        block.ByNumber<DivOfTwo>(y, work.Slot(0), work.Spread(1)[first * kFloatsOfBlock]);
        if (change.hasGamma) {
            block.ByRow<MulOfTwo>(y, y, change.gamma);
        }
        if (change.hasBeta) {
            block.ByRow<AddOfTwo>(y, y, change.beta);
        }
        work.Give(dst[first * work.shape.pitch], y, block.Count());
    });
}

/* numbers 2 = 1 / number 2. */
PITON_API void InvertDeviations(const RowsWork &work, uint32_t count) {
    const FloatSteps numbers = work.Numbers(count);
    numbers.Set(work.Number(0), 1.0f);
    numbers.Div(work.Number(2), work.Number(0), work.Number(2));
}

/* Whole blocks of a row, data in it, memory apart from what is read and written. */
template <typename T>
PITON_API void RequireRows(const RowsWork &work, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src) {
    const AxisShape &shape = work.shape;
    RequireRange(work.api, 3, shape.pitch * sizeof(T) % kBlockBytes, 0, 0, shape.at);
    RequireRange(work.api, 3, shape.last, 1, shape.pitch, shape.at);
    work.Apart(uint64_t(shape.first) * shape.pitch, src, dst);
}

/* Where numbers of each row go: mean, and variance or 1 / deviation. */
template <typename S>
struct NormOutputs {
    const AscendC::LocalTensor<S> &mean;
    const AscendC::LocalTensor<S> &other;
    bool isInverse;

    PITON_API void Give(const RowsWork &work, uint32_t first, uint32_t count) const {
        work.Give(mean[first], work.Number(0), count);
        if (isInverse) {
            InvertDeviations(work, count);
        }
        work.Give(other[first], work.Number(isInverse ? 2 : 1), count);
    }
};

/* All rows: `load(first, block)` gives a chunk of them as floats, in slot 0 or elsewhere. */
template <typename T, typename S, typename Load>
PITON_API void LayerNormRows(const RowsWork &work, const AscendC::LocalTensor<T> &dst, const NormOutputs<S> &outputs, const ScaleAndShift &change,
                             float epsilon, const Load &load) {
    const float factor = 1.0f / static_cast<float>(work.shape.last);
    work.EachGroup([&](uint32_t start, uint32_t count) {
        const auto loadGroup = [&](uint32_t first, const RowBlock &block) { return load(start + first, block); };
        MeanOfRows(work, count, factor, loadGroup);
        VarianceOfRows(work, count, factor, loadGroup);
        DeviationOfRows(work, count, epsilon);
        NormalisedRows(work, dst[start * work.shape.pitch], count, change, work.IsOneChunk(count), loadGroup);
        outputs.Give(work, start, count);
    });
}

/* The loader of rows that are there. */
template <typename T>
PITON_API auto LoadRows(const RowsWork &work, const AscendC::LocalTensor<T> &src) {
    return [&work, &src](uint32_t first, const RowBlock &block) { return work.Wide(0, src[first * work.shape.pitch], block); };
}

/* Rows of a tiling with bLength, sLength, hLength and originalHLength. */
template <typename Tiling>
PITON_API AxisShape RowsOfTiling(const Tiling &tiling, Location at) {
    return {static_cast<uint32_t>(tiling.bLength * tiling.sLength), static_cast<uint32_t>(tiling.originalHLength), static_cast<uint32_t>(tiling.hLength), at};
}

template <typename T, typename U>
constexpr bool kIsNormPair = kIsFloat<T> && kIsFloat<U> && sizeof(U) >= sizeof(T);

/* Rows, 1 / deviation from the given variance. */
template <typename T>
PITON_API void NormalizeRows(const RowsWork &work, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<float> &rstd, const NormOutputs<float> &given,
                             const ScaleAndShift &change, float epsilon, const AscendC::LocalTensor<T> &src) {
    const auto load = LoadRows(work, src);
    work.EachGroup([&](uint32_t start, uint32_t count) {
        work.Give(work.Number(0), given.mean[start], count);
        work.Give(work.Number(1), given.other[start], count);
        work.SpreadNumbers(work.Spread(0), work.Number(0), count);
        DeviationOfRows(work, count, epsilon);
        NormalisedRows(work, dst[start * work.shape.pitch], count, change, false,
                       [&](uint32_t first, const RowBlock &block) { return load(start + first, block); });
        InvertDeviations(work, count);
        work.Give(rstd[start], work.Number(2), count);
    });
}

}  // namespace piton

namespace AscendC {

/* [B, S, H]: with mean and variance of each row. */
template <typename T, bool isReuseSource = false>
PITON_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon,
                         const tiling::LayerNormTiling &tiling, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("LayerNorm", piton::kIsFloat<T>, "half, float");
    const piton::AxisShape shape = piton::RowsOfTiling(tiling, at);
    const piton::RowsWork work("LayerNorm", sharedTmpBuffer, piton::LayerNormNeeds(shape.pitch, sizeof(T) == sizeof(half)), shape);
    piton::RequireRows(work, output, inputX);
    work.Apart(shape.pitch, gamma, beta);
    work.Apart(shape.first, outputMean, outputVariance);
    const piton::NormOutputs<T> outputs{outputMean, outputVariance, false};
    piton::LayerNormRows(work, output, outputs, piton::ScaleAndShift::Of(work, &gamma, &beta), static_cast<float>(epsilon), piton::LoadRows(work, inputX));
}
template <typename T, bool isReuseSource = false>
PITON_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon, const tiling::LayerNormTiling &tiling,
                         piton::Location at = piton::Location()) {
    LayerNorm<T, isReuseSource>(output, outputMean, outputVariance, inputX, gamma, beta, GetTPipePtr(at)->UnusedMemory(at), epsilon, tiling, at);
}

/* [A, R]: with mean and 1 / deviation of each row. */
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM>
PITON_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean, const LocalTensor<float> &outputRstd, const LocalTensor<T> &inputX,
                         const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon, const LocalTensor<uint8_t> &sharedTmpBuffer,
                         const LayerNormPara &para, const tiling::LayerNormSeparateTiling &, piton::Location at = piton::Location()) {
    static_assert(piton::kIsNormPair<T, U>, "LayerNorm supports half, float, and gamma and beta that are not less precise, on the Ascend 910B");
    static_assert(config.isOutputRstd, "LayerNorm that gives the variance (isOutputRstd = false) is of later chips than the Ascend 910B");
    static_assert(!config.isOnlyOutput, "LayerNorm with isOnlyOutput = true does not exist: the documentation has false only");
    const piton::AxisShape shape{para.aLength, para.rLength, para.rLengthWithPadding, at};
    const piton::RowsWork work("LayerNorm", sharedTmpBuffer, piton::LayerNormNeeds(shape.pitch, sizeof(U) == sizeof(half)), shape);
    piton::RequireRows(work, output, inputX);
    work.Apart(shape.last, gamma, beta);
    work.Apart(shape.first, outputMean, outputRstd);
    const auto change = piton::ScaleAndShift::Of(work, config.isNoGamma ? nullptr : &gamma, config.isNoBeta ? nullptr : &beta);
    piton::LayerNormRows(work, output, piton::NormOutputs<float>{outputMean, outputRstd, true}, change, epsilon, piton::LoadRows(work, inputX));
}
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM>
PITON_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean, const LocalTensor<float> &outputRstd, const LocalTensor<T> &inputX,
                         const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon, const LayerNormPara &para,
                         const tiling::LayerNormSeparateTiling &tiling, piton::Location at = piton::Location()) {
    LayerNorm<U, T, isReuseSource, config>(output, outputMean, outputRstd, inputX, gamma, beta, epsilon, GetTPipePtr(at)->UnusedMemory(at), para, tiling, at);
}

/* [A, R], mean and variance given: y and 1 / deviation. */
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig &config = NLCFG_NORM>
PITON_API void Normalize(const LocalTensor<T> &output, const LocalTensor<float> &outputRstd, const LocalTensor<float> &inputMean,
                         const LocalTensor<float> &inputVariance, const LocalTensor<T> &inputX, const LocalTensor<U> &gamma, const LocalTensor<U> &beta,
                         const LocalTensor<uint8_t> &sharedTmpBuffer, const float epsilon, const NormalizePara &para, piton::Location at = piton::Location()) {
    static_assert(piton::kIsNormPair<T, U>, "Normalize supports half, float, and gamma and beta that are not less precise, on the Ascend 910B");
    static_assert(config.reducePattern == ReducePattern::AR, "Normalize has ReducePattern::AR only");
    static_assert(!config.isOnlyOutput, "Normalize with isOnlyOutput = true does not exist: the documentation has false only");
    const piton::AxisShape shape{para.aLength, para.rLength, para.rLengthWithPadding, at};
    const uint32_t said = config.aLength < 0 ? para.aLength : static_cast<uint32_t>(config.aLength);
    piton::RequireRange("Normalize", 9, said, para.aLength, para.aLength, at);
    const piton::RowsWork work("Normalize", sharedTmpBuffer, piton::LayerNormNeeds(shape.pitch, sizeof(U) == sizeof(half)), shape);
    piton::RequireRows(work, output, inputX);
    work.Apart(shape.last, gamma, beta);
    work.Apart(shape.first, outputRstd, inputMean, inputVariance);
    const auto change = piton::ScaleAndShift::Of(work, config.isNoGamma ? nullptr : &gamma, config.isNoBeta ? nullptr : &beta);
    piton::NormalizeRows(work, output, outputRstd, piton::NormOutputs<float>{inputMean, inputVariance, false}, change, epsilon, inputX);
}
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig &config = NLCFG_NORM>
PITON_API void Normalize(const LocalTensor<T> &output, const LocalTensor<float> &outputRstd, const LocalTensor<float> &inputMean,
                         const LocalTensor<float> &inputVariance, const LocalTensor<T> &inputX, const LocalTensor<U> &gamma, const LocalTensor<U> &beta,
                         const float epsilon, const NormalizePara &para, piton::Location at = piton::Location()) {
    Normalize<U, T, isReuseSource, config>(output, outputRstd, inputMean, inputVariance, inputX, gamma, beta, GetTPipePtr(at)->UnusedMemory(at), epsilon, para,
                                           at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_LAYER_NORM_H */
