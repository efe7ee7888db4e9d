/*
 * Which elements of a tile go to which place, found by sorting: what takes the part of a vector instruction that scatters, which the chip has not.
 *
 * Problem: m elements belong to places 0 to T - 1, any number to one. Element by element the scalar unit takes 35 to 45 cycles each.
 * Approach: pairs of a place and a payload (32 bits) are sorted by place. Every place has a pair of its own before the elements' pairs, whose payload is the
 * caller's neutral value, so that the pairs of a place are never none and the ends of all groups, squeezed together, are a table indexed by place. The
 * caller walks all groups at once, from their last pair to their first: Gather takes a payload per place, and a group that has come to its neutral pair stays
 * there. That costs about 3 cycles per pair, and T / 4 cycles for each pair of the largest group.
 * Limits: those of pair_sort.h.
 */
#ifndef REFERENCE_SORTED_PLACES_H
#define REFERENCE_SORTED_PLACES_H

#include "kernel_operator.h"

#include "lane_pattern.h"
#include "pair_sort.h"

namespace common {

/* places - first, and `outside` for what is not from 0 to outside - 1 then; `work` is as long. */
__aicore__ inline void LimitPlaces(const AscendC::LocalTensor<int32_t> &places, const AscendC::LocalTensor<int32_t> &work, int32_t first, int32_t outside,
                                   uint32_t count) {
    AscendC::Adds(places, places, -first, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Maxs(places, places, -1, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::ShiftRight(work, places, 31, count);  // -1 below 0, else 0
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(work, work, -(outside + 1), count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(places, places, work, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mins(places, places, outside, count);
    AscendC::PipeBarrier<PIPE_V>();
}

class SortedPlaces {
public:
    static constexpr uint32_t kGroup = PairSort::kGroup;  // places come in whole groups
    static constexpr uint32_t kPairBytes = PairSort::kPairBytes;
    static constexpr uint32_t kPayloadBase = 4;  // a payload in its pair

    /* Unified buffer: per pair, per place, and besides. `pairs` includes one group for the end of the list. */
    static constexpr int64_t kBytesPerPair = PairSort::kBytesPerPair + 4, kBytesPerPlace = 2 * 4, kFixedBytes = 2048;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t pairs, uint32_t places) {
        sort_.Init(pipe, pairs);
        pipe.InitBuffer(ramp_, pairs * 4);
        pipe.InitBuffer(bits_, (pairs + 255) / 256 * 32);
        pipe.InitBuffer(last_, (places + 2 * kBefore) * 4);
        pipe.InitBuffer(first_, places * 4);
        pipe.InitBuffer(number_, 32);
        FillQuotients(ramp_.Get<int32_t>(), 1, kPairBytes, pairs);
    }

    /* Inputs of Arrange, written by the caller: elements from `places` on, `places` being a multiple of kGroup. Gone after Arrange. */
    __aicore__ inline AscendC::LocalTensor<int32_t> Places() { return sort_.Numbers(); }
    __aicore__ inline AscendC::LocalTensor<uint32_t> Payloads() { return sort_.Payloads(); }

    /* Sorts `count` elements behind `places` neutral pairs. Places and payloads of the elements are there, and the neutral payloads; not the places of those.
     */
    __aicore__ inline void Arrange(uint32_t places, uint32_t count) {
        AscendC::CreateVecIndex(Places(), static_cast<int32_t>(0), places);
        AscendC::PipeBarrier<PIPE_V>();
        FindGroups(places, sort_.Sort(places + count));
    }

    /* The sorted pairs as words: a payload lies kPayloadBase bytes behind where First or Last say. */
    __aicore__ inline AscendC::LocalTensor<uint32_t> Pairs() { return sort_.Pairs().ReinterpretCast<uint32_t>(); }
    /* As large as the pairs and free after Arrange. */
    __aicore__ inline AscendC::LocalTensor<int32_t> Free() { return sort_.Free(); }
    /* Byte offsets of each place's neutral pair and of its last one; Last may be changed. */
    __aicore__ inline AscendC::LocalTensor<int32_t> First() { return first_.Get<int32_t>(); }
    __aicore__ inline AscendC::LocalTensor<int32_t> Last() { return last_.Get<int32_t>()[kBefore]; }

    /* Elements of the largest group among the first `places`. */
    __aicore__ inline uint32_t Most(uint32_t places) {
        const auto sizes = Free();
        const auto wide = sizes.ReinterpretCast<float>();
        AscendC::Sub(sizes, Last(), First(), places);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(wide, sizes, AscendC::RoundMode::CAST_NONE, places);
        AscendC::PipeBarrier<PIPE_V>();
        const auto number = number_.Get<float>();
        AscendC::ReduceMax(number, wide, Free().ReinterpretCast<float>()[sort_.Capacity()], places, false);
        AscendC::SetFlag<AscendC::HardEvent::V_S>(0);
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(0);
        const auto most = static_cast<uint32_t>(number.GetValue(0)) / kPairBytes;
        AscendC::SetFlag<AscendC::HardEvent::S_V>(0);
        AscendC::WaitFlag<AscendC::HardEvent::S_V>(0);
        return most;
    }

    /* Moves every group one pair back. */
    __aicore__ inline void Back(uint32_t places) {
        AscendC::Adds(Last(), Last(), -static_cast<int32_t>(kPairBytes), places);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Max(Last(), Last(), First(), places);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* The payloads that the groups stand at. */
    template <typename T>
    __aicore__ inline void Take(const AscendC::LocalTensor<T> &payloads, uint32_t places) {
        AscendC::Gather(payloads, Pairs().template ReinterpretCast<T>(), Last().template ReinterpretCast<uint32_t>(), kPayloadBase, places);
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    static constexpr uint32_t kBefore = 8;  // words before the table of ends, the last of which is the end of what precedes the first group
    __aicore__ inline void FindGroups(uint32_t places, uint32_t padded) {
        const auto keys = Free().ReinterpretCast<float>(), next = keys[padded];
        const auto pairs = sort_.Pairs();
        const auto ramp = ramp_.Get<uint32_t>();
        const auto bits = bits_.Get<uint8_t>();
        AscendC::Duplicate(next[padded - kGroup], 0.0f, kGroup);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Gather(keys, pairs, ramp, 0, padded);
        AscendC::Gather(next, pairs, ramp, kPairBytes, padded - 1);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Compare(bits, keys, next, AscendC::CMPMODE::NE, padded);
        AscendC::PipeBarrier<PIPE_V>();
        uint64_t groups = 0;
        AscendC::GatherMask(last_.Get<uint32_t>()[kBefore], ramp, bits.ReinterpretCast<uint32_t>(), true, padded, AscendC::GatherMaskParams(1, 1, 0, 0),
                            groups);
        AscendC::Duplicate(last_.Get<int32_t>(), -static_cast<int32_t>(kPairBytes), kBefore);
        AscendC::PipeBarrier<PIPE_V>();
        const auto before = keys.ReinterpretCast<int32_t>();
        AscendC::ShiftRight(before, ramp_.Get<int32_t>(), static_cast<int32_t>(1), places);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Gather(First(), last_.Get<int32_t>(), before.ReinterpretCast<uint32_t>(), (kBefore - 1) * 4, places);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(First(), First(), static_cast<int32_t>(kPairBytes), places);
        AscendC::PipeBarrier<PIPE_V>();
    }

    PairSort sort_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> ramp_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bits_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> last_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> first_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
};

}  // namespace common

#endif  // REFERENCE_SORTED_PLACES_H
