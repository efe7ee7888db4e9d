/*
 * gelu on a tile of float32 in the unified buffer, in as few vector instructions as the result's type allows.
 *
 * "none": x Phi(x) = max(x, 0) - |x| q(|x|) with q(a) = Phi(-a) = erfc(a / sqrt 2) / 2. The tail q is never formed as 1 - Phi, so that negative x keep
 * their relative accuracy. q(a) = exp(R(a)): the logarithm of q is so smooth that a polynomial of degree 4 to 6 does. With b = |x| / 2 the factor 2 goes
 * into the polynomial, and x / 2 + |x| / 2 gives max(x, 0) and, as the definition does, NaN for -inf (0 times inf). Beyond |x| = 8 the tail is under 1e-14
 * and b is held at 4. The coefficients are minimax fits, see tools/fit_gelu.py; their largest relative error stands beside them.
 *
 * "tanh": x (1 + tanh u) / 2 = x / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3). No cancellation, and large or infinite x come out as defined.
 */
#ifndef REFERENCE_GELU_MATH_H
#define REFERENCE_GELU_MATH_H

#include "kernel_operator.h"

#include "../../../common/float_map.h"

constexpr float kLargestHalf = 4.0f;           // b is held here: |x| = 8
constexpr float kTanhLinear = -1.5957691216f;  // -2 sqrt(2 / pi)
constexpr float kTanhCubic = -0.0713548163f;   // -2 sqrt(2 / pi) 0.044715

/* ln(2 q(2 b)) on 0 <= b <= 4, constant term first. Each type gets the shortest polynomial whose error disappears in its own rounding. */
template <typename T>
struct LogTail;

template <>
struct LogTail<float> {  // largest relative error 2.9e-5, a quarter of the mean error that a float32 result may have
    static constexpr int32_t kTerms = 7;
    static constexpr float kTerm[kTerms] = {-2.8543524e-05f, -1.5949433f, -1.276805f, -0.28731757f, 0.082374126f, -0.014421544f, 0.0011285036f};
};

template <>
struct LogTail<half> {  // 2.5e-4, half a unit in the last place
    static constexpr int32_t kTerms = 6;
    static constexpr float kTerm[kTerms] = {-0.0002532776f, -1.5889554f, -1.3025846f, -0.24688126f, 0.053797852f, -0.0051380643f};
};

template <>
struct LogTail<bfloat16_t> {  // 1.5e-3, less than half a unit in the last place
    static constexpr int32_t kTerms = 5;
    static constexpr float kTerm[kTerms] = {-0.0015403371f, -1.5639852f, -1.3787818f, -0.16639015f, 0.019338798f};
};

/* y = x Phi(x), accurate enough for a result of type T. */
template <typename T>
class GeluExact {
public:
    static constexpr bool kKeepsX = true;
    static constexpr int64_t kBytesPerElement = sizeof(float);
    static constexpr int64_t kFixedBytes = 0;
    static constexpr int64_t kElementsPerLaunch = 550;  // 24 vector cycles per 64 elements

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) { pipe.InitBuffer(work_, perTile * sizeof(float)); }

    __aicore__ inline void Evaluate(const common::FloatTensor &y, const common::FloatTensor &x, uint32_t count) {
        using Tail = LogTail<T>;
        const auto work = work_.Get<float>();
        AscendC::Muls(y, x, 0.5f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Abs(x, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(y, y, x, count);  // max(x, 0)
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(x, x, kLargestHalf, count);  // b
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(work, x, Tail::kTerm[Tail::kTerms - 1], count);
        AscendC::PipeBarrier<PIPE_V>();
        for (int32_t term = Tail::kTerms - 2; term > 0; --term) {
            AscendC::Adds(work, work, Tail::kTerm[term], count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Mul(work, work, x, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
        AscendC::Adds(work, work, Tail::kTerm[0], count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(work, work, count);  // 2 q
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(x, work, x, count);  // |x| q
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sub(y, y, x, count);
    }

private:
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
};

/* y = x / (1 + exp(-2u)). */
class GeluTanh {
public:
    static constexpr bool kKeepsX = true;
    static constexpr int64_t kBytesPerElement = 0;
    static constexpr int64_t kFixedBytes = 0;
    static constexpr int64_t kElementsPerLaunch = 850;  // 15 vector cycles per 64 elements

    __aicore__ inline void Init(AscendC::TPipe &, uint32_t) {}

    __aicore__ inline void Evaluate(const common::FloatTensor &y, const common::FloatTensor &x, uint32_t count) {
        AscendC::Mul(y, x, x, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(y, y, kTanhCubic, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(y, y, kTanhLinear, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(y, y, x, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(y, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(y, y, 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Div(y, x, y, count);
    }
};

#endif  // REFERENCE_GELU_MATH_H
