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

#include "gcd_digits.h"

class GcdEuclid {
public:
    static constexpr uint32_t kLanes = 64;
    static constexpr int64_t kBytesPerElement = 5 * sizeof(int32_t) + 1;  // two rests, both numbers as floats, a product; an eighth of a float, rounded up
    static constexpr int64_t kFixedBytes = 5 * 256 + 512;                 // bank pads, the number of a reduction

    /* Sources of one instruction lie 256 bytes off from each other modulo 512, so that they are not read in turn: rest 0 against rest 1, and so on. */
    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) {
        constexpr uint32_t kPad = 256;
        const uint32_t bytes = perTile * sizeof(int32_t);
        for (int32_t index = 0; index < 2; ++index) {
            pipe.InitBuffer(pads_[index], kPad);
            pipe.InitBuffer(rests_[index], bytes);
            pipe.InitBuffer(floats_[index], bytes);
        }
        pipe.InitBuffer(pads_[2], kPad);
        pipe.InitBuffer(product_, bytes + kPad);
        pipe.InitBuffer(eighths_, bytes / 8);
        pipe.InitBuffer(number_, kPad);
    }

    /* Memory of a tile each; between calls it is free for other uses. */
    __aicore__ inline Integers Rest(int32_t index) { return rests_[index].Get<int32_t>(); }
    __aicore__ inline Floats Number(int32_t index) { return floats_[index].Get<float>(); }
    __aicore__ inline Floats Product() { return product_.Get<float>(); }

    /* Both numbers as floats. */
    __aicore__ inline void Begin(const Integers &x, const Integers &y, uint32_t count) {
        AscendC::Cast(Number(0), x, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Cast(Number(1), y, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* After Begin: the divisors, not negative but for the least integer. x and y are left as they are. */
    __aicore__ inline Integers Run(Integers x, Integers y, uint32_t count) {
        uint32_t steps = 0;
        do {
            const auto rest = Divide(x, y, steps % 2, count);
            x = y;
            y = rest;
            ++steps;
        } while (steps < expected_ || LargestProduct(Number(0), Number(1), count) != 0.0f);
        expected_ = ++tiles_ % kProbe == 0 && steps > 1 ? steps - 1 : steps;
        return Magnitude(x, y, count);
    }

    /* Of the magnitudes of x y. The product may overflow, but of integers it only vanishes if one is 0. */
    __aicore__ inline float LargestProduct(const Floats &x, const Floats &y, uint32_t count) {
        const auto product = Product();
        AscendC::Duplicate(product[(count - 1) / kLanes * kLanes], 0.0f, kLanes);  // what the last 64 lack
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(product, x, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Abs(product, product, count);
        AscendC::PipeBarrier<PIPE_V>();
        return Largest(count);
    }

    /* Of the magnitudes of x and y; `spare` is overwritten. */
    __aicore__ inline float LargestNumber(const Floats &x, const Floats &y, const Floats &spare, uint32_t count) {
        const auto product = Product();
        AscendC::Duplicate(product[(count - 1) / kLanes * kLanes], 0.0f, kLanes);
        AscendC::Abs(spare, x, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Abs(product, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Max(product, product, spare, count);
        AscendC::PipeBarrier<PIPE_V>();
        return Largest(count);
    }

private:
    static constexpr uint32_t kProbe = 4;  // every how many tiles one step fewer is tried

    /* x - q y, in rest `turn`; the floats of x, which have the same index, become its own. */
    __aicore__ inline Integers Divide(const Integers &x, const Integers &y, uint32_t turn, uint32_t count) {
        const auto number = Number(turn);
        const auto quotient = number.ReinterpretCast<int32_t>(), rest = Rest(turn), product = product_.Get<int32_t>()[turn == 0 ? kLanes : 0];
        AscendC::Div(number, number, Number(1 - turn), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(quotient, number, AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(product, quotient, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sub(rest, x, product, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(number, rest, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        return rest;
    }

    /* Of the floats in `product`. */
    __aicore__ inline float Largest(uint32_t count) {
        const auto eighths = eighths_.Get<float>(), number = number_.Get<float>();
        const uint32_t repeats = (count + kLanes - 1) / kLanes;
        AscendC::BlockReduceMax(eighths, Product(), repeats, kLanes, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::ReduceMax(number, eighths, number, repeats * 8);
        const float largest = number.GetValue(0);
        const auto read = GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_V);
        AscendC::SetFlag<AscendC::HardEvent::S_V>(read);  // the next reduction overwrites it
        AscendC::WaitFlag<AscendC::HardEvent::S_V>(read);
        return largest;
    }

    /* |x + y|, in rest 0; that of the least integer is itself. */
    __aicore__ inline Integers Magnitude(const Integers &x, const Integers &y, uint32_t count) {
        const auto sum = Rest(0), negative = Rest(1);
        AscendC::Add(sum, x, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(negative, sum, -1, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Max(sum, sum, negative, count);
        AscendC::PipeBarrier<PIPE_V>();
        return sum;
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> pads_[3];
    AscendC::TBuf<AscendC::TPosition::VECCALC> rests_[2];
    AscendC::TBuf<AscendC::TPosition::VECCALC> floats_[2];
    AscendC::TBuf<AscendC::TPosition::VECCALC> product_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> eighths_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    uint32_t expected_ = 1;
    uint32_t tiles_ = 0;
};

#endif  // REFERENCE_GCD_EUCLID_H
