/*
 * Cosines and sines in the places of the elements of a tile, in float32: an element x with partner x' becomes x cos + x' sin, where the sine of the first of a
 * pair is negative.
 *
 * Gather brings them there, by byte offsets that are computed once. It reads from two copies, one for the first and one for the second elements of pairs; of
 * sines the first is negative. Where heads start at multiples of 32 bytes only one head of every position is gathered, and copied to the other heads and
 * groups: Gather takes 14 cycles for 64 elements, a copy one.
 *
 * Offsets are computed in float32, exactly: indices and offsets are below 2^24, and (i + 1/2) / n rounded down is i / n for all i below 2^20.
 */
#ifndef REFERENCE_ROTARY_ANGLES_H
#define REFERENCE_ROTARY_ANGLES_H

#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "rotary_plan.h"

template <typename T>
class RotaryAngles {
public:
    using Floats = AscendC::LocalTensor<float>;
    static constexpr uint32_t kGranule = 128;  // elements of buffers: whole 512 bytes of float
    /* Raw cosines and sines twice, two copies of one of them, offsets, and both in their places. */
    static constexpr int64_t kBytesPerElement = 2 * sizeof(T) + 4 * sizeof(float);
    static constexpr int64_t kFixedBytes = 10 * common::kBurstBytes;

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR cos, GM_ADDR sin, const RotaryPlan &plan) {
        plan_ = plan;
        length_ = 2 * plan.pairs;
        isCopied_ = length_ % common::kBlockFloats == 0;
        const uint32_t tile = plan.perTile[0] * plan.perTile[1] * plan.perTile[2] * length_, perTile = (tile + kGranule - 1) / kGranule * kGranule;
        gathered_ = isCopied_ ? plan.perTile[1] * length_ : tile;
        copyElements_ = (plan.perTile[1] * plan.pairs + kGranule - 1) / kGranule * kGranule;
        for (int32_t which = 0; which < 2; ++which) {
            pipe.InitBuffer(raw_[which], 2, copyElements_ * sizeof(T));
            pipe.InitBuffer(placed_[which], perTile * sizeof(float));
            global_[which].SetGlobalBuffer((__gm__ T *)(which == 0 ? cos : sin));
        }
        pipe.InitBuffer(copies_, 2 * copyElements_ * sizeof(float));
        pipe.InitBuffer(offsets_, perTile * sizeof(float));
    }

    __aicore__ inline Floats Cos() { return placed_[0].template Get<float>(); }
    __aicore__ inline Floats Sin() { return placed_[1].template Get<float>(); }

    /* Starts to load the angles of `positions` positions from `first` on. */
    __aicore__ inline void Load(int64_t first, uint32_t positions) {
        const uint32_t bytes = positions * plan_.pairs * sizeof(T);
        for (int32_t which = 0; which < 2; ++which) {
            auto raw = raw_[which].template AllocTensor<T>();
            AscendC::DataCopyPad(raw, global_[which][first * plan_.pairs], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0},
                                 AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
            raw_[which].EnQue(raw);
        }
    }

    /* Brings what was loaded into its places. `spare` has room for a tile. */
    __aicore__ inline void Place(const Floats &spare, uint32_t positions) {
        AscendC::PipeBarrier<PIPE_V>();  // the angles before have been used
        for (int32_t which = 0; which < 2; ++which) {
            auto raw = raw_[which].template DeQue<T>();
            MakeCopies(raw, positions * plan_.pairs, which == 1);
            raw_[which].FreeTensor(raw);
            const auto placed = placed_[which].template Get<float>(), copies = copies_.template Get<float>();
            const auto offsets = offsets_.template Get<uint32_t>();
            if (!isCopied_) {
                AscendC::Gather(placed, copies, offsets, 0, gathered_ / plan_.perTile[1] * positions);
            } else {
                const auto rows = plan_.perTile[2] > 1 ? spare : placed;
                AscendC::Gather(rows, copies, offsets, 0, positions * length_);
                AscendC::PipeBarrier<PIPE_V>();
                CopyToHeads(placed, rows, positions);
                CopyToGroups(placed, positions);
            }
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* The offsets of the angles and, if `partners` is wanted, those of each element's partner. Once; `spare` has room for a tile. */
    __aicore__ inline void FillOffsets(const Floats &spare, bool hasPartners, const AscendC::LocalTensor<uint32_t> &partners) {
        const uint32_t tile = plan_.perTile[0] * plan_.perTile[1] * plan_.perTile[2] * length_, count = hasPartners ? tile : gathered_;
        const auto row = Cos(), second = Sin(), offset = offsets_.template Get<float>();
        const float pairs = plan_.pairs, floatBytes = sizeof(float);
        const auto partner = partners.template ReinterpretCast<float>();
        AscendC::CreateVecIndex(spare, 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        if (plan_.isInterleaved) {  // spare = pair, second = place - 2 pair, row = pair / pairs
            AscendC::Adds(second, spare, 0.0f, count);
            AscendC::PipeBarrier<PIPE_V>();
            Quotient(spare, spare, 2, count);
            AddTo(second, spare, -2.0f, count);
            Quotient(row, spare, plan_.pairs, count);
            if (hasPartners) {  // 2 pair + 1 - second
                AscendC::Muls(partner, spare, 2 * floatBytes, count);
                AscendC::PipeBarrier<PIPE_V>();
                AscendC::Adds(partner, partner, floatBytes, count);
                AscendC::PipeBarrier<PIPE_V>();
                AddTo(partner, second, -floatBytes, count);
            }
            AscendC::Muls(offset, spare, floatBytes, count);
            AscendC::PipeBarrier<PIPE_V>();
            AddTo(offset, row, -floatBytes * pairs, count);
        } else {  // second = half row - 2 row, row = half row / 2
            Quotient(second, spare, plan_.pairs, count);
            Quotient(row, second, 2, count);
            AscendC::Muls(offset, spare, floatBytes, count);
            AscendC::PipeBarrier<PIPE_V>();
            AddTo(offset, second, -floatBytes * pairs, count);
            AddTo(second, row, -2.0f, count);
            if (hasPartners) {  // place + pairs - 2 pairs second
                AscendC::Muls(partner, spare, floatBytes, count);
                AscendC::PipeBarrier<PIPE_V>();
                AscendC::Adds(partner, partner, floatBytes * pairs, count);
                AscendC::PipeBarrier<PIPE_V>();
                AddTo(partner, second, -2 * floatBytes * pairs, count);
            }
        }
        AddTo(offset, second, floatBytes * copyElements_, count);
        AddPositions(offset, row, spare, count);
        AscendC::Cast(offset.template ReinterpretCast<int32_t>(), offset, AscendC::RoundMode::CAST_RINT, count);
        if (hasPartners) {
            AscendC::Cast(partner.template ReinterpretCast<int32_t>(), partner, AscendC::RoundMode::CAST_RINT, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    /* Two copies in float32, the first one negative if it is of sines. */
    __aicore__ inline void MakeCopies(const AscendC::LocalTensor<T> &raw, uint32_t count, bool isSine) {
        const auto first = copies_.template Get<float>(), second = first[copyElements_];
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Muls(first, raw, isSine ? -1.0f : 1.0f, count);
            AscendC::Muls(second, raw, 1.0f, count);
        } else {
            AscendC::Cast(first, raw, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(second, raw, AscendC::RoundMode::CAST_NONE, count);
            if (isSine) {
                AscendC::PipeBarrier<PIPE_V>();
                AscendC::Muls(first, first, -1.0f, count);
            }
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Row p of `rows` to all heads of position p, by the fewer instructions: for each head over the positions, or for each position over the heads. */
    __aicore__ inline void CopyToHeads(const Floats &placed, const Floats &rows, uint32_t positions) {
        const uint32_t heads = plan_.perTile[2];
        if (heads == 1) {
            return;
        }
        for (uint32_t column = 0; column < length_; column += common::kSlice) {
            const uint32_t lanes = length_ - column < common::kSlice ? length_ - column : common::kSlice;
            if (heads < positions) {
                for (uint32_t head = 0; head < heads; ++head) {
                    Copy(placed[head * length_ + column], rows[column], lanes, positions, heads * length_, length_);
                }
            } else {
                for (uint32_t position = 0; position < positions; ++position) {
                    Copy(placed[position * heads * length_ + column], rows[position * length_ + column], lanes, heads, length_, 0);
                }
            }
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Copy(const Floats &to, const Floats &from, uint32_t lanes, uint32_t repeats, uint32_t toMove, uint32_t fromMove) {
        const AscendC::CopyRepeatParams strides(1, 1, toMove / common::kBlockFloats, fromMove / common::kBlockFloats);
        for (uint32_t done = 0; done < repeats; done += common::kMostRepeats) {
            const uint32_t now = repeats - done < common::kMostRepeats ? repeats - done : common::kMostRepeats;
            AscendC::Copy(to[done * toMove], from[done * fromMove], lanes, now, strides);
        }
    }

    /* The first group to the others, twice as many each time. */
    __aicore__ inline void CopyToGroups(const Floats &placed, uint32_t positions) {
        const uint32_t groups = plan_.perTile[0], perGroup = positions * plan_.perTile[2] * length_;
        for (uint32_t done = 1; done < groups; done *= 2) {
            const uint32_t now = groups - done < done ? groups - done : done;
            AscendC::DataCopy(placed[done * perGroup], placed, now * perGroup);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* Adds the bytes of the position of each row: heads and groups have rows of their own unless they are copied. */
    __aicore__ inline void AddPositions(const Floats &offset, const Floats &row, const Floats &spare, uint32_t count) {
        const float perPosition = sizeof(float) * plan_.pairs;
        if (!isCopied_) {
            Quotient(row, row, plan_.perTile[2], count);
            Quotient(spare, row, plan_.perTile[1], count);
            AddTo(offset, spare, -perPosition * plan_.perTile[1], count);
        }
        AddTo(offset, row, perPosition, count);
    }

    __aicore__ static inline void Quotient(const Floats &to, const Floats &x, uint32_t divisor, uint32_t count) {
        AscendC::Adds(to, x, 0.5f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(to, to, 1.0f / static_cast<float>(divisor), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(to, to, AscendC::RoundMode::CAST_FLOOR, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ static inline void AddTo(const Floats &to, const Floats &x, float factor, uint32_t count) {
        AscendC::Axpy(to, x, factor, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> raw_[2];
    AscendC::TBuf<AscendC::TPosition::VECCALC> placed_[2];
    AscendC::TBuf<AscendC::TPosition::VECCALC> copies_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;
    AscendC::GlobalTensor<T> global_[2];
    RotaryPlan plan_;
    uint32_t length_;        // of a head
    uint32_t gathered_;      // elements that Gather places
    uint32_t copyElements_;  // of one copy
    bool isCopied_;          // heads and groups are copies of one another
};

#endif  // REFERENCE_ROTARY_ANGLES_H
