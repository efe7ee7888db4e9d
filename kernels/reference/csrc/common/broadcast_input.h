/*
 * One side of a broadcast (broadcast_plan.h): its tiles in the unified buffer, in the type that the operator computes in, as long as the tiles of the result.
 *
 * What a tile needs of the side is one contiguous piece of it. Where that is as long as the tile it is taken as it is; else Gather spreads it, with byte
 * offsets that depend on an element's place in the tile only and are computed once. A piece that the next tile needs as well is neither loaded nor spread
 * again.
 *
 * The offset of place i is a sum over the axes, innermost first: with i_0 = i and i_k+1 = i_k / size_k, the index along axis k is i_k - size_k i_k+1. Collected
 * by quotients that is step_0 i_0 + sum of (step_k+1 - size_k step_k) i_k+1, one Axpy for each axis. Quotients go through float32: (i + 1/2) / n is at least
 * 1 / 2n from an integer and its error at most i / n * 2^-22, so that rounding down is exact for all i below 2^20, more than the unified buffer has.
 *
 * Two pieces fit, the current one and the next. Wide is the type to compute in, Body::Widen(wide, narrow, count) gets there.
 */
#ifndef REFERENCE_BROADCAST_INPUT_H
#define REFERENCE_BROADCAST_INPUT_H

#include <type_traits>

#include "kernel_operator.h"

#include "broadcast_plan.h"

namespace common {

template <typename T, typename Body>
class BroadcastInput {
public:
    using Wide = typename Body::Wide;
    using Word = std::conditional_t<sizeof(Wide) == 2, uint16_t, uint32_t>;  // what Gather moves
    static constexpr bool kIsWidened = !std::is_same_v<T, Wide>;
    static constexpr uint32_t kGranule = kBurstBytes / sizeof(T);  // buffers have whole bursts
    static constexpr uint32_t kWords = sizeof(Wide) / sizeof(Word);
    static constexpr int64_t kBytesPerWhole = 2 * sizeof(T) + (kIsWidened ? sizeof(Wide) : 0);
    /* A piece of a repeated side is at most as long as the tile; it is widened before it is spread. */
    static constexpr int64_t kBytesPerRepeated = 2 * sizeof(T) + (kIsWidened ? 2 : 1) * sizeof(Wide) + kWords * sizeof(uint32_t);

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR address, const BroadcastPlan &plan, int32_t index, uint32_t perTile) {
        side_ = plan.sides[index];
        tileElements_ = plan.rows * plan.rowElements;
        allRows_ = plan.rows;
        const uint32_t perPiece = (side_.elements + kGranule - 1) / kGranule * kGranule;
        global_.SetGlobalBuffer((__gm__ T *)address);
        if (side_.isReadOnce) {
            global_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // leave the L2 to the output
        }
        pipe.InitBuffer(pieces_, 2, perPiece * sizeof(T));
        if (kIsWidened || !side_.isTile) {
            pipe.InitBuffer(tile_, perTile * sizeof(Wide));
        }
        if (!side_.isTile) {
            if (kIsWidened) {
                pipe.InitBuffer(widePiece_, perPiece * sizeof(Wide));
            }
            pipe.InitBuffer(offsets_, perTile * kWords * sizeof(uint32_t));
        }
    }

    /* Starts to load the piece at `offset` for a tile of `rows` steps, unless it was the last one loaded; whether it did. */
    __aicore__ inline bool Load(int64_t offset, uint32_t rows) {
        const uint32_t count = Elements(rows), bytes = count * sizeof(T);
        if (offset == loadedOffset_ && count == loadedCount_) {
            return false;
        }
        loadedOffset_ = offset;
        loadedCount_ = count;
        auto piece = pieces_.template AllocTensor<T>();
        AscendC::DataCopyPad(piece, global_[offset], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        pieces_.EnQue(piece);
        return true;
    }

    /* The tile, of `rows` steps; `isNew` is what Load answered for it. */
    __aicore__ inline AscendC::LocalTensor<Wide> Take(bool isNew, uint32_t rows) {
        if (isNew) {
            piece_ = pieces_.template DeQue<T>();
        }
        if constexpr (!kIsWidened) {
            if (side_.isTile) {
                if (isNew && kWords > 1) {
                    FillEnd(Elements(rows));
                }
                return piece_;
            }
        }
        const auto tile = tile_.template Get<Wide>();
        if (isNew) {
            AscendC::PipeBarrier<PIPE_V>();  // the last tile has been read
            Prepare(tile, rows);
            AscendC::PipeBarrier<PIPE_V>();
            pieces_.FreeTensor(piece_);
        }
        return tile;
    }

    /* After the last use of a tile, if the next one needs another piece or there is none. */
    __aicore__ inline void Release() {
        if (!kIsWidened && side_.isTile) {
            pieces_.FreeTensor(piece_);
        }
    }

    /*
     * Once, before the first tile is taken and after the first load was started. For whole buffers: so tiles of 64-bit numbers, which are spread over what this
     * leaves there, have values to the next multiple of eight; see FillEnd for the others.
     */
    __aicore__ inline void FillOffsets(const BroadcastPlan &plan, uint32_t perTile) {
        if (side_.isTile) {
            return;
        }
        const uint32_t all = perTile * kWords, most = perTile * sizeof(Wide) / sizeof(float);
        for (uint32_t first = 0; first < all; first += most) {
            FillOffsets(plan, first, all - first < most ? all - first : most);
        }
    }

private:
    __aicore__ inline uint32_t Elements(uint32_t rows) const { return side_.row == 0 ? side_.elements : side_.row * rows; }

    /* A copy leaves whole 32 bytes, four numbers of 64 bits; zeros to the next eight. */
    __aicore__ inline void FillEnd(uint32_t count) {
        constexpr uint32_t kCopied = 4, kWhole = 8;
        const uint32_t end = (count + kCopied - 1) / kCopied * kCopied;
        if (end % kWhole != 0) {
            AscendC::Duplicate(piece_.template ReinterpretCast<uint32_t>()[end * kWords], static_cast<uint32_t>(0), kCopied * kWords);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void Prepare(const AscendC::LocalTensor<Wide> &tile, uint32_t rows) {
        if constexpr (kIsWidened) {
            if (side_.isTile) {
                Body::Widen(tile, piece_, Elements(rows));
                return;
            }
            const auto wide = widePiece_.template Get<Wide>();
            Body::Widen(wide, piece_, Elements(rows));
            AscendC::PipeBarrier<PIPE_V>();
            Spread(tile, wide, rows);
        } else {
            Spread(tile, piece_, rows);
        }
    }

    /* A piece that serves all tiles is spread over a whole one, whichever comes first. */
    __aicore__ inline void Spread(const AscendC::LocalTensor<Wide> &tile, const AscendC::LocalTensor<Wide> &piece, uint32_t rows) {
        const uint32_t count = side_.row == 0 ? tileElements_ : tileElements_ / allRows_ * rows;
        AscendC::Gather(tile.template ReinterpretCast<Word>(), piece.template ReinterpretCast<Word>(), offsets_.template Get<uint32_t>(), 0, count * kWords);
    }

    /* The offsets of `count` words from word `first` on. */
    __aicore__ inline void FillOffsets(const BroadcastPlan &plan, uint32_t first, uint32_t count) {
        const auto index = tile_.template Get<float>();
        const auto offset = offsets_.template Get<float>()[first];
        AscendC::CreateVecIndex(index, static_cast<float>(first), count);
        AscendC::PipeBarrier<PIPE_V>();
        int64_t step = kWords > 1 ? sizeof(Word) : Step(plan.innerAxes - 1);
        AscendC::Muls(offset, index, static_cast<float>(step), count);
        AscendC::PipeBarrier<PIPE_V>();
        if (kWords > 1) {
            AddAxis(offset, index, kWords, Step(plan.innerAxes - 1) - static_cast<int64_t>(kWords) * step, count);
        }
        for (int32_t axis = plan.innerAxes - 1; axis >= 0; --axis) {
            AddAxis(offset, index, plan.inner[axis], Step(axis - 1) - plan.inner[axis] * Step(axis), count);
        }
        AscendC::Cast(offset.template ReinterpretCast<int32_t>(), offset, AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Bytes per step of an inner axis; axis -1 is the split axis. */
    __aicore__ inline int64_t Step(int32_t axis) const { return static_cast<int64_t>(axis < 0 ? side_.row : side_.inner[axis]) * sizeof(Wide); }

    /* index = index / size; offset += factor * index */
    __aicore__ inline void AddAxis(const AscendC::LocalTensor<float> &offset, const AscendC::LocalTensor<float> &index, uint32_t size, int64_t factor,
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

    AscendC::TQue<AscendC::TPosition::VECIN, 2> pieces_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> tile_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> widePiece_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;
    AscendC::GlobalTensor<T> global_;
    AscendC::LocalTensor<T> piece_;  // the current one
    BroadcastSide side_;
    uint32_t tileElements_;
    uint32_t allRows_;
    int64_t loadedOffset_ = -1;
    uint32_t loadedCount_ = 0;
};

}  // namespace common

#endif  // REFERENCE_BROADCAST_INPUT_H
