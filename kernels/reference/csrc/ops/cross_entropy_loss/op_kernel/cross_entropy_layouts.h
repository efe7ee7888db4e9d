/*
 * The two ways in which a tile of scores lies in the unified buffer, and what has to be known of it: maximum and sum over the classes, one lane per loss.
 *
 * Rows: the classes of a loss are neighbours; they are reduced within the row (RowReduction). Gaps behind the rows hold what changes nothing.
 * Columns: losses are neighbours, the lines of a class lie `stride` apart; lines are folded onto one another, and no lane has to look at another. Where a tile
 * has several items, an instruction repeats over the classes of one item or over the items of one class, whichever are more.
 */
#ifndef REFERENCE_CROSS_ENTROPY_LAYOUTS_H
#define REFERENCE_CROSS_ENTROPY_LAYOUTS_H

#include "cross_entropy_tiling.h"

constexpr float kLowestScore = -3.402823466e+38f;  // above -inf, so that exp(-inf - kLowestScore) is 0 and not NaN

/* Some items, or some classes of one. */
struct LossTile {
    int64_t item;
    uint32_t items;
    uint32_t columns;  // of each item
    uint32_t firstClass;
    uint32_t classes;
};

/* Where the losses of a tile lie: `lines` pieces of `width` lanes, `stride` apart. */
struct LaneBox {
    uint32_t lines;
    uint32_t width;
    uint32_t stride;
};

class RowsLayout {
public:
    __aicore__ inline void Init(AscendC::TPipe &pipe, const CrossEntropyTiling &tiling) {
        tiling_ = tiling;
        reduction_.Init(pipe, {tiling.items, tiling.classes, tiling.blocks, tiling.stride, tiling.perTile});
    }

    __aicore__ inline int64_t Start(const LossTile &tile) const { return tile.item * tiling_.classes + tile.firstClass; }
    __aicore__ inline int64_t LossStart(const LossTile &tile) const { return tile.item; }
    __aicore__ inline LaneBox Lanes(const LossTile &tile) const { return {1, tile.items, tiling_.lanes}; }
    __aicore__ inline uint32_t Elements(const LossTile &tile) const { return tile.items * tiling_.stride; }
    /* Bytes from a class to the next one and from a loss to the next one, for Gather. */
    __aicore__ inline int32_t ClassBytes() const { return sizeof(float); }
    __aicore__ inline void NumberLanes(const AscendC::LocalTensor<int32_t> &ramp) const {
        AscendC::CreateVecIndex(ramp, 0, tiling_.lanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(ramp, ramp, static_cast<int32_t>(tiling_.stride * sizeof(float)), tiling_.lanes);
    }

    template <typename T>
    __aicore__ inline AscendC::DataCopyExtParams Copied(const LossTile &tile) const {
        const uint32_t bytes = tile.classes * sizeof(T), apart = (tiling_.classes - tile.classes) * sizeof(T);
        return {static_cast<uint16_t>(tile.items), bytes, apart, static_cast<uint32_t>(tiling_.stride * sizeof(T) - bytes) / 32, 0};
    }

    __aicore__ inline void FillGaps(const common::FloatRows &x, float number, const LossTile &tile) {
        const uint32_t used = (tile.classes + common::kSlice - 1) / common::kSlice * common::kSlice;
        if (used == tiling_.stride) {
            common::FillRowEnds(x, number, tile.items, tile.classes, tiling_.stride);
        } else {  // the last chunk of one row
            common::FillRowEnds(x, number, 1, tile.classes, used);
            AscendC::Duplicate(x[used], number, tiling_.stride - used);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Max(const common::FloatRows &most, const common::FloatRows &x, const LossTile &tile) {
        reduction_.MaxInto(most, x, kLowestScore, tile.items);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* sum = sums of the tile's rows, for later chunks sum += these. */
    __aicore__ inline void AddSum(const common::FloatRows &sum, const common::FloatRows &x, const LossTile &tile) {
        if (tile.firstClass == 0) {
            reduction_.SumInto(sum, x, tile.items);
            AscendC::PipeBarrier<PIPE_V>();
            return;
        }
        const auto number = reduction_.Sum(x, tile.items);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(sum, sum, number, tile.items);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Subtract(const common::FloatRows &x, const common::FloatRows &most, const LossTile &tile) {
        using namespace common;
        const auto spread = reduction_.Spread(most, tile.items);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kSub>(Matrix(x, tiling_.stride), Matrix(x, tiling_.stride), PerRow(spread), tile.items, tiling_.stride);
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    CrossEntropyTiling tiling_;
    common::RowReduction reduction_;
};

class ColumnsLayout {
public:
    __aicore__ inline void Init(AscendC::TPipe &, const CrossEntropyTiling &tiling) { tiling_ = tiling; }

    __aicore__ inline int64_t Start(const LossTile &tile) const {
        return (tile.item / tiling_.itemsPerOuter * tiling_.classes + tile.firstClass) * tiling_.inner + Column(tile);
    }
    __aicore__ inline int64_t LossStart(const LossTile &tile) const { return tile.item / tiling_.itemsPerOuter * tiling_.inner + Column(tile); }
    __aicore__ inline LaneBox Lanes(const LossTile &tile) const { return {tile.items, tile.columns, tiling_.stride}; }
    __aicore__ inline uint32_t Elements(const LossTile &tile) const { return tile.items * tile.classes * tiling_.stride; }
    __aicore__ inline int32_t ClassBytes() const { return tiling_.stride * sizeof(float); }
    __aicore__ inline void NumberLanes(const AscendC::LocalTensor<int32_t> &ramp) const {
        AscendC::Duplicate(ramp, 0, tiling_.lanes);
        AscendC::PipeBarrier<PIPE_V>();
        for (uint32_t item = 0; item < tiling_.perTile; ++item) {
            AscendC::CreateVecIndex(ramp[item * tiling_.stride], static_cast<int32_t>(item * tiling_.perChunk * tiling_.stride), tiling_.stride);
        }
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(ramp, ramp, static_cast<int32_t>(sizeof(float)), tiling_.lanes);
    }

    template <typename T>
    __aicore__ inline AscendC::DataCopyExtParams Copied(const LossTile &tile) const {
        const uint32_t bytes = tile.columns * sizeof(T), apart = (tiling_.inner - tile.columns) * sizeof(T);
        return {static_cast<uint16_t>(tile.items * tile.classes), bytes, apart, static_cast<uint32_t>(tiling_.stride * sizeof(T) - bytes) / 32, 0};
    }

    __aicore__ inline void FillGaps(const common::FloatRows &, float, const LossTile &) {}

    __aicore__ inline void Max(const common::FloatRows &most, const common::FloatRows &x, const LossTile &tile) {
        AscendC::Duplicate(most, kLowestScore, tiling_.lanes);
        AscendC::PipeBarrier<PIPE_V>();
        Fold<common::Step::kMax>(most, x, tile);
    }

    __aicore__ inline void AddSum(const common::FloatRows &sum, const common::FloatRows &x, const LossTile &tile) {
        if (tile.firstClass == 0) {
            AscendC::Duplicate(sum, 0.0f, tiling_.lanes);
            AscendC::PipeBarrier<PIPE_V>();
        }
        Fold<common::Step::kAdd>(sum, x, tile);
    }

    __aicore__ inline void Subtract(const common::FloatRows &x, const common::FloatRows &most, const LossTile &tile) {
        using namespace common;
        const uint32_t stride = tiling_.stride, perItem = tile.classes * stride;
        if (tile.classes > tile.items) {
            for (uint32_t item = 0; item < tile.items; ++item) {
                const auto own = Matrix(x[item * perItem], stride);
                Apply<Step::kSub>(own, own, OneRow(most[item * stride]), tile.classes, tile.columns);
            }
        } else {
            for (uint32_t line = 0; line < tile.classes; ++line) {
                const auto own = Matrix(x[line * stride], perItem);
                Apply<Step::kSub>(own, own, Matrix(most, stride), tile.items, tile.columns);
            }
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    __aicore__ inline int64_t Column(const LossTile &tile) const { return tile.item % tiling_.itemsPerOuter * tiling_.width; }

    template <common::Step step>
    __aicore__ inline void Fold(const common::FloatRows &onto, const common::FloatRows &x, const LossTile &tile) {
        using namespace common;
        const uint32_t stride = tiling_.stride, perItem = tile.classes * stride;
        if (tile.classes > tile.items) {
            for (uint32_t item = 0; item < tile.items; ++item) {
                const auto own = OneRow(onto[item * stride]);
                Apply<step>(own, Matrix(x[item * perItem], stride), own, tile.classes, tile.columns);
            }
            AscendC::PipeBarrier<PIPE_V>();
            return;
        }
        for (uint32_t line = 0; line < tile.classes; ++line) {
            Apply<step>(Matrix(onto, stride), Matrix(x[line * stride], perItem), Matrix(onto, stride), tile.items, tile.columns);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    CrossEntropyTiling tiling_;
};

#endif  // REFERENCE_CROSS_ENTROPY_LAYOUTS_H
