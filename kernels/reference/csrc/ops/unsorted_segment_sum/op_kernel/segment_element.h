/*
 * What each element type is summed in.
 *
 * float16 and bfloat16 in float32, float32 and int32 in themselves. The chip adds no int64: its two words are split into halves of 16 bits, which are summed as
 * int32 in two planes (low halves, high halves), so that carries are settled once at the end, and at least every 2^15 additions.
 */
#ifndef REFERENCE_SEGMENT_ELEMENT_H
#define REFERENCE_SEGMENT_ELEMENT_H

#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/lane_pattern.h"

template <typename T>
struct SegmentElement {
    static constexpr bool kIsLong = std::is_same_v<T, int64_t>;
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    static constexpr bool kIsItself = sizeof(T) == 4;  // a sum needs no other type
    using Sum = std::conditional_t<(kIsLong || std::is_same_v<T, int32_t>), int32_t, float>;
    static constexpr uint32_t kWords = kIsLong ? 2 : 1;  // of an element in one plane
    static constexpr uint32_t kPlanes = kIsLong ? 2 : 1;
    static constexpr uint32_t kMostAdditions = 1 << 15;  // between two settlements
};

using SumWords = AscendC::LocalTensor<int32_t>;

/* Clears the words, or the halves of words, that `lanes` names; `bytes` from the start of `x`. */
template <typename U>
__aicore__ inline void ClearLanes(const AscendC::LocalTensor<U> &x, uint64_t lanes, uint32_t bytes) {
    const uint64_t mask[2] = {lanes, sizeof(U) == 2 ? lanes : 0};
    const uint32_t repeats = (bytes + 255) / 256;
    for (uint32_t done = 0; done < repeats; done += 255) {
        AscendC::Duplicate(x[done * (256 / sizeof(U))], static_cast<U>(0), mask, repeats - done < 255 ? repeats - done : 255, 1, 8);
    }
    AscendC::PipeBarrier<PIPE_V>();
}

constexpr uint64_t kUpperHalves = 0xAAAAAAAAAAAAAAAAULL, kLowerWords = 0x5555555555555555ULL;

/* Words into high halves and, in place, low halves. Works on whole repeats: both tensors are as long as that. */
__aicore__ inline void SplitWords(const SumWords &low, const SumWords &high, uint32_t words) {
    AscendC::ShiftRight(high.ReinterpretCast<uint32_t>(), low.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(16), words);
    AscendC::PipeBarrier<PIPE_V>();
    ClearLanes(low.ReinterpretCast<int16_t>(), kUpperHalves, words * 4);
}

/* What is carried out of the lower word of each element, in `low`'s and `high`'s halves, goes into the upper one. `previous`: 4 (i - 1) for each word i > 0. */
struct CarryWork {
    SumWords previous;
    SumWords part;
};

__aicore__ inline void SettleCarries(const SumWords &low, const SumWords &high, const CarryWork &work, uint32_t words) {
    const auto part = work.part;
    AscendC::ShiftRight(part.ReinterpretCast<uint32_t>(), low.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(16), words);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(high, high, part, words);
    AscendC::PipeBarrier<PIPE_V>();
    ClearLanes(low.ReinterpretCast<int16_t>(), kUpperHalves, words * 4);
    AscendC::ShiftRight(part.ReinterpretCast<uint32_t>(), high.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(16), words);
    AscendC::PipeBarrier<PIPE_V>();
    ClearLanes(high.ReinterpretCast<int16_t>(), kUpperHalves, words * 4);
}

/* After it every half is below 2^17. */
__aicore__ inline void NormaliseLong(const SumWords &low, const SumWords &high, const CarryWork &work, const SumWords &carried, uint32_t words) {
    SettleCarries(low, high, work, words);
    AscendC::Gather(carried, work.part, work.previous.ReinterpretCast<uint32_t>(), 0, words);
    AscendC::PipeBarrier<PIPE_V>();
    ClearLanes(carried, kLowerWords, words * 4);
    AscendC::Add(low, low, carried, words);
    AscendC::PipeBarrier<PIPE_V>();
}

/* y (words) from both planes, which are used up. */
__aicore__ inline void FinishLong(const SumWords &y, const SumWords &low, const SumWords &high, const CarryWork &work, uint32_t words) {
    SettleCarries(low, high, work, words);
    AscendC::Gather(y, work.part, work.previous.ReinterpretCast<uint32_t>(), 0, words);
    AscendC::ShiftLeft(high, high, static_cast<int32_t>(16), words);
    AscendC::PipeBarrier<PIPE_V>();
    ClearLanes(y, kLowerWords, words * 4);
    AscendC::Add(y, y, low, words);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(y, y, high, words);
    AscendC::PipeBarrier<PIPE_V>();
}

/* 4 (i - 1) for each word i > 0, and 0. */
__aicore__ inline void FillPrevious(const SumWords &previous, uint32_t words) {
    common::FillQuotients(previous, 1, 4, words);
    AscendC::Adds(previous, previous, -4, words);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Maxs(previous, previous, 0, words);
    AscendC::PipeBarrier<PIPE_V>();
}

#endif  // REFERENCE_SEGMENT_ELEMENT_H
