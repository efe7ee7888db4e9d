/*
 * Greatest common divisors of two pieces of int64 of which some numbers need more than 32 bits, on a vector unit without 64-bit arithmetic.
 *
 * Euclid's algorithm as in gcd_euclid.h: quotients by way of float32, rests in integers, and whatever integer a quotient is, the step keeps the divisor. A
 * number is high 2^32 + middle 2^16 + low, high signed, the others in 0 to 65535, each in a tensor of int32. So is a quotient, p 2^32 + q 2^16 + r, but with q
 * and r in -2^15 to 2^15: so all products of two small parts fit into 32 bits. The rest is summed up in digits of 16 bits with signed carries; only its high
 * part may wrap, modulo 2^64 as it has to.
 *
 * As soon as all numbers are short they go the short way; where a divisor itself is long, steps go on until one number of each pair is 0.
 */
#ifndef REFERENCE_GCD_LONG_H
#define REFERENCE_GCD_LONG_H

#include "gcd_digits.h"
#include "gcd_euclid.h"

class GcdLong {
public:
    using Longs = AscendC::LocalTensor<int64_t>;
    static constexpr float kShort = 2147483648.0f;  // 2^31, for magnitudes as floats

    /*
     * Tensors of half a tile, `perPart` elements, made of those of the short way, whose arguments `x` and `y` are: eight for two numbers and their floats, and
     * six others, of which the short way needs two.
     */
    __aicore__ inline void Init(GcdEuclid &euclid, const Integers &x, const Integers &y, uint32_t perPart) {
        const auto product = euclid.Product().ReinterpretCast<int32_t>();
        euclid_ = &euclid;
        perPart_ = perPart;
        for (int32_t index = 0; index < 2; ++index) {
            const auto rest = euclid.Rest(index), number = euclid.Number(index).ReinterpretCast<int32_t>();
            numbers_[index] = {rest, rest[perPart], number};
            floats_[index] = number[perPart].ReinterpretCast<float>();
            shorts_[index] = index == 0 ? x : y;
            others_[index] = product[index * perPart];
            others_[2 + index] = shorts_[index];
            others_[4 + index] = shorts_[index][perPart];
        }
    }

    __aicore__ inline void Run(const Longs &y, const Longs &a, const Longs &b, uint32_t count) {
        const Ordered ordered(count);
        AscendC::PipeBarrier<PIPE_V>();
        Split(numbers_[0], a, count);
        Split(numbers_[1], b, count);
        for (int32_t index = 0; index < 2; ++index) {
            ordered.ToFloat(floats_[index], numbers_[index], others_[0].ReinterpretCast<float>());
        }
        int32_t turn = 0;
        while (euclid_->LargestNumber(floats_[0], floats_[1], others_[5].ReinterpretCast<float>(), count) >= kShort) {
            if (euclid_->LargestProduct(floats_[0], floats_[1], count) == 0.0f) {
                Join(y, count);
                return;
            }
            Divide(numbers_[turn], numbers_[1 - turn], turn, ordered, count);
            turn = 1 - turn;
        }
        for (int32_t index = 0; index < 2; ++index) {
            ordered.ToWord(shorts_[index], numbers_[index]);
        }
        euclid_->Begin(shorts_[0], shorts_[1], count);
        AscendC::Cast(y, euclid_->Run(shorts_[0], shorts_[1], count), AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    /* Low and high words lie side by side: Gather takes every other one. */
    __aicore__ inline void Split(const Digits &to, const Longs &from, uint32_t count) {
        const auto offsets = others_[0], low = others_[1];
        const auto words = from.ReinterpretCast<int32_t>();
        AscendC::CreateVecIndex(offsets, 0, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(offsets, offsets, static_cast<int32_t>(sizeof(int64_t)), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Gather(low, words, offsets.ReinterpretCast<uint32_t>(), 0, count);
        AscendC::Gather(to.high, words, offsets.ReinterpretCast<uint32_t>(), sizeof(int32_t), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::ShiftRight(to.middle.ReinterpretCast<uint32_t>(), low.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(Ordered::kDigit), count);
        AscendC::Adds(to.low, low, 0, count);
        AscendC::PipeBarrier<PIPE_V>();
        Ordered(count).KeepLow(to.low);
    }

    /* x = x - quotient y, and its float. */
    __aicore__ inline void Divide(const Digits &x, const Digits &y, int32_t turn, const Ordered &ordered, uint32_t count) {
        const auto p = others_[0], q = others_[1], r = others_[2], product = others_[3], carry = others_[4];
        AscendC::Div(floats_[turn], floats_[turn], floats_[1 - turn], count);
        AscendC::PipeBarrier<PIPE_V>();
        TakeApart(floats_[turn], p, q, r, ordered, count);
        // Digits: r low, then r middle + q low, each product taken apart at once.
        ordered.Multiply(product, r, y.low);
        ordered.Carry(carry, product);
        ordered.Subtract(x.low, product);
        ordered.Subtract(x.middle, carry);
        SubtractAt(x.middle, x.high, r, y.middle, ordered);
        SubtractAt(x.middle, x.high, q, y.low, ordered);
        ordered.Carry(carry, x.low);
        ordered.Add(x.middle, x.middle, carry);
        ordered.Carry(carry, x.middle);
        ordered.Add(x.high, x.high, carry);
        // The high word: r high + q middle + p low + 2^16 (q high + p middle), modulo 2^32.
        ordered.Multiply(product, q, y.high);
        ordered.Multiply(carry, p, y.middle);
        ordered.Add(product, product, carry);
        ordered.Left(product, product, Ordered::kDigit);
        ordered.Subtract(x.high, product);
        SubtractProduct(x.high, r, y.high, ordered);
        SubtractProduct(x.high, q, y.middle, ordered);
        SubtractProduct(x.high, p, y.low, ordered);
        ordered.ToFloat(floats_[turn], x, product.ReinterpretCast<float>());
    }

    /* An integer near `quotient`, which is overwritten, in three parts. */
    __aicore__ inline void TakeApart(const Floats &quotient, const Integers &p, const Integers &q, const Integers &r, const Ordered &ordered, uint32_t count) {
        constexpr float kWord = 4294967296.0f;  // 2^32
        const auto part = q.ReinterpretCast<float>();
        AscendC::Muls(part, quotient, 1.0f / kWord, count);
        AscendC::PipeBarrier<PIPE_V>();
        ordered.ToInteger(p, part);
        ordered.ToFloat(part, p);
        AscendC::Axpy(quotient, part, -kWord, count);
        AscendC::PipeBarrier<PIPE_V>();
        ordered.ToInteger(q, quotient);
        ordered.Left(r, q, Ordered::kDigit);
        ordered.Right(r, r, Ordered::kDigit);
        ordered.Subtract(q, r);
        ordered.Right(q, q, Ordered::kDigit);
    }

    /* Takes the product of two parts off a digit and the one above it. */
    __aicore__ inline void SubtractAt(const Integers &digit, const Integers &above, const Integers &a, const Integers &b, const Ordered &ordered) {
        const auto product = others_[3], carry = others_[4];
        ordered.Multiply(product, a, b);
        ordered.Carry(carry, product);
        ordered.Subtract(digit, product);
        ordered.Subtract(above, carry);
    }

    __aicore__ inline void SubtractProduct(const Integers &from, const Integers &a, const Integers &b, const Ordered &ordered) {
        ordered.Multiply(others_[3], a, b);
        ordered.Subtract(from, others_[3]);
    }

    /* y = |x + z|, of which one is 0 everywhere. */
    __aicore__ inline void Join(const Longs &y, uint32_t count) {
        const Ordered ordered(count);
        const Digits &x = numbers_[0], &z = numbers_[1];
        const auto sign = others_[2], carry = others_[3];
        ordered.Add(x.high, x.high, z.high);
        ordered.Add(x.middle, x.middle, z.middle);
        ordered.Add(x.low, x.low, z.low);
        ordered.Right(sign, x.high, 31);
        ordered.Scale(sign, sign, 2);
        AscendC::Adds(sign, sign, 1, count);
        AscendC::PipeBarrier<PIPE_V>();
        ordered.Multiply(x.low, x.low, sign);
        ordered.Multiply(x.middle, x.middle, sign);
        ordered.Multiply(others_[1], x.high, sign);
        ordered.Carry(carry, x.low);
        ordered.Add(x.middle, x.middle, carry);
        ordered.Carry(carry, x.middle);
        ordered.Add(others_[1], others_[1], carry);
        ordered.ToWord(others_[0], x);
        Interleave(y, count);
    }

    /* y's words from others 0 (low) and 1 (high), which follow one another. Tensors of twice the length: index, and what the short way has as rest 0 and x. */
    __aicore__ inline void Interleave(const Longs &y, uint32_t count) {
        const auto index = euclid_->Rest(0), even = euclid_->Rest(1), offsets = shorts_[0];
        const Ordered ordered(2 * count);
        AscendC::CreateVecIndex(index, 0, 2 * count);
        AscendC::PipeBarrier<PIPE_V>();
        ordered.Right(offsets, index, 1);
        ordered.Left(even, offsets, 1);
        ordered.Subtract(index, even);
        ordered.Scale(index, index, perPart_ * sizeof(int32_t));
        ordered.Scale(offsets, offsets, sizeof(int32_t));
        ordered.Add(offsets, offsets, index);
        AscendC::Gather(y.ReinterpretCast<int32_t>(), euclid_->Product().ReinterpretCast<int32_t>(), offsets.ReinterpretCast<uint32_t>(), 0, 2 * count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    GcdEuclid *euclid_;
    Digits numbers_[2];
    Floats floats_[2];
    Integers shorts_[2];
    Integers others_[6];
    uint32_t perPart_;
};

#endif  // REFERENCE_GCD_LONG_H
