/*
 * Cosines and sines in the places of the elements of a tile, in float32: an element x with partner x' becomes x cos + x' sin, where the sine of the first of a
 * pair is negative.
 *
 * Pairs that are halves of whole 32 bytes: copies with gaps. Others: Gather, from two copies of the angles, one for the first and one for the second elements
 * of pairs, by byte offsets that are computed once. Where heads start at multiples of 32 bytes only one head of every position is made, and copied to the other
 * heads and groups: Gather takes 14 cycles for 64 elements, a copy one.
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
    static constexpr uint32_t kGranule = 256;                         // elements of buffers: whole 512 bytes of 16-bit types
    static constexpr int64_t kFixedBytes = 20 * common::kBurstBytes;  // buffers rounded up, pads

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR cos, GM_ADDR sin, const RotaryPlan &plan) {
        plan_ = plan;
        length_ = 2 * plan.pairs;
        isCopied_ = length_ % kRotaryAlignment == 0;
        const uint32_t tile = plan.perTile[0] * plan.perTile[1] * plan.perTile[2] * length_, perTile = (tile + kGranule - 1) / kGranule * kGranule;
        gathered_ = isCopied_ ? plan.perTile[1] * length_ : tile;
        isPaired_ = plan.isInHalves && plan.pairs % (2 * common::kSlice) == 0;
        copyElements_ = (plan.perTile[1] * plan.pairs + kGranule - 1) / kGranule * kGranule;
        InitAngles(pipe, (__gm__ T *)cos, 0, perTile);
        if (!isPaired_) {
            pipe.InitBuffer(pad_, common::kBurstBytes / 2);
        }
        InitAngles(pipe, (__gm__ T *)sin, 1, perTile);
        pipe.InitBuffer(copies_, 2 * copyElements_ * sizeof(float));
        if (!plan.isInHalves) {
            pipe.InitBuffer(offsets_, (gathered_ + kGranule - 1) / kGranule * kGranule * sizeof(float));
        }
        if (std::is_same_v<T, float> && !plan.isInHalves) {
            pipe.InitBuffer(spare_, perTile * sizeof(float));
        }
    }

    /* Room for a tile, unless pairs are in halves; for float32, others have such a tensor anyway. */
    __aicore__ inline Floats Spare() { return plan_.isInHalves ? Cos() : spare_.template Get<float>(); }

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
            if (!isCopied_) {
                AscendC::Gather(placed, copies, offsets_.template Get<uint32_t>(), 0, gathered_ / plan_.perTile[1] * positions);
            } else {
                MakeHead(placed, spare, copies, positions);
                CopyToHeads(placed, positions);
                CopyToGroups(placed, positions);
            }
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* Unless pairs are in halves: the offsets of the angles and, if `partners` is wanted, those of each element's partner. Once; `spare` has room for a tile.
     */
    __aicore__ inline void FillOffsets(const Floats &spare, bool hasPartners, const AscendC::LocalTensor<uint32_t> &partners) {
        if (plan_.isInHalves) {
            return;
        }
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
            AscendC::Muls(offset, spare, floatBytes, gathered_);
            AscendC::PipeBarrier<PIPE_V>();
            AddTo(offset, row, -floatBytes * pairs, gathered_);
        } else {  // second = half row - 2 row, row = half row / 2
            Quotient(second, spare, plan_.pairs, count);
            Quotient(row, second, 2, count);
            AscendC::Muls(offset, spare, floatBytes, gathered_);
            AscendC::PipeBarrier<PIPE_V>();
            AddTo(offset, second, -floatBytes * pairs, gathered_);
            AddTo(second, row, -2.0f, count);
            if (hasPartners) {  // place + pairs - 2 pairs second
                AscendC::Muls(partner, spare, floatBytes, count);
                AscendC::PipeBarrier<PIPE_V>();
                AscendC::Adds(partner, partner, floatBytes * pairs, count);
                AscendC::PipeBarrier<PIPE_V>();
                AddTo(partner, second, -2 * floatBytes * pairs, count);
            }
        }
        AddTo(offset, second, floatBytes * copyElements_, gathered_);
        AddPositions(offset, row, spare, gathered_);
        AscendC::Cast(offset.template ReinterpretCast<int32_t>(), offset, AscendC::RoundMode::CAST_RINT, gathered_);
        if (hasPartners) {
            AscendC::Cast(partner.template ReinterpretCast<int32_t>(), partner, AscendC::RoundMode::CAST_RINT, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    __aicore__ inline void InitAngles(AscendC::TPipe &pipe, __gm__ T *angles, int32_t which, uint32_t perTile) {
        pipe.InitBuffer(raw_[which], 1, copyElements_ * sizeof(T));
        pipe.InitBuffer(placed_[which], perTile * sizeof(float));
        global_[which].SetGlobalBuffer(angles);
    }

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

    /* The first head of each position. */
    __aicore__ inline void MakeHead(const Floats &placed, const Floats &spare, const Floats &copies, uint32_t positions) {
        const uint32_t heads = plan_.perTile[2];
        if (plan_.isInHalves) {
            CopyRows(placed, copies, positions, plan_.pairs, 0, heads * length_ - plan_.pairs);
            CopyRows(placed[plan_.pairs], copies[copyElements_], positions, plan_.pairs, 0, heads * length_ - plan_.pairs);
        } else {
            AscendC::Gather(heads == 1 ? placed : spare, copies, offsets_.template Get<uint32_t>(), 0, positions * length_);
            if (heads > 1) {
                AscendC::PipeBarrier<PIPE_V>();
                CopyRows(placed, spare, positions, length_, 0, (heads - 1) * length_);
            }
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* The first head to the others, twice as many each time. */
    __aicore__ inline void CopyToHeads(const Floats &placed, uint32_t positions) {
        const uint32_t heads = plan_.perTile[2];
        for (uint32_t done = 1; done < heads; done *= 2) {
            const uint32_t now = heads - done < done ? heads - done : done, gap = (heads - now) * length_;
            CopyRows(placed[done * length_], placed, positions, now * length_, gap, gap);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* Rows of `count` floats, with gaps between them; all in whole 32 bytes. */
    __aicore__ static inline void CopyRows(const Floats &to, const Floats &from, uint32_t rows, uint32_t count, uint32_t fromGap, uint32_t toGap) {
        using common::kBlockFloats;
        const AscendC::DataCopyParams shape(rows, count / kBlockFloats, fromGap / kBlockFloats, toGap / kBlockFloats);
        AscendC::DataCopy(to, from, shape);
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

    AscendC::TQue<AscendC::TPosition::VECIN, 1> raw_[2];
    AscendC::TBuf<AscendC::TPosition::VECCALC> placed_[2];
    AscendC::TBuf<AscendC::TPosition::VECCALC> copies_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spare_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::GlobalTensor<T> global_[2];
    RotaryPlan plan_;
    uint32_t length_;        // of a head
    uint32_t gathered_;      // elements that Gather places
    uint32_t copyElements_;  // of one copy
    bool isPaired_;          // halves a multiple of 512 bytes apart: an element and its partner are in one bank group
    bool isCopied_;          // heads and groups are copies of one another
};

#endif  // REFERENCE_ROTARY_ANGLES_H
