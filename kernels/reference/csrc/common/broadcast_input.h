/*
 * One side of a broadcast (broadcast_plan.h): its tiles in the unified buffer, in the type that the operator computes in, as long as the tiles of the result.
 *
 * What a tile needs of the side is one contiguous piece of it. Where that is as long as the tile it is taken as it is, else it is spread (broadcast_spread.h).
 * A piece that the next tile needs as well is neither loaded nor spread again. Two pieces fit, the current one and the next.
 *
 * Wide is the type to compute in, Body::Widen(wide, narrow, count) gets there: after the piece was spread, but for bytes, which Gather does not take.
 */
#ifndef REFERENCE_BROADCAST_INPUT_H
#define REFERENCE_BROADCAST_INPUT_H

#include <type_traits>

#include "kernel_operator.h"

#include "broadcast_spread.h"

namespace common {

template <typename T, typename Body>
class BroadcastInput {
public:
    using Wide = typename Body::Wide;
    static constexpr bool kIsWidened = !std::is_same_v<T, Wide>;
    static constexpr bool kIsByte = sizeof(T) == 1;
    using Spread = std::conditional_t<kIsByte, Wide, T>;           // the type that is spread
    static constexpr uint32_t kGranule = kBurstBytes / sizeof(T);  // buffers have whole bursts
    static constexpr int64_t kBytesPerWhole = 2 * sizeof(T) + (kIsWidened ? sizeof(Wide) : 0);
    /* A piece of a repeated side is at most as long as the tile. */
    static constexpr int64_t kBytesPerRepeated = kBytesPerWhole + sizeof(Spread) + BroadcastSpread<Spread>::kBytesPerElement;

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
                pipe.InitBuffer(other_, (kIsByte ? perPiece : perTile) * sizeof(Spread));
            }
            spread_.Init(pipe, plan, side_);
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
                if constexpr (sizeof(T) == sizeof(int64_t)) {
                    if (isNew) {
                        FillEnd(Elements(rows));
                    }
                }
                return piece_;
            }
        }
        const auto tile = tile_.template Get<Wide>();
        if (isNew) {
            AscendC::PipeBarrier<PIPE_V>();  // the last tile has been read
            Fill(tile, rows);
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

    /* Once, before the first tile is taken and after the first load was started. */
    __aicore__ inline void Prepare(const BroadcastPlan &plan, uint32_t perTile) {
        if (side_.isTile) {
            return;
        }
        spread_.FillOffsets(plan, side_, tile_.template Get<float>(), perTile * sizeof(Wide) / sizeof(float));
        if (sizeof(T) == sizeof(int64_t) && tileElements_ % kWhole != 0) {
            const auto words = tile_.template Get<uint32_t>();
            AscendC::Duplicate(words[tileElements_ / kWhole * kWhole * 2], static_cast<uint32_t>(0), 2 * kWhole);  // see FillEnd
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

private:
    __aicore__ inline uint32_t Elements(uint32_t rows) const { return side_.row == 0 ? side_.elements : side_.row * rows; }

    /* 64-bit numbers have values up to a multiple of eight. A copy leaves whole 32 bytes, four of them. */
    __aicore__ inline void FillEnd(uint32_t count) {
        constexpr uint32_t kCopied = 4;
        const uint32_t end = (count + kCopied - 1) / kCopied * kCopied;
        if (end % kWhole != 0) {
            AscendC::Duplicate(piece_.template ReinterpretCast<uint32_t>()[2 * end], static_cast<uint32_t>(0), 2 * kCopied);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void Fill(const AscendC::LocalTensor<Wide> &tile, uint32_t rows) {
        if constexpr (!kIsWidened) {
            spread_.Run(tile, piece_, rows);
        } else {
            if (side_.isTile) {
                Body::Widen(tile, piece_, Elements(rows));
                return;
            }
            const auto other = other_.template Get<Spread>();
            if constexpr (kIsByte) {
                Body::Widen(other, piece_, Elements(rows));
                AscendC::PipeBarrier<PIPE_V>();
                spread_.Run(tile, other, rows);
            } else {
                spread_.Run(other, piece_, rows);
                Body::Widen(tile, other, side_.row == 0 ? tileElements_ : tileElements_ / allRows_ * rows);
            }
        }
    }

    static constexpr uint32_t kWhole = 8;

    AscendC::TQue<AscendC::TPosition::VECIN, 2> pieces_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> tile_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> other_;  // the piece widened, or the tile not yet
    BroadcastSpread<Spread> spread_;
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
