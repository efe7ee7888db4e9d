/*
 * Arithmetic on int64 numbers in three tensors of int32: high 2^32 + middle 2^16 + low, high signed, the others in 0 to 65535. All instructions wait for one
 * another; see gcd_long.h.
 */
#ifndef REFERENCE_GCD_DIGITS_H
#define REFERENCE_GCD_DIGITS_H

#include "kernel_operator.h"

using Integers = AscendC::LocalTensor<int32_t>;
using Floats = AscendC::LocalTensor<float>;

struct Digits {
    Integers high;
    Integers middle;
    Integers low;
};

/* Instructions on `count` elements each, with the barrier behind them. */
class Ordered {
public:
    __aicore__ inline explicit Ordered(uint32_t count) : count_(count) {}

    __aicore__ inline void Add(const Integers &to, const Integers &a, const Integers &b) const {
        AscendC::Add(to, a, b, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Subtract(const Integers &from, const Integers &a) const {
        AscendC::Sub(from, from, a, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Multiply(const Integers &to, const Integers &a, const Integers &b) const {
        AscendC::Mul(to, a, b, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Scale(const Integers &to, const Integers &a, int32_t factor) const {
        AscendC::Muls(to, a, factor, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Left(const Integers &to, const Integers &a, int32_t bits) const {
        AscendC::ShiftLeft(to, a, bits, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Rounds down, also what is negative. */
    __aicore__ inline void Right(const Integers &to, const Integers &a, int32_t bits) const {
        AscendC::ShiftRight(to, a, bits, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* x in 0 to 65535, and what it had more of 65536s in `carry`. */
    __aicore__ inline void Carry(const Integers &carry, const Integers &x) const {
        Right(carry, x, kDigit);
        KeepLow(x);
    }

    /* The low 16 bits: zeros into the other halves of the words. */
    __aicore__ inline void KeepLow(const Integers &x) const {
        constexpr uint64_t kHighHalves = 0xaaaaaaaaaaaaaaaaULL;
        const uint64_t lanes[2] = {kHighHalves, kHighHalves};
        const uint32_t repeats = (count_ + kLanes - 1) / kLanes;
        AscendC::Duplicate(x.ReinterpretCast<uint16_t>(), static_cast<uint16_t>(0), lanes, repeats, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void ToInteger(const Integers &to, const Floats &x) const {
        AscendC::Cast(to, x, AscendC::RoundMode::CAST_RINT, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void ToFloat(const Floats &to, const Integers &x) const {
        AscendC::Cast(to, x, AscendC::RoundMode::CAST_NONE, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* x as a float; `spare` is overwritten. */
    __aicore__ inline void ToFloat(const Floats &to, const Digits &x, const Floats &spare) const {
        ToFloat(to, x.high);
        AddDigit(to, x.middle, spare);
        AddDigit(to, x.low, spare);
    }

    /* x as one word, which it has to fit into. */
    __aicore__ inline void ToWord(const Integers &to, const Digits &x) const {
        Left(to, x.middle, kDigit);
        Add(to, to, x.low);
    }

    static constexpr int32_t kDigit = 16;
    static constexpr uint32_t kLanes = 64;

private:
    /* to = 65536 to + digit */
    __aicore__ inline void AddDigit(const Floats &to, const Integers &digit, const Floats &spare) const {
        AscendC::Muls(to, to, 65536.0f, count_);
        AscendC::Cast(spare, digit, AscendC::RoundMode::CAST_NONE, count_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(to, to, spare, count_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    uint32_t count_;
};

#endif  // REFERENCE_GCD_DIGITS_H
