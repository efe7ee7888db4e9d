/*
 * Pairs of a number and a payload of 32 bits, sorted by the number, smallest first, in the unified buffer: about 1 cycle per pair.
 *
 * The chip sorts largest first and keeps the order of equal ones, so that the numbers are negated; lists of 32 are merged four at a time.
 * Limits: whole numbers below 2^24 (they are sorted as float32), at most 8160 pairs.
 */
#ifndef REFERENCE_PAIR_SORT_H
#define REFERENCE_PAIR_SORT_H

#include <limits>

#include "kernel_operator.h"

namespace common {

class PairSort {
public:
    static constexpr uint32_t kPairBytes = 8;
    static constexpr uint32_t kGroup = 64;  // pairs are sorted in whole groups
    static constexpr int64_t kBytesPerPair = 2 * kPairBytes;

    /* `pairs`: room, a multiple of kGroup; the list has an end of at least one pair. */
    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t pairs) {
        pipe.InitBuffer(one_, pairs * kPairBytes);
        pipe.InitBuffer(other_, pairs * kPairBytes);
        capacity_ = pairs;
    }

    /* Inputs of Sort, written by the caller and gone after it. */
    __aicore__ inline AscendC::LocalTensor<int32_t> Numbers() { return other_.Get<int32_t>(); }
    __aicore__ inline AscendC::LocalTensor<uint32_t> Payloads() { return other_.Get<uint32_t>()[capacity_]; }

    /* Sorts `all` pairs and fills the list up to whole groups with pairs that come last; returns its length. */
    __aicore__ inline uint32_t Sort(uint32_t all) {
        const uint32_t padded = (all + kGroup) / kGroup * kGroup;
        const auto keys = Numbers().ReinterpretCast<float>();
        AscendC::Cast(keys, Numbers(), AscendC::RoundMode::CAST_NONE, all);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(keys, keys, -1.0f, all);
        AscendC::PipeBarrier<PIPE_V>();
        FillEnd(keys, all);
        AscendC::Sort32(one_.Get<float>(), keys, Payloads(), padded / 32);
        AscendC::PipeBarrier<PIPE_V>();
        Merge(padded);
        return padded;
    }

    /* The sorted pairs, each the negated number and its payload. */
    __aicore__ inline AscendC::LocalTensor<float> Pairs() { return (isInOne_ ? one_ : other_).Get<float>(); }
    /* As large as the pairs and free after Sort. */
    __aicore__ inline AscendC::LocalTensor<int32_t> Free() { return (isInOne_ ? other_ : one_).Get<int32_t>(); }
    __aicore__ inline uint32_t Capacity() const { return capacity_; }

private:
    static constexpr uint32_t kLists = 4;

    __aicore__ inline void FillEnd(const AscendC::LocalTensor<float> &keys, uint32_t all) {
        const uint32_t whole = all / kGroup * kGroup;
        const uint64_t lanes[2] = {~0ULL << (all - whole), 0};
        AscendC::Duplicate(keys[whole], -std::numeric_limits<float>::infinity(), lanes, 1, 1, 8);
        AscendC::Duplicate(Payloads()[whole], static_cast<uint32_t>(0), lanes, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline AscendC::LocalTensor<float> Target() { return (isInOne_ ? other_ : one_).Get<float>(); }

    /* Lists of 32 to one, four at a time: those of one length by one instruction, what is left by another. */
    __aicore__ inline void Merge(uint32_t padded) {
        isInOne_ = true;
        for (uint32_t length = 32; length < padded; length *= kLists) {
            const uint32_t whole = padded / (kLists * length);
            if (whole > 0) {
                MergeLists(0, length, kLists * length, whole);
            }
            MergeLists(whole * kLists * length, length, padded - whole * kLists * length, 1);
            AscendC::PipeBarrier<PIPE_V>();
            isInOne_ = !isInOne_;
        }
    }

    __aicore__ inline void MergeLists(uint32_t start, uint32_t length, uint32_t count, uint32_t repeats) {
        const auto from = Pairs()[start * 2], to = Target()[start * 2];
        if (count == 0) {
            return;
        }
        if (count <= length) {
            AscendC::DataCopy(to, from, count * 2);
            return;
        }
        uint16_t lengths[kLists] = {0, 0, 0, 0};
        uint16_t lists = 0;
        for (uint32_t done = 0; done < count; done += length) {
            lengths[lists++] = count - done < length ? count - done : length;
        }
        const AscendC::MrgSortSrcList<float> sources(from, from[length * 2], from[lists > 2 ? length * 4 : 0], from[lists > 3 ? length * 6 : 0]);
        AscendC::MrgSort(to, sources, AscendC::MrgSort4Info(lengths, false, (1 << lists) - 1, repeats));
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> other_;
    uint32_t capacity_;
    bool isInOne_ = true;
};

}  // namespace common

#endif  // REFERENCE_PAIR_SORT_H
