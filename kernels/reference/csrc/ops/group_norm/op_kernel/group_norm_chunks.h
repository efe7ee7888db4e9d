/*
 * group_norm of groups that do not fit into the unified buffer: a core takes one group after the other, in chunks, and reads it twice: once for mean and
 * variance, once for the results. The second time it comes out of L2, which holds the groups of all cores.
 *
 * Each chunk has a mean and a sum of squares about it of its own; two such pairs are joined with the difference of their means, so that no sum of squares
 * about 0 is ever formed, which would lose digits where the mean is large. These few numbers per chunk pass through the scalar unit.
 */
#ifndef REFERENCE_GROUP_NORM_CHUNKS_H
#define REFERENCE_GROUP_NORM_CHUNKS_H

#include <cmath>

#include "group_norm_base.h"

template <typename T>
class GroupNormChunks : public GroupNormBase<T> {
    using Base = GroupNormBase<T>;

public:
    __aicore__ inline void Init(const GroupNormTensors &tensors, const GroupTiling &tiling, float epsilon) {
        Base::InitBase(tensors, tiling, 1, tiling.linesPerTile * tiling.stride);
        epsilon_ = epsilon;
    }

    /* A step handles one chunk once: of every group first all chunks for the statistics, then all for the results. The next one is loaded meanwhile. */
    __aicore__ inline void Process() {
        const int64_t steps = Base::share_.count * 2 * Base::tiling_.chunksPerGroup;
        Load(0, steps);
        for (int64_t step = 0; step < steps; ++step) {
            Load(step + 1, steps);
            const GroupTile tile = TileAt(step);
            if (IsResult(step)) {
                Normalize(tile);
            } else {
                if (step % (2 * Base::tiling_.chunksPerGroup) == 0) {
                    count_ = mean_ = 0.0f;
                    sum_ = squareSum_ = {0.0f, 0.0f};
                }
                TakeStatistics(tile);
            }
        }
    }

private:
    __aicore__ inline bool IsResult(int64_t step) const { return step % (2 * Base::tiling_.chunksPerGroup) >= Base::tiling_.chunksPerGroup; }

    __aicore__ inline GroupTile TileAt(int64_t step) const {
        const GroupTiling &tiling = Base::tiling_;
        const int64_t group = Base::share_.first + step / (2 * tiling.chunksPerGroup);
        const uint32_t chunk = step % tiling.chunksPerGroup, line = chunk / tiling.partsPerLine * tiling.linesPerTile;
        const int64_t position = static_cast<int64_t>(chunk % tiling.partsPerLine) * tiling.widthPerChunk, left = tiling.positions - position;
        const uint32_t linesLeft = tiling.channels - line;
        return {(group * tiling.channels + line) * tiling.positions + position, group % tiling.perSample * tiling.channels + line, 1,
                linesLeft < tiling.linesPerTile ? linesLeft : tiling.linesPerTile,
                static_cast<uint32_t>(left < tiling.widthPerChunk ? left : tiling.widthPerChunk)};
    }

    __aicore__ inline void Load(int64_t step, int64_t steps) {
        if (step >= steps) {
            return;
        }
        const GroupTile tile = TileAt(step);
        Base::LoadTile(tile);
        if (IsResult(step)) {
            Base::LoadParameters(tile);
        }
    }

    /* The sum of a chunk, of which the reduction sees one row: zeros behind it where it is a short one. */
    __aicore__ inline float SumOf(const common::FloatRows &x, const GroupTile &tile) {
        const uint32_t used = Base::Elements(tile), all = Base::tiling_.linesPerTile * Base::tiling_.stride;
        Base::ClearGaps(x, tile);
        if (used < all) {
            AscendC::Duplicate(x[used], 0.0f, all - used);
            AscendC::PipeBarrier<PIPE_V>();
        }
        const auto sum = Base::reduction_.Sum(x, 1);
        return common::FirstOf(sum);
    }

    __aicore__ inline void TakeStatistics(const GroupTile &tile) {
        const auto x = Base::TakeTile(tile), squares = Base::squares_.template Get<float>();
        const auto count = static_cast<float>(tile.lines * tile.width);
        const float sum = SumOf(x, tile), mean = sum / count;
        AscendC::Adds(x, x, -mean, Base::Elements(tile));
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(squares, x, x, Base::Elements(tile));
        AscendC::PipeBarrier<PIPE_V>();
        Base::ReleaseTile();
        const float squareSum = SumOf(squares, tile), all = count_ + count, further = mean - mean_;
        Add(squareSum_, squareSum);
        Add(squareSum_, further * further * (count_ / all * count));
        count_ = all;
        Add(sum_, sum);
        mean_ = (sum_.high + sum_.low) / count_;
    }

    /* A sum to twice the digits of a float: the last places of mean and variance are all that is left where x meets the mean or the result beta. */
    struct LongSum {
        float high;
        float low;
    };

    __aicore__ inline void Add(LongSum &sum, float term) const {
        const float high = sum.high + term, part = high - sum.high;
        sum.low += (sum.high - (high - part)) + (term - part);
        sum.high = high;
    }

    /* 1 / sqrt(x): the root's own error is taken back, x - root^2 with root split into halves whose products are exact. */
    __aicore__ inline float RootReciprocal(float x) const {
        const float root = std::sqrt(x), split = 4097.0f * root, high = split - (split - root), low = root - high;
        const float missing = ((x - high * high) - 2.0f * high * low) - low * low, factor = 1.0f / root;
        return factor - factor * (0.5f * missing * factor * factor);
    }

    __aicore__ inline void Normalize(const GroupTile &tile) {
        const float factor = RootReciprocal((squareSum_.high + squareSum_.low) / count_ + epsilon_);
        const auto x = Base::TakeTile(tile);
        AscendC::Adds(x, x, -mean_, Base::Elements(tile));
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(x, x, factor, Base::Elements(tile));
        AscendC::PipeBarrier<PIPE_V>();
        Base::ScaleAndStore(x, tile);
        Base::ReleaseTile();
    }

    float epsilon_;
    float count_;
    float mean_;
    LongSum sum_;
    LongSum squareSum_;  // about the mean
};

#endif  // REFERENCE_GROUP_NORM_CHUNKS_H
