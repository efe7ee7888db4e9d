/*
 * Greatest common divisors of two tiles of int32 by Euclid's algorithm, all elements at once.
 *
 * A step replaces (x, y) by (y, x - q y), where q is the quotient rounded to the nearest integer. It comes from float32, which is not exact from 2^24 on. It
 * need not be: x - q y is computed in integers, and any common divisor of x and y divides it whatever integer q is, so that every step keeps the divisor. What
 * an inexact q costs is progress: the rest is at most |y| / 2 + |x| / 2^22 in magnitude, so a step shrinks the larger number to a half, or to 2^-22 where q is
 * large. Nearest quotients take fewer steps than those that round down: at most 25 for int32 (numbers of Pell), on average 0.41 ln n.
 *
 * Done elements need no mask: x - q 0 is x whatever q is (the quotient by 0 converts to some integer), so (g, 0) becomes (0, g) and then (g, 0) again. When one
 * of the two is 0 everywhere, their sum is the divisor. That costs a reduction, so it is looked for from the step on that the tiles before needed.
 *
 * Signs do not matter until the end. The least integer is a number like any other: it converts to -2^31 exactly, and no rest has its magnitude. Products are
 * taken modulo 2^32; the rest is far from overflow even where the product is not.
 */
#ifndef REFERENCE_GCD_EUCLID_H
#define REFERENCE_GCD_EUCLID_H

#include "kernel_operator.h"

class GcdEuclid {
public:
    using Integers = AscendC::LocalTensor<int32_t>;
    using Floats = AscendC::LocalTensor<float>;
    static constexpr int64_t kBytesPerElement = 5 * sizeof(int32_t) + 1;  // two rests and two numbers as floats, a quotient; an eighth of a float, rounded up
    static constexpr int64_t kFixedBytes = 3 * 256 + 512;                 // bank pads and the number of the reduction
    static constexpr uint32_t kLanes = 64;

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) {
        const uint32_t bytes = perTile * sizeof(int32_t);
        pipe.InitBuffer(rests_[0], bytes);
        pipe.InitBuffer(floats_[0], bytes);
        pipe.InitBuffer(pad_, 256);
        pipe.InitBuffer(rests_[1], bytes);
        pipe.InitBuffer(floats_[1], bytes);
        pipe.InitBuffer(otherPad_, 256);
        pipe.InitBuffer(quotient_, bytes);
        pipe.InitBuffer(eighths_, bytes / 8);
        pipe.InitBuffer(number_, 256);
    }

    /* The two rests and the quotient are free for other uses between calls. */
    __aicore__ inline Integers Rest(int32_t index) { return rests_[index].Get<int32_t>(); }
    __aicore__ inline Floats Quotient() { return quotient_.Get<float>(); }

    /* The largest of the quotient's floats, which are not negative; those that the last 64 lack are 0. */
    __aicore__ inline float Largest(uint32_t count) {
        const auto eighths = eighths_.Get<float>(), number = number_.Get<float>();
        const uint32_t repeats = (count + kLanes - 1) / kLanes;
        AscendC::BlockReduceMax(eighths, quotient_.Get<float>(), repeats, kLanes, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::ReduceMax(number, eighths, number, repeats * 8);
        const float largest = number.GetValue(0);
        const auto read = GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_V);
        AscendC::SetFlag<AscendC::HardEvent::S_V>(read);  // the next reduction overwrites it
        AscendC::WaitFlag<AscendC::HardEvent::S_V>(read);
        return largest;
    }

    /* The divisors of x and y, which are left as they are, not negative but for the least integer. The caller's instructions on x and y are complete. */
    __aicore__ inline Integers Run(Integers x, Integers y, uint32_t count) {
        const auto quotient = quotient_.Get<float>();
        AscendC::Cast(floats_[0].Get<float>(), x, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Cast(floats_[1].Get<float>(), y, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Duplicate(quotient[(count - 1) / kLanes * kLanes], 0.0f, kLanes);  // what the last 64 lack, for IsDone
        AscendC::PipeBarrier<PIPE_V>();
        uint32_t steps = 0;
        do {
            const auto rest = Divide(x, y, steps % 2, count);
            x = y;
            y = rest;
            ++steps;
        } while (steps < expected_ || !IsDone(count));
        expected_ = steps;
        if (++tiles_ % kProbe == 0 && steps > 1) {
            expected_ = steps - 1;
        }
        return Magnitude(x, y, count);
    }

private:
    static constexpr uint32_t kProbe = 4;  // every how many tiles one step fewer is tried

    /* x - q y, in rest `turn`; the floats of x, which have the same index, become its own. */
    __aicore__ inline Integers Divide(const Integers &x, const Integers &y, uint32_t turn, uint32_t count) {
        const auto quotient = quotient_.Get<float>(), xFloat = floats_[turn].Get<float>();
        const auto whole = quotient_.Get<int32_t>(), rest = rests_[turn].Get<int32_t>();
        AscendC::Div(quotient, xFloat, floats_[1 - turn].Get<float>(), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(whole, quotient, AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(whole, whole, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sub(rest, x, whole, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(xFloat, rest, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        return rest;
    }

    /* Whether the product of the two numbers, as floats, is 0 everywhere. It may overflow, but from 1 on it does not vanish. */
    __aicore__ inline bool IsDone(uint32_t count) {
        const auto product = quotient_.Get<float>();
        AscendC::Mul(product, floats_[0].Get<float>(), floats_[1].Get<float>(), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Abs(product, product, count);
        AscendC::PipeBarrier<PIPE_V>();
        return Largest(count) == 0.0f;
    }

    /* |x + y|, in rest 0; that of the least integer is itself. */
    __aicore__ inline Integers Magnitude(const Integers &x, const Integers &y, uint32_t count) {
        const auto sum = rests_[0].Get<int32_t>(), negative = rests_[1].Get<int32_t>();
        AscendC::Add(sum, x, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(negative, sum, -1, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Max(sum, sum, negative, count);
        AscendC::PipeBarrier<PIPE_V>();
        return sum;
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> rests_[2];
    AscendC::TBuf<AscendC::TPosition::VECCALC> floats_[2];
    AscendC::TBuf<AscendC::TPosition::VECCALC> quotient_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> eighths_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> otherPad_;
    uint32_t expected_ = 1;
    uint32_t tiles_ = 0;
};

#endif  // REFERENCE_GCD_EUCLID_H
