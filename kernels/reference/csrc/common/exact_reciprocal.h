/*
 * A reciprocal that is right in its last place, whatever the division instruction makes of it.
 *
 * Problem: how exact Div is on the chip is not published, and where a product with the reciprocal nearly cancels against a summand, its error is all that is
 * left. Approach: one step of Newton's, r += r (1 - s r), with s r to twice the digits: both factors are split into halves of 12 bits, whose products are
 * exact. Limits: numbers below 2^115; infinity becomes NaN.
 */
#ifndef REFERENCE_EXACT_RECIPROCAL_H
#define REFERENCE_EXACT_RECIPROCAL_H

#include "row_vector.h"

namespace common {

constexpr uint32_t kPolishTensors = 5;  // of `count` floats, rounded up to whole blocks

/* high + low = x, 12 bits each */
__aicore__ inline void SplitFloat(const FloatRows &high, const FloatRows &low, const FloatRows &x, uint32_t count) {
    constexpr float kSplit = 4097.0f;  // 2^12 + 1
    AscendC::Muls(high, x, kSplit, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(low, high, x, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(high, high, low, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(low, x, high, count);
    AscendC::PipeBarrier<PIPE_V>();
}

/* sum += a b; overwrites `product` */
__aicore__ inline void AddProduct(const FloatRows &sum, const FloatRows &a, const FloatRows &b, const FloatRows &product, uint32_t count) {
    AscendC::Mul(product, a, b, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(sum, sum, product, count);
    AscendC::PipeBarrier<PIPE_V>();
}

/* r, nearly 1 / s, becomes nearer; s is overwritten, and `work`, kPolishTensors tensors in a row. */
__aicore__ inline void PolishReciprocal(const FloatRows &r, const FloatRows &s, const FloatRows &work, uint32_t count) {
    const uint32_t apart = (count + kBlockFloats - 1) / kBlockFloats * kBlockFloats;
    const auto sHigh = work, sLow = work[apart], rHigh = work[2 * apart], rLow = work[3 * apart], beyond = work[4 * apart];
    SplitFloat(sHigh, sLow, s, count);
    SplitFloat(rHigh, rLow, r, count);
    AscendC::Mul(beyond, sHigh, rHigh, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(beyond, beyond, -1.0f, count);
    AscendC::PipeBarrier<PIPE_V>();
    AddProduct(beyond, sHigh, rLow, s, count);
    AddProduct(beyond, sLow, rHigh, s, count);
    AddProduct(beyond, sLow, rLow, s, count);
    AscendC::Mul(beyond, beyond, r, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(r, r, beyond, count);
    AscendC::PipeBarrier<PIPE_V>();
}

}  // namespace common

#endif  // REFERENCE_EXACT_RECIPROCAL_H
