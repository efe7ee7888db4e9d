/*
 * GroupNorm: the channels of an image in groups, each less its mean over its deviation, scaled and moved channel by channel.
 *
 * Problem: a group is a row for mean and deviation, and d rows for gamma and beta, which are one number per channel.
 * Approach: the steps of LayerNorm on rows of d * hw elements without gamma and beta; then the same memory as channels, with their numbers over blocks.
 * Limits: format ND; channels of whole blocks (hw elements): how the vendor's function lays others out is not published. Of the tiling n, c, hw, g, d are read.
 */
#ifndef PITON_ASCENDC_NORMS_GROUP_NORM_H
#define PITON_ASCENDC_NORMS_GROUP_NORM_H

#include "layer_norm.h"

namespace piton {

/* Groups of an image. */
struct GroupShape {
    uint32_t groups, channels, area; /* groups of an image, channels of a group, elements of a channel */
    uint32_t all;                    /* channels of an image */
};

/* Gamma and beta of every channel over blocks, in the fixed memory. */
struct ChannelBlocks {
    FloatTensor gamma, beta;

    template <typename T>
    PITON_API ChannelBlocks(const RowsWork &work, const AscendC::LocalTensor<T> &scale, const AscendC::LocalTensor<T> &shift, uint32_t channels) {
        const uint32_t whole = WholeChannels(channels);
        gamma = work.memory[whole];
        beta = gamma[whole * kFloatsOfBlock];
        Spread(work, gamma, scale, channels);
        Spread(work, beta, shift, channels);
    }

private:
    template <typename T>
    PITON_API static void Spread(const RowsWork &work, const FloatTensor &blocks, const AscendC::LocalTensor<T> &numbers, uint32_t channels) {
        const FloatSteps steps = work.Numbers(channels);
        const FloatTensor dense = work.memory;
        steps.Adds(dense, WidePart(dense, numbers, steps), 0.0f);
        for (uint32_t done = 0; done < channels; done += kMostGroup) {
            work.SpreadNumbers(blocks[done * kFloatsOfBlock], dense[done], Fewer(channels - done, kMostGroup));
        }
    }
};

/* y * gamma + beta, each row in its channels. */
PITON_API void ScaleChannels(const FloatTensor &y, uint32_t firstRow, const RowBlock &block, const ChannelBlocks &channels, const GroupShape &shape) {
    for (uint32_t row = 0; row < block.shape.rows; ++row) {
        const uint32_t at = (firstRow + row) % shape.groups * shape.channels * kFloatsOfBlock;
        const FloatTensor part = y[row * block.shape.pitch];
        const RowBlock rows{{shape.channels, shape.area, shape.area, block.shape.at}};
        rows.ByNumber<MulOfTwo>(part, part, channels.gamma[at]);
        rows.ByNumber<AddOfTwo>(part, part, channels.beta[at]);
    }
}

template <typename T>
struct GroupNormTensors {
    const AscendC::LocalTensor<T> &dst, &mean, &variance, &x;
};

template <typename T>
PITON_API void GroupNormRows(const RowsWork &work, const GroupNormTensors<T> &tensors, const ChannelBlocks &channels, const GroupShape &shape, float epsilon) {
    const float factor = 1.0f / static_cast<float>(work.shape.last);
    const auto load = LoadRows(work, tensors.x);
    work.EachGroup([&](uint32_t start, uint32_t count) {
        const auto loadGroup = [&](uint32_t first, const RowBlock &block) { return load(start + first, block); };
        MeanOfRows(work, count, factor, loadGroup);
        VarianceOfRows(work, count, factor, loadGroup);
        DeviationOfRows(work, count, epsilon);
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            const FloatTensor y = work.Slot(1);
            if (!work.IsOneChunk(count)) {
                block.ByNumber<SubOfTwo>(work.Slot(0), loadGroup(first, block), work.Spread(0)[first * kFloatsOfBlock]);
            }
            block.ByNumber<DivOfTwo>(y, work.Slot(0), work.Spread(1)[first * kFloatsOfBlock]);
            ScaleChannels(y, start + first, block, channels, shape);
            work.Give(tensors.dst[(start + first) * work.shape.pitch], y, block.Count());
        });
        NormOutputs<T>{tensors.mean, tensors.variance, false}.Give(work, start, count);
    });
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isReuseSource = false>
PITON_API void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon,
                         const tiling::GroupNormTiling &tiling, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("GroupNorm", piton::kIsFloat<T>, "half, float");
    const piton::GroupShape shape{tiling.g, tiling.d, tiling.hw, tiling.c};
    piton::RequireRange("GroupNorm", 8, shape.groups, 1, INT32_MAX, at);
    piton::RequireRange("GroupNorm", 8, shape.area * sizeof(T) % piton::kBlockBytes, 0, 0, at); /* channels of whole blocks */
    const uint32_t columns = shape.channels * shape.area;
    const piton::RowsWork work("GroupNorm", sharedTmpBuffer, piton::GroupNormNeeds(columns, shape.all), {tiling.n * shape.groups, columns, columns, at});
    piton::RequireRows(work, output, inputX);
    work.Apart(shape.all, gamma, beta);
    work.Apart(work.shape.first, outputMean, outputVariance);
    const piton::ChannelBlocks channels(work, gamma, beta, shape.all);
    piton::GroupNormRows(work, piton::GroupNormTensors<T>{output, outputMean, outputVariance, inputX}, channels, shape, static_cast<float>(epsilon));
}
template <typename T, bool isReuseSource = false>
PITON_API void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
                         const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon, const tiling::GroupNormTiling &tiling,
                         piton::Location at = piton::Location()) {
    GroupNorm<T, isReuseSource>(output, outputMean, outputVariance, inputX, gamma, beta, GetTPipePtr(at)->UnusedMemory(at), epsilon, tiling, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_GROUP_NORM_H */
