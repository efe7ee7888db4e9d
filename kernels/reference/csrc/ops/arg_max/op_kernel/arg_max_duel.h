/*
 * The larger one of two, lane by lane, and where it was found.
 *
 * A contestant is a vector of keys with the places they come from. 16-bit types compare as float32, which is exact. int64 has no vector comparison: its key is
 * the upper half, and the lower half, whose order is that of an unsigned number, decides between equal ones; int32 compares for equality only, so that the
 * larger one is found first and then looked for. Of two equal ones the earlier wins, so that what fills a gap at the end never does.
 *
 * A NaN makes the key NaN, as Max has it; the place is then of no use, and the kernel looks for it in a pass of its own.
 */
#ifndef REFERENCE_ARG_MAX_DUEL_H
#define REFERENCE_ARG_MAX_DUEL_H

#include <type_traits>

#include "../../../common/lanes.h"

constexpr int32_t kLowestInt = -2147483647 - 1;
constexpr int32_t kMinusInfinity = static_cast<int32_t>(0xff800000);  // its bits

template <typename T>
struct ArgMaxKeys {
    static constexpr bool kIsFloat = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float>;
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    static constexpr bool kIsWide = sizeof(T) == 8;
    static constexpr uint32_t kWords = kIsWide ? 2 : 1;                         // of a key
    static constexpr uint32_t kPerSegment = common::kLines / kWords;            // keys of a segment of a row
    static constexpr int32_t kLowest = kIsFloat ? kMinusInfinity : kLowestInt;  // of the key, as bits
};

/* `low` is there for int64 only. */
struct Contestants {
    common::Words key;
    common::Words low;
    common::Words place;

    __aicore__ inline Contestants operator[](uint32_t lane) const { return {key[lane], low[lane], place[lane]}; }
};

template <typename T>
class ArgMaxDuel {
public:
    using Keys = ArgMaxKeys<T>;
    using Bits = AscendC::LocalTensor<uint8_t>;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t lanes) {
        const uint32_t rounded = Whole(lanes);
        pipe.InitBuffer(bits_, rounded / 8);
        if constexpr (Keys::kIsWide) {
            pipe.InitBuffer(alsoBits_, rounded / 8);
            pipe.InitBuffer(most_, rounded * sizeof(int32_t));
        }
    }

    /* A bit for each lane; the next duel overwrites it. */
    __aicore__ inline Bits Scratch() { return bits_.template Get<uint8_t>(); }

    /* late = the larger of early and late, with the place in `place`; what stood in `early.low` is lost. Keys are read up to whole repeats. */
    __aicore__ inline void Run(const Contestants &late, const Contestants &early, const common::Words &place, uint32_t lanes) {
        if constexpr (Keys::kIsWide) {
            RunWide(late, early, lanes);
        } else {
            RunNarrow(late, early, lanes);
        }
        Choose(place, early.place, late.place, lanes);
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    static __aicore__ inline uint32_t Whole(uint32_t lanes) { return (lanes + common::kWordLanes - 1) / common::kWordLanes * common::kWordLanes; }

    static __aicore__ inline auto Floats(const common::Words &words) { return words.ReinterpretCast<float>(); }

    __aicore__ inline void RunNarrow(const Contestants &late, const Contestants &early, uint32_t lanes) {
        const auto bits = bits_.template Get<uint8_t>();
        if constexpr (Keys::kIsFloat) {
            AscendC::Compare(bits, Floats(early.key), Floats(late.key), AscendC::CMPMODE::GE, Whole(lanes));
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Max(Floats(late.key), Floats(early.key), Floats(late.key), lanes);
        } else {
            AscendC::Max(late.key, early.key, late.key, lanes);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Compare(bits, early.key, late.key, AscendC::CMPMODE::EQ, Whole(lanes));
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* A lower half counts only where the upper half is the largest. */
    __aicore__ inline void RunWide(const Contestants &late, const Contestants &early, uint32_t lanes) {
        const auto bits = bits_.template Get<uint8_t>(), lateBits = alsoBits_.template Get<uint8_t>();
        const auto most = most_.template Get<int32_t>();
        AscendC::Max(most, early.key, late.key, static_cast<int32_t>(Whole(lanes)));
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Compare(bits, most, early.key, AscendC::CMPMODE::EQ, Whole(lanes));
        AscendC::Compare(lateBits, most, late.key, AscendC::CMPMODE::EQ, Whole(lanes));
        AscendC::PipeBarrier<PIPE_V>();
        Keep(early.low, bits, lanes);
        Keep(late.low, lateBits, lanes);
        AscendC::Max(late.key, early.key, late.key, lanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Max(late.low, early.low, late.low, lanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Compare(lateBits, early.low, late.low, AscendC::CMPMODE::EQ, Whole(lanes));
        AscendC::PipeBarrier<PIPE_V>();
        const auto halves = bits.template ReinterpretCast<uint16_t>();
        AscendC::And(halves, halves, lateBits.template ReinterpretCast<uint16_t>(), static_cast<int32_t>(Whole(lanes) / 16));
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Numbers without a bit become the lowest one, which as a float is -0. */
    __aicore__ inline void Keep(const common::Words &low, const Bits &bits, uint32_t lanes) {
        AscendC::Select(Floats(low), bits, Floats(low), -0.0f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, lanes);
    }

    /* Places move as bits: Select has no integers. */
    __aicore__ inline void Choose(const common::Words &place, const common::Words &early, const common::Words &late, uint32_t lanes) {
        AscendC::Select(Floats(place), bits_.template Get<uint8_t>(), Floats(early), Floats(late), AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, lanes);
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> bits_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> alsoBits_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> most_;
};

#endif  // REFERENCE_ARG_MAX_DUEL_H
