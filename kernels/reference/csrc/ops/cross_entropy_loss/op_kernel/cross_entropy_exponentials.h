/*
 * e^x, and 1 for 0, which the instruction may miss: how exact it is on the chip is not published. The largest score's share of s is all but the loss where
 * this is small, so that an error there would be as large as the loss.
 */
#ifndef REFERENCE_CROSS_ENTROPY_EXPONENTIALS_H
#define REFERENCE_CROSS_ENTROPY_EXPONENTIALS_H

#include "../../../common/row_vector.h"

class CappedExponentials {
public:
    /* Asks the chip once; `one` has room for a block and is overwritten. */
    __aicore__ inline void Init(const common::FloatRows &one) {
        AscendC::Duplicate(one, 0.0f, common::kBlockFloats);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(one, one, common::kBlockFloats);
        missing_ = 1.0f - common::FirstOf(one);
    }

    /* x = e^x for x of at most 0. */
    __aicore__ inline void Run(const common::FloatRows &x, uint32_t count) const {
        constexpr float kAboveOne = 1.00000012f;
        AscendC::Exp(x, x, count);
        AscendC::PipeBarrier<PIPE_V>();
        if (missing_ > 0.0f) {
            AscendC::Muls(x, x, kAboveOne, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
        if (missing_ != 0.0f) {
            AscendC::Mins(x, x, 1.0f, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

private:
    float missing_;  // of exp(0) to 1
};

#endif  // REFERENCE_CROSS_ENTROPY_EXPONENTIALS_H
