/*
 * Numbers that depend on a lane's place only, made by the vector unit: a scalar loop would take 12 cycles for each.
 *
 * Quotients go through float32: (i + 1/2) / d is at least 1 / 2d from an integer and its error at most i / d * 2^-23, so that rounding down is exact for all
 * i below 2^22.
 */
#ifndef REFERENCE_LANE_PATTERN_H
#define REFERENCE_LANE_PATTERN_H

#include "kernel_operator.h"

namespace common {

/* quotient[i] = factor * (i / divisor), i from 0 to count - 1. */
__aicore__ inline void FillQuotients(const AscendC::LocalTensor<int32_t> &quotient, int32_t divisor, int32_t factor, uint32_t count) {
    const auto wide = quotient.template ReinterpretCast<float>();
    AscendC::CreateVecIndex(quotient, static_cast<int32_t>(0), count);
    AscendC::PipeBarrier<PIPE_V>();
    if (divisor > 1) {
        AscendC::Cast(wide, quotient, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(wide, wide, 0.5f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(wide, wide, 1.0f / static_cast<float>(divisor), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(quotient, wide, AscendC::RoundMode::CAST_FLOOR, count);
        AscendC::PipeBarrier<PIPE_V>();
    }
    AscendC::Muls(quotient, quotient, factor, count);
    AscendC::PipeBarrier<PIPE_V>();
}

}  // namespace common

#endif  // REFERENCE_LANE_PATTERN_H
