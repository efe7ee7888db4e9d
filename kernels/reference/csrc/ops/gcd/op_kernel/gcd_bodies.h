/*
 * Divisors of two tiles for each type: int16 and int64 go through int32 (gcd_euclid.h), int64 where all numbers of both tiles fit.
 */
#ifndef REFERENCE_GCD_BODIES_H
#define REFERENCE_GCD_BODIES_H

#include "gcd_euclid.h"
#include "gcd_long.h"

class GcdOfWords {
public:
    using Wide = int32_t;
    static constexpr int64_t kBytesPerElement = GcdEuclid::kBytesPerElement;
    static constexpr int64_t kFixedBytes = GcdEuclid::kFixedBytes;
    static constexpr int64_t kElementsPerLaunch = 400;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) { euclid_.Init(pipe, perTile); }

    __aicore__ inline void Run(const AscendC::LocalTensor<int32_t> &y, const AscendC::LocalTensor<int32_t> &a, const AscendC::LocalTensor<int32_t> &b,
                               uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();  // the tensors of the last tile have been read
        euclid_.Begin(a, b, count);
        const auto divisors = euclid_.Run(a, b, count);
        AscendC::Adds(y, divisors, 0, count);
    }

private:
    GcdEuclid euclid_;
};

class GcdOfShorts {
public:
    using Wide = int16_t;
    using Shorts = AscendC::LocalTensor<int16_t>;
    static constexpr int64_t kBytesPerElement = GcdEuclid::kBytesPerElement + 2 * sizeof(int32_t);
    static constexpr int64_t kFixedBytes = GcdEuclid::kFixedBytes;
    static constexpr int64_t kElementsPerLaunch = 400;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) {
        euclid_.Init(pipe, perTile);
        pipe.InitBuffer(a_, perTile * sizeof(int32_t));
        pipe.InitBuffer(b_, perTile * sizeof(int32_t));
    }

    __aicore__ inline void Run(const Shorts &y, const Shorts &a, const Shorts &b, uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();
        Widen(a_, a, count);
        Widen(b_, b, count);
        euclid_.Begin(a_.Get<int32_t>(), b_.Get<int32_t>(), count);
        const auto divisors = euclid_.Run(a_.Get<int32_t>(), b_.Get<int32_t>(), count);
        Wrap(divisors, count);
        AscendC::Cast(y, divisors, AscendC::RoundMode::CAST_NONE, count);
    }

private:
    /* By way of float: there is no conversion from int16 to int32. */
    __aicore__ inline void Widen(AscendC::TBuf<AscendC::TPosition::VECCALC> &wide, const Shorts &narrow, uint32_t count) {
        AscendC::Cast(wide.Get<float>(), narrow, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(wide.Get<int32_t>(), wide.Get<float>(), AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* 32768 to -32768: the conversion to int16 would take the largest number for it. */
    __aicore__ inline void Wrap(const AscendC::LocalTensor<int32_t> &x, uint32_t count) {
        constexpr int32_t kBits = 16;
        AscendC::ShiftLeft(x, x, kBits, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::ShiftRight(x, x, kBits, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    GcdEuclid euclid_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> a_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> b_;
};

/* Where a number of a tile needs more than 32 bits the tile is handled in two parts, in the memory of one (gcd_long.h). */
class GcdOfLongs {
public:
    using Wide = int64_t;
    using Longs = AscendC::LocalTensor<int64_t>;
    static constexpr int64_t kBytesPerElement = GcdEuclid::kBytesPerElement + 2 * sizeof(int32_t);
    static constexpr int64_t kFixedBytes = GcdEuclid::kFixedBytes + GcdEuclid::kLanes * kBytesPerElement;
    static constexpr int64_t kElementsPerLaunch = 400;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) {
        perPart_ = (perTile + 2 * GcdEuclid::kLanes - 1) / (2 * GcdEuclid::kLanes) * GcdEuclid::kLanes;  // half a tile, in whole instructions
        euclid_.Init(pipe, 2 * perPart_);
        pipe.InitBuffer(a_, 2 * perPart_ * sizeof(int32_t));
        pipe.InitBuffer(b_, 2 * perPart_ * sizeof(int32_t));
        long_.Init(euclid_, a_.Get<int32_t>(), b_.Get<int32_t>(), perPart_);
    }

    /* Conversion to int32 saturates: where nothing is as large as its ends, as floats, all numbers were converted exactly. */
    __aicore__ inline void Run(const Longs &y, const Longs &a, const Longs &b, uint32_t count) {
        const auto aShort = a_.Get<int32_t>(), bShort = b_.Get<int32_t>();
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(aShort, a, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Cast(bShort, b, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        euclid_.Begin(aShort, bShort, count);
        if (euclid_.LargestNumber(euclid_.Number(0), euclid_.Number(1), euclid_.Rest(0).ReinterpretCast<float>(), count) < GcdLong::kShort) {
            AscendC::Cast(y, euclid_.Run(aShort, bShort, count), AscendC::RoundMode::CAST_NONE, count);
            return;
        }
        for (uint32_t first = 0; first < count; first += perPart_) {
            long_.Run(y[first], a[first], b[first], count - first < perPart_ ? count - first : perPart_);
        }
    }

private:
    uint32_t perPart_;
    GcdLong long_;
    GcdEuclid euclid_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> a_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> b_;
};

#endif  // REFERENCE_GCD_BODIES_H
