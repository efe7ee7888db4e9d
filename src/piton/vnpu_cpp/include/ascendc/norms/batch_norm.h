/*
 * BatchNorm: each of S * H elements less its mean over the batch, over its deviation, scaled and moved by numbers of its batch.
 *
 * Problem: means go down the columns of a matrix whose rows are the batch, while gamma and beta are one number per row.
 * Approach: columns in strips that fit memory; in a strip rows are added up, then differences squared and added up, then each row is normalised. The documented
 * steps, halves through float. Their time is that of these instructions.
 * Limits: format ND. Of the tiling originalBLength and meanVarSize (S * H) are read.
 */
#ifndef PITON_ASCENDC_NORMS_BATCH_NORM_H
#define PITON_ASCENDC_NORMS_BATCH_NORM_H

#include "group_norm.h"

namespace piton {

template <typename T>
struct BatchNormTensors {
    const AscendC::LocalTensor<T> &dst, &mean, &variance, &x;
};

/* A strip of columns. Slots: 0 mean, 1 variance and then deviation, 2 a row, 3 what is made of it. */
template <typename T>
struct BatchStrip {
    const BatchNormTensors<T> &tensors;
    const ChannelBlocks &channels;
    const FloatSteps &steps;
    uint32_t rows, pitch, from;
    float epsilon;

    PITON_API void operator()() const {
        const FloatTensor mean = steps.Slot(0), variance = steps.Slot(1), part = steps.Slot(3);
        const float factor = 1.0f / static_cast<float>(rows);
        steps.Set(mean, 0.0f);
        EachRow([&](uint32_t, const FloatTensor &x) {
            steps.Muls(part, x, factor);
            steps.Add(mean, mean, part);
        });
        steps.Set(variance, 0.0f);
        EachRow([&](uint32_t, const FloatTensor &x) {
            steps.Sub(part, x, mean);
            steps.Mul(part, part, part);
            steps.Muls(part, part, factor);
            steps.Add(variance, variance, part);
        });
        GiveFloats(tensors.mean[from], mean, Count(), steps.at);
        GiveFloats(tensors.variance[from], variance, Count(), steps.at);
        steps.Adds(variance, variance, epsilon);
        steps.Sqrt(variance, variance);
        EachRow([&](uint32_t row, const FloatTensor &x) { Normalise(row, x); });
    }

private:
    PITON_API uint32_t Count() const { return static_cast<uint32_t>(steps.count); }
    template <typename Step>
    PITON_API void EachRow(const Step &step) const {
        for (uint32_t row = 0; row < rows; ++row) {
            step(row, WidePart(steps.Slot(2), tensors.x[row * pitch + from], steps));
        }
    }
    PITON_API void Normalise(uint32_t row, const FloatTensor &x) const {
        const FloatTensor y = steps.Slot(3);
        const RowBlock line{{1, Count(), steps.room, steps.at}};
        steps.Sub(y, x, steps.Slot(0));
        steps.Div(y, y, steps.Slot(1));
        line.ByNumber<MulOfTwo>(y, y, channels.gamma[row * kFloatsOfBlock]);
        line.ByNumber<AddOfTwo>(y, y, channels.beta[row * kFloatsOfBlock]);
        GiveFloats(tensors.dst[row * pitch + from], y, Count(), steps.at);
    }
};

/* Strips of whole repeats: what memory holds beside the numbers of the rows. */
template <typename T>
PITON_API void BatchNormStrips(const AscendC::LocalTensor<uint8_t> &memory, const BatchNormTensors<T> &tensors, const AscendC::LocalTensor<T> &gamma,
                               const AscendC::LocalTensor<T> &beta, float epsilon, const AxisShape &shape) {
    const StripNeeds strip = BatchNormNeeds(shape.first);
    const uint64_t least = StripBytes(strip, kFloatLanes), bytes = uint64_t(shape.first) * shape.last * sizeof(T);
    if (memory.GetSize() < least) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "BatchNorm", shape.at, least, memory.GetSize());
    }
    const uint32_t wide = StripRoom(strip, memory.GetSize(), shape.last);
    RequireApart("BatchNorm", tensors.x.Operand(), bytes, memory.Operand(), StripBytes(strip, wide), shape.at);
    RequireApart("BatchNorm", tensors.dst.Operand(), bytes, memory.Operand(), StripBytes(strip, wide), shape.at);
    const RowsWork work("BatchNorm", memory, RowNeeds{strip.fixed, 0, 0, 0, 0}, shape);
    const ChannelBlocks channels(work, gamma, beta, shape.first);
    for (uint32_t from = 0; from < shape.last; from += wide) {
        const FloatSteps steps{work.memory[strip.fixed], wide, static_cast<int32_t>(Fewer(shape.last - from, wide)), shape.at};
        BatchStrip<T>{tensors, channels, steps, shape.first, shape.last, from, epsilon}();
    }
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
PITON_API void BatchNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamm, const LocalTensor<T> &beta, const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon,
                         const tiling::BatchNormTiling &tiling, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("BatchNorm", piton::kIsFloat<T>, "half, float");
    piton::RequireRange("BatchNorm", 8, tiling.originalBLength, 1, INT32_MAX, at);
    piton::RequireRange("BatchNorm", 8, tiling.meanVarSize * sizeof(T) % piton::kBlockBytes, 0, 0, at);
    piton::BatchNormStrips(sharedTmpBuffer, piton::BatchNormTensors<T>{output, outputMean, outputVariance, inputX}, gamm, beta, static_cast<float>(epsilon),
                           {tiling.originalBLength, tiling.meanVarSize, tiling.meanVarSize, at});
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
PITON_API void BatchNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamm, const LocalTensor<T> &beta, const T epsilon, const tiling::BatchNormTiling &tiling,
                         piton::Location at = piton::Location()) {
    BatchNorm<T, isReuseSource, isBasicBlock>(output, outputMean, outputVariance, inputX, gamm, beta, GetTPipePtr(at)->UnusedMemory(at), epsilon, tiling, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_BATCH_NORM_H */
