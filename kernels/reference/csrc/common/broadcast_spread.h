/*
 * Spreads what a tile needs of a repeated side (broadcast_plan.h) over the tile, in the unified buffer.
 *
 * Gather moves elements by byte offsets that depend on an element's place in the tile only and are computed once. It takes 14 cycles for 256 bytes; so where
 * the side is repeated along the split axis and nowhere inside, as a row of a matrix is, it only makes as many rows as fill whole 32 bytes (one, if that is one
 * row: a plain copy), and these are copied, twice as many each time.
 *
 * The offset of place i is a sum over the axes, innermost first: with i_0 = i and i_k+1 = i_k / size_k, the index along axis k is i_k - size_k i_k+1. Collected
 * by quotients that is step_0 i_0 + sum of (step_k+1 - size_k step_k) i_k+1, one Axpy for each axis. Quotients go through float32: (i + 1/2) / n is at least
 * 1 / 2n from an integer and its error at most i / n * 2^-22, so that rounding down is exact for all i below 2^20, more than the unified buffer has.
 */
#ifndef REFERENCE_BROADCAST_SPREAD_H
#define REFERENCE_BROADCAST_SPREAD_H

#include <type_traits>

#include "kernel_operator.h"

#include "broadcast_plan.h"

namespace common {

/* S is of 2, 4 or 8 bytes. */
template <typename S>
class BroadcastSpread {
public:
    using Word = std::conditional_t<sizeof(S) == sizeof(uint16_t), uint16_t, uint32_t>;  // what Gather moves
    static constexpr uint32_t kWords = sizeof(S) / sizeof(Word);
    static constexpr int64_t kBytesPerElement = kWords * sizeof(uint32_t);  // offsets

    __aicore__ inline void Init(AscendC::TPipe &pipe, const BroadcastPlan &plan, const BroadcastSide &side) {
        perRow_ = plan.rowElements;
        allRows_ = plan.rows;
        isRow_ = side.row == 0 && side.elements == plan.rowElements;
        gatheredRows_ = isRow_ ? Least(RowsOfWholeBlocks(perRow_ * sizeof(S)), allRows_) : allRows_;
        if (IsGathered()) {
            constexpr uint32_t kGranule = 128;
            pipe.InitBuffer(offsets_, (gatheredRows_ * perRow_ * kWords + kGranule - 1) / kGranule * kGranule * sizeof(uint32_t));
        }
    }

    /* Once, before the first Run; `spare` has room for `room` floats, which is an even number of 32 bytes. */
    __aicore__ inline void FillOffsets(const BroadcastPlan &plan, const BroadcastSide &side, const AscendC::LocalTensor<float> &spare, uint32_t room) {
        const uint32_t all = gatheredRows_ * perRow_ * kWords;
        for (uint32_t first = 0; IsGathered() && first < all; first += room) {
            FillOffsets(plan, side, spare, first, Least(all - first, room));
        }
    }

    /* A piece that serves all tiles is spread over a whole one, whichever tile comes first. */
    __aicore__ inline void Run(const AscendC::LocalTensor<S> &tile, const AscendC::LocalTensor<S> &piece, uint32_t rows) {
        if (!IsGathered()) {
            AscendC::DataCopy(tile, piece, perRow_);
        } else {
            const uint32_t gathered = isRow_ ? gatheredRows_ : rows;
            AscendC::Gather(tile.template ReinterpretCast<Word>(), piece.template ReinterpretCast<Word>(), offsets_.template Get<uint32_t>(), 0,
                            gathered * perRow_ * kWords);
        }
        AscendC::PipeBarrier<PIPE_V>();
        if (isRow_) {
            Repeat(tile);
        }
    }

private:
    static constexpr uint32_t kBlockBytes = 32;

    __aicore__ static inline uint32_t Least(uint32_t a, uint32_t b) { return a < b ? a : b; }

    __aicore__ static inline uint32_t RowsOfWholeBlocks(uint32_t rowBytes) {
        uint32_t rows = 1;
        while (rows * rowBytes % kBlockBytes != 0) {
            rows *= 2;
        }
        return rows;
    }

    __aicore__ inline bool IsGathered() const { return !isRow_ || perRow_ * sizeof(S) % kBlockBytes != 0; }

    /* The first rows to all others; copies have whole 32 bytes, for which the tile has room. */
    __aicore__ inline void Repeat(const AscendC::LocalTensor<S> &tile) {
        constexpr uint32_t kBlock = kBlockBytes / sizeof(S);
        for (uint32_t done = gatheredRows_; done < allRows_; done *= 2) {
            const uint32_t count = Least(done, allRows_ - done) * perRow_;
            AscendC::DataCopy(tile[done * perRow_], tile, (count + kBlock - 1) / kBlock * kBlock);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* The offsets of `count` words from word `first` on. */
    __aicore__ inline void FillOffsets(const BroadcastPlan &plan, const BroadcastSide &side, const AscendC::LocalTensor<float> &index, uint32_t first,
                                       uint32_t count) {
        const auto offset = offsets_.template Get<float>()[first];
        const int32_t last = plan.innerAxes - 1;
        const int64_t step = kWords > 1 ? sizeof(Word) : Step(side, last);
        AscendC::CreateVecIndex(index, static_cast<float>(first), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(offset, index, static_cast<float>(step), count);
        AscendC::PipeBarrier<PIPE_V>();
        if (kWords > 1) {
            AddAxis(offset, index, kWords, Step(side, last) - static_cast<int64_t>(kWords) * step, count);
        }
        for (int32_t axis = last; axis >= 0; --axis) {
            AddAxis(offset, index, plan.inner[axis], Step(side, axis - 1) - plan.inner[axis] * Step(side, axis), count);
        }
        AscendC::Cast(offset.template ReinterpretCast<int32_t>(), offset, AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Bytes per step of an inner axis; axis -1 is the split axis. */
    __aicore__ static inline int64_t Step(const BroadcastSide &side, int32_t axis) {
        return static_cast<int64_t>(axis < 0 ? side.row : side.inner[axis]) * sizeof(S);
    }

    /* index = index / size; offset += factor * index */
    __aicore__ static inline void AddAxis(const AscendC::LocalTensor<float> &offset, const AscendC::LocalTensor<float> &index, uint32_t size, int64_t factor,
                                          uint32_t count) {
        AscendC::Adds(index, index, 0.5f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(index, index, 1.0f / static_cast<float>(size), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(index, index, AscendC::RoundMode::CAST_FLOOR, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Axpy(offset, index, static_cast<float>(factor), count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;
    uint32_t perRow_;        // elements of a tile per step of the split axis
    uint32_t allRows_;       // steps of a whole tile
    uint32_t gatheredRows_;  // that Gather makes
    bool isRow_;             // the side is repeated along the split axis only
};

}  // namespace common

#endif  // REFERENCE_BROADCAST_SPREAD_H
