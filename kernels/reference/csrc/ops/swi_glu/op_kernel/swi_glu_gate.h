/*
 * a * sigmoid(a) in float32, as a / (1 + exp(-a)).
 *
 * Large numbers need no care: exp(-a) = inf makes it 0 with the sign of a, a = -inf gives NaN as the definition does.
 */
#ifndef REFERENCE_SWI_GLU_GATE_H
#define REFERENCE_SWI_GLU_GATE_H

#include "kernel_operator.h"

using FloatTensor = AscendC::LocalTensor<float>;

/* gated must be another tensor than a. Ends with a barrier. */
__aicore__ inline void Gate(const FloatTensor &gated, const FloatTensor &a, uint32_t count) {
    AscendC::Muls(gated, a, -1.0f, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(gated, gated, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(gated, gated, 1.0f, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(gated, a, gated, count);
    AscendC::PipeBarrier<PIPE_V>();
}

/* y = a * sigmoid(a) * b for 16-bit types, in two float32 tensors; y may be none of the others. */
template <typename T>
__aicore__ inline void GateWidened(const AscendC::LocalTensor<T> &y, const AscendC::LocalTensor<T> &a, const AscendC::LocalTensor<T> &b,
                                   const FloatTensor &gated, const FloatTensor &wide, uint32_t count) {
    AscendC::Cast(wide, a, AscendC::RoundMode::CAST_NONE, count);
    AscendC::PipeBarrier<PIPE_V>();
    Gate(gated, wide, count);
    AscendC::Cast(wide, b, AscendC::RoundMode::CAST_NONE, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(gated, gated, wide, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Cast(y, gated, AscendC::RoundMode::CAST_RINT, count);
}

#endif  // REFERENCE_SWI_GLU_GATE_H
