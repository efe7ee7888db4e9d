/*
 * The arithmetic of a norm on float32 tiles: what becomes of an element, how two of them join, and what becomes of the total.
 *
 * Orders 0, 1, 2 and the infinite ones take one or two instructions; any other goes by way of the logarithm, |x|^p = exp(p ln |x|), whose special values are
 * those of the definition: 0 gives exp(-inf) = 0 for p > 0 and +inf for p < 0, and a NaN stays one.
 * No page says what Max and Min make of a NaN, so extremes are found among integers: the bits of magnitudes are ordered as these are, with NaN above infinity.
 * For the smallest one they are turned round, (bits of infinity - bits) modulo 2^31, which puts NaN on top again and is its own inverse.
 * An element counts for order 0 when any bit but its sign is set: integers, exact to 2^31 per lane, and NaN and subnormals need no case of their own.
 */
#ifndef REFERENCE_NORM_STEPS_H
#define REFERENCE_NORM_STEPS_H

#include "kernel_operator.h"

using FloatTensor = AscendC::LocalTensor<float>;

enum class NormKind : int32_t { kNonzeros, kMagnitudes, kSquares, kLargest, kSmallest, kPowers };

constexpr uint32_t kLanes = 64;  // floats of one repeat

class NormSteps {
public:
    __aicore__ inline void Init(NormKind kind, float order, float root) {
        kind_ = kind;
        order_ = order;
        root_ = root;
    }

    /* `count` lanes that change nothing. */
    __aicore__ inline void Clear(const FloatTensor &total, uint32_t count) {
        AscendC::Duplicate(total, 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* x becomes what is added up. */
    __aicore__ inline void Raise(const FloatTensor &x, uint32_t count) {
        if (kind_ == NormKind::kSquares) {
            AscendC::Mul(x, x, x, count);
        } else {
            AscendC::Abs(x, x, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        if (kind_ == NormKind::kNonzeros) {
            const auto bits = x.ReinterpretCast<int32_t>();
            AscendC::Mins(bits, bits, 1, count);
            AscendC::PipeBarrier<PIPE_V>();
        } else if (kind_ == NormKind::kSmallest) {
            TurnRound(x, count);
        } else if (kind_ == NormKind::kPowers) {
            Power(x, order_, count);
        }
    }

    /* total = total joined with x, lane by lane; both raised. */
    __aicore__ inline void Join(const FloatTensor &total, const FloatTensor &x, uint32_t count) {
        if (kind_ == NormKind::kNonzeros) {
            const auto sum = total.ReinterpretCast<int32_t>();
            AscendC::Add(sum, sum, x.ReinterpretCast<int32_t>(), count);
            AscendC::PipeBarrier<PIPE_V>();
        } else {
            JoinFloats(total, x, count);
        }
    }

    /* The first 64 lanes of `total` become those of its `count` (a multiple of 64) lanes, as floats: halves join until one is left. */
    __aicore__ inline void Fold(const FloatTensor &total, uint32_t count) {
        for (uint32_t rows = count / kLanes; rows > 1; rows -= rows / 2) {
            Join(total, total[(rows - rows / 2) * kLanes], rows / 2 * kLanes);
        }
        if (kind_ == NormKind::kNonzeros) {
            AscendC::Cast(total, total.ReinterpretCast<int32_t>(), AscendC::RoundMode::CAST_RINT, kLanes);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* The same for lanes that Fold has made. */
    __aicore__ inline void FoldFloats(const FloatTensor &total, uint32_t count) {
        for (uint32_t rows = count / kLanes; rows > 1; rows -= rows / 2) {
            JoinFloats(total, total[(rows - rows / 2) * kLanes], rows / 2 * kLanes);
        }
    }

    /* norm[0] of 64 lanes, in a tensor of 64; total is overwritten. */
    __aicore__ inline void Finish(const FloatTensor &norm, const FloatTensor &total) {
        if (kind_ == NormKind::kLargest || kind_ == NormKind::kSmallest) {
            FinishExtreme(norm, total);
            return;
        }
        AscendC::WholeReduceSum(norm, total, kLanes, 1, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
        if (kind_ == NormKind::kSquares) {
            AscendC::Sqrt(norm, norm, 1);
            AscendC::PipeBarrier<PIPE_V>();
        } else if (kind_ == NormKind::kPowers) {
            Power(norm, root_, 1);
        }
    }

private:
    static constexpr int32_t kInfinityBits = 0x7f800000;
    static constexpr uint32_t kBlock = 8;  // floats of a block

    /* Halves join down to a block, whose 8 lanes Brcb spreads to a block each, and these join again: a reduction without one of floats. */
    __aicore__ inline void FinishExtreme(const FloatTensor &norm, const FloatTensor &total) {
        JoinDown(total);
        AscendC::Brcb(norm, total, 1, AscendC::BrcbRepeatParams(1, 8));
        AscendC::PipeBarrier<PIPE_V>();
        JoinDown(norm);
        if (kind_ == NormKind::kSmallest) {
            TurnRound(norm, kBlock);
        }
    }

    /* 64 lanes to 8. */
    __aicore__ inline void JoinDown(const FloatTensor &total) {
        for (uint32_t lanes = kLanes / 2; lanes >= kBlock; lanes /= 2) {
            JoinFloats(total, total[lanes], lanes);
        }
    }

    __aicore__ inline void TurnRound(const FloatTensor &x, uint32_t count) {
        const auto bits = x.ReinterpretCast<int32_t>();
        const auto plain = x.ReinterpretCast<uint32_t>();
        AscendC::Muls(bits, bits, -1, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(bits, bits, kInfinityBits, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::ShiftLeft(plain, plain, 1U, count);  // the sign bit goes
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::ShiftRight(plain, plain, 1U, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Power(const FloatTensor &x, float exponent, uint32_t count) {
        AscendC::Ln(x, x, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(x, x, exponent, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(x, x, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void JoinFloats(const FloatTensor &total, const FloatTensor &x, uint32_t count) {
        if (kind_ == NormKind::kLargest || kind_ == NormKind::kSmallest) {
            const auto most = total.ReinterpretCast<int32_t>();
            AscendC::Max(most, most, x.ReinterpretCast<int32_t>(), count);
        } else {
            AscendC::Add(total, total, x, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    NormKind kind_;
    float order_;
    float root_;
};

#endif  // REFERENCE_NORM_STEPS_H
