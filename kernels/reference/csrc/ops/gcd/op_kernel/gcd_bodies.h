/*
 * Divisors of two tiles for each type: int16 and int64 go through int32 (gcd_euclid.h), int64 where all numbers of both tiles fit.
 */
#ifndef REFERENCE_GCD_BODIES_H
#define REFERENCE_GCD_BODIES_H

#include "gcd_euclid.h"

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

class GcdOfLongs {
public:
    using Wide = int64_t;
    using Longs = AscendC::LocalTensor<int64_t>;
    static constexpr int64_t kBytesPerElement = GcdEuclid::kBytesPerElement + 2 * sizeof(int32_t);
    static constexpr int64_t kFixedBytes = GcdEuclid::kFixedBytes;
    static constexpr int64_t kElementsPerLaunch = 400;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) {
        euclid_.Init(pipe, perTile);
        pipe.InitBuffer(a_, perTile * sizeof(int32_t));
        pipe.InitBuffer(b_, perTile * sizeof(int32_t));
    }

    __aicore__ inline void Run(const Longs &y, const Longs &a, const Longs &b, uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();
        if (!AreShort(a, b, count)) {
            RunLong(y, a, b, count);
            return;
        }
        const auto aShort = a_.Get<int32_t>(), bShort = b_.Get<int32_t>();
        AscendC::Cast(aShort, a, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Cast(bShort, b, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(y, euclid_.Run(aShort, bShort, count), AscendC::RoundMode::CAST_NONE, count);
    }

private:
    /* Whether all magnitudes are below 2^31 (as floats: some just below count as too large). */
    __aicore__ inline bool AreShort(const Longs &a, const Longs &b, uint32_t count) {
        const auto aFloat = a_.Get<float>(), bFloat = b_.Get<float>();
        AscendC::Cast(aFloat, a, AscendC::RoundMode::CAST_RINT, count);
        AscendC::Cast(bFloat, b, AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Abs(aFloat, aFloat, count);
        AscendC::Abs(bFloat, bFloat, count);
        AscendC::PipeBarrier<PIPE_V>();
        const auto largest = euclid_.Quotient();
        AscendC::Duplicate(largest[(count - 1) / GcdEuclid::kLanes * GcdEuclid::kLanes], 0.0f, GcdEuclid::kLanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Max(largest, aFloat, bFloat, count);
        AscendC::PipeBarrier<PIPE_V>();
        return euclid_.Largest(count) < 2147483648.0f;
    }

    /* One number after another, on the scalar unit. */
    __aicore__ inline void RunLong(const Longs &y, const Longs &a, const Longs &b, uint32_t count) {
        auto &pipe = *GetTPipePtr();
        const auto before = pipe.FetchEventID(AscendC::HardEvent::V_S);
        AscendC::SetFlag<AscendC::HardEvent::V_S>(before);
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(before);
        for (uint32_t i = 0; i < count; ++i) {
            y.SetValue(i, Divisor(Magnitude(a.GetValue(i)), Magnitude(b.GetValue(i))));
        }
        const auto after = pipe.FetchEventID(AscendC::HardEvent::S_V);
        AscendC::SetFlag<AscendC::HardEvent::S_V>(after);
        AscendC::WaitFlag<AscendC::HardEvent::S_V>(after);
    }

    __aicore__ static inline uint64_t Magnitude(int64_t x) { return x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x); }

    __aicore__ static inline int64_t Divisor(uint64_t x, uint64_t y) {
        while (y != 0) {
            const uint64_t rest = x % y;
            x = y;
            y = rest;
        }
        return static_cast<int64_t>(x);
    }

    GcdEuclid euclid_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> a_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> b_;
};

#endif  // REFERENCE_GCD_BODIES_H
