/*
 * A float32 sum of a term and a quotient, s + n / d, where the two nearly cancel.
 *
 * Problem: a quotient's error in its last place stays behind when the sum is small, and how exact Div is on the chip is not published.
 * Approach: where the sum is below an eighth of s, it is formed before the division, (s d + n) / d: its error there is that of two products, and the
 * division's is one in the last place of the result. Elsewhere, and wherever something is infinite or NaN, the sum stays as it is: s d may overflow there.
 * Limits: s, n and d are overwritten; Select keeps its own 8 KiB at the end of the unified buffer, which nothing else may use. Tiles have to be whole
 * multiples of 64 floats long.
 */
#ifndef REFERENCE_CANCELLATION_H
#define REFERENCE_CANCELLATION_H

#include "kernel_operator.h"

namespace common {

constexpr int64_t kSelectBytes = 8192;

__aicore__ inline void ReplaceCancelled(const AscendC::LocalTensor<float> &sum, const AscendC::LocalTensor<float> &s, const AscendC::LocalTensor<float> &n,
                                        const AscendC::LocalTensor<float> &d, const AscendC::LocalTensor<float> &work, uint32_t count) {
    constexpr float kCancelled = 0.125f;
    constexpr uint32_t kWhole = 64;  // Compare leaves out what is not a whole repeat
    const auto isCancelled = d.ReinterpretCast<uint8_t>();
    AscendC::Mul(work, s, d, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(work, work, n, count);
    AscendC::Abs(s, s, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(work, work, d, count);
    AscendC::Abs(n, sum, count);
    AscendC::Muls(s, s, kCancelled, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Compare(isCancelled, n, s, AscendC::CMPMODE::LT, (count + kWhole - 1) / kWhole * kWhole);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Select(sum, isCancelled, work, sum, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
}

}  // namespace common

#endif  // REFERENCE_CANCELLATION_H
