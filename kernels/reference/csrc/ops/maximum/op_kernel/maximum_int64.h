/*
 * The larger of two tiles of int64, on a vector unit that has no 64-bit comparison.
 *
 * All work is on 32-bit words as they lie, low word first, so that nothing has to be taken apart. For all words at once: bits that say where a's is not less
 * than b's as signed numbers (Max equals a), where both are equal, where their signs agree. Signed and unsigned order agree where the signs do and are opposite
 * elsewhere. Then, in bits, 1 for each word:
 *     a is the larger one = high words equal ? low word of a not less, unsigned : high word of a not less, signed
 * which is brought from the place of the high word to that of the low one too, and Select moves both words of a number. Select moves bits whatever they mean.
 */
#ifndef REFERENCE_MAXIMUM_INT64_H
#define REFERENCE_MAXIMUM_INT64_H

#include "kernel_operator.h"

#include "maximum_bodies.h"

class MaximumOfLongs {
public:
    using Wide = int64_t;
    using Words = AscendC::LocalTensor<int32_t>;
    using Bits = AscendC::LocalTensor<uint16_t>;
    static constexpr int64_t kBytesPerElement = 2 * sizeof(int64_t) + 2;  // two tensors of words, seven of bits with one for each word, rounded up
    static constexpr int64_t kFixedBytes = kSelectBytes + 512;
    static constexpr int64_t kElementsPerLaunch = 700;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) {
        const uint32_t words = 2 * perTile, bytes = words / 8;
        pipe.InitBuffer(first_, words * sizeof(int32_t));
        pipe.InitBuffer(pad_, 256);
        pipe.InitBuffer(second_, words * sizeof(int32_t));
        pipe.InitBuffer(notLess_, bytes);
        pipe.InitBuffer(equal_, bytes);
        pipe.InitBuffer(sameSign_, bytes);
        pipe.InitBuffer(spare_, bytes);
        pipe.InitBuffer(high_, bytes);
        AscendC::Duplicate(high_.Get<uint16_t>(), static_cast<uint16_t>(0xaaaa), bytes / sizeof(uint16_t));
    }

    __aicore__ inline void Run(const AscendC::LocalTensor<int64_t> &y, const AscendC::LocalTensor<int64_t> &a, const AscendC::LocalTensor<int64_t> &b,
                               uint32_t count) {
        constexpr uint32_t kLanes = 64, kBits = 16;
        const uint32_t words = 2 * count, whole = (words + kLanes - 1) / kLanes * kLanes;  // Compare works on whole 256 bytes
        const uint32_t used = (words + kBits - 1) / kBits * kBits;  // of which whole words of bits are used: eight numbers, up to where tiles have values
        const auto aWords = a.ReinterpretCast<int32_t>(), bWords = b.ReinterpretCast<int32_t>();
        CompareWords(aWords, bWords, used, whole);
        Decide(whole / 16);
        AscendC::Select(y.ReinterpretCast<float>(), notLess_.Get<uint16_t>(), aWords.ReinterpretCast<float>(), bWords.ReinterpretCast<float>(),
                        AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, words);
    }

private:
    __aicore__ inline void CompareWords(const Words &a, const Words &b, uint32_t used, uint32_t whole) {
        const auto first = first_.Get<int32_t>(), second = second_.Get<int32_t>();
        AscendC::PipeBarrier<PIPE_V>();  // the bits of the last tile have been read
        AscendC::Compare(equal_.Get<uint8_t>(), a, b, AscendC::CMPMODE::EQ, whole);
        AscendC::Max(first, a, b, used);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Compare(notLess_.Get<uint8_t>(), first, a, AscendC::CMPMODE::EQ, whole);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::ShiftRight(first, a, 31, used);
        AscendC::ShiftRight(second, b, 31, used);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Compare(sameSign_.Get<uint8_t>(), first, second, AscendC::CMPMODE::EQ, whole);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* notLess = where to take a, for both words of a number; `count` is that of the 16-bit words of bits. */
    __aicore__ inline void Decide(uint32_t count) {
        const auto notLess = notLess_.Get<uint16_t>(), equal = equal_.Get<uint16_t>(), sameSign = sameSign_.Get<uint16_t>(), spare = spare_.Get<uint16_t>();
        // spare = the low word of a is not less, unsigned: sameSign == notLess, at the place of the high word
        Both<Logic::kAnd>(spare, sameSign, notLess, count);
        Both<Logic::kOr>(sameSign, sameSign, notLess, count);
        AscendC::Not(sameSign, sameSign, count);
        AscendC::PipeBarrier<PIPE_V>();
        Both<Logic::kOr>(spare, spare, sameSign, count);
        AscendC::ShiftLeft(spare, spare, static_cast<uint16_t>(1), count);
        AscendC::PipeBarrier<PIPE_V>();
        Both<Logic::kAnd>(spare, spare, equal, count);
        AscendC::Not(equal, equal, count);
        AscendC::PipeBarrier<PIPE_V>();
        Both<Logic::kAnd>(notLess, notLess, equal, count);
        Both<Logic::kOr>(notLess, notLess, spare, count);
        Both<Logic::kAnd>(notLess, notLess, high_.Get<uint16_t>(), count);
        AscendC::ShiftRight(spare, notLess, static_cast<uint16_t>(1), count);
        AscendC::PipeBarrier<PIPE_V>();
        Both<Logic::kOr>(notLess, notLess, spare, count);
    }

    enum class Logic { kAnd, kOr };

    template <Logic logic>
    __aicore__ inline void Both(const Bits &to, const Bits &a, const Bits &b, uint32_t count) {
        if constexpr (logic == Logic::kAnd) {
            AscendC::And(to, a, b, count);
        } else {
            AscendC::Or(to, a, b, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> first_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> second_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> notLess_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> equal_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sameSign_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spare_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> high_;
};

#endif  // REFERENCE_MAXIMUM_INT64_H
