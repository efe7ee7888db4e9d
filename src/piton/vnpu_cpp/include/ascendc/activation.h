/*
 * Sigmoid, Tanh, Sign, Gelu, FasterGelu, FasterGeluV2, Swish, Silu, GeGLU, SwiGLU, ReGlu.
 *
 * Problem and approach: as composed.h. 1 / (1 + exp(-x)); (exp(2x) - 1) / (exp(2x) + 1) of x cut at where a float's tanh is 1; the sign by multiplying until
 * everything but 0 is beyond 1, cut at 1; what is called Gelu is the documented approximation by tanh in its form x / (1 + exp(...)), the faster ones
 * x / (1 + exp(-1.702 x)) and the piecewise parabola of I-BERT; the gated units are src0 times the function of src1.
 * Limits: half and float. Tanh loses what is small beside 1: its error is absolute. The configurations of Tanh are of later chips; the template arguments
 * highPrecision and highPerformance have no effect: halves always go through float.
 */
#ifndef PITON_ASCENDC_ACTIVATION_H
#define PITON_ASCENDC_ACTIVATION_H

#include "composed.h"

namespace piton {

struct SigmoidFunction {
    static constexpr uint32_t kSlots = 1, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        steps.Muls(dst, x, -1.0f);
        steps.Exp(dst, dst);
        steps.Adds(dst, dst, 1.0f);
        steps.Set(steps.Slot(0), 1.0f);
        steps.Div(dst, steps.Slot(0), dst);
    }
};

struct TanhFunction {
    static constexpr uint32_t kSlots = 1, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        constexpr float kOneFrom = 9.1f; /* 1 - tanh of it is less than half an ulp */
        steps.Cut(dst, x, kOneFrom);
        steps.Muls(dst, dst, 2.0f);
        steps.Exp(dst, dst);
        steps.Adds(steps.Slot(0), dst, 1.0f);
        steps.Adds(dst, dst, -1.0f);
        steps.Div(dst, dst, steps.Slot(0));
    }
};

/* Twice, since the smallest subnormal times the largest factor is still below 1. */
struct SignFunction {
    static constexpr uint32_t kSlots = 0, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        constexpr float kLarge = 3e38f;
        steps.Muls(dst, x, kLarge);
        steps.Cut(dst, dst, 1.0f);
        steps.Muls(dst, dst, kLarge);
        steps.Cut(dst, dst, 1.0f);
    }
};

/* gate = 1 + exp(-beta x). */
PITON_API void SwishGate(const FloatTensor &gate, const FloatTensor &x, float beta, const FloatSteps &steps) {
    steps.Muls(gate, x, -beta);
    steps.Exp(gate, gate);
    steps.Adds(gate, gate, 1.0f);
}

/* gate = 1 + exp(-2 root(2 / pi) (x + 0.044715 x^3)). */
PITON_API void GeluGate(const FloatTensor &gate, const FloatTensor &x, const FloatSteps &steps) {
    constexpr float kFactor = -1.59576912f, kCubic = 0.044715f;
    steps.Mul(gate, x, x);
    steps.Muls(gate, gate, kFactor * kCubic);
    steps.Adds(gate, gate, kFactor);
    steps.Mul(gate, gate, x);
    steps.Exp(gate, gate);
    steps.Adds(gate, gate, 1.0f);
}

struct SwishFunction {
    static constexpr uint32_t kSlots = 1, kSources = 1;
    float beta;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        SwishGate(steps.Slot(0), x, beta, steps);
        steps.Div(dst, x, steps.Slot(0));
    }
};

struct GeluFunction {
    static constexpr uint32_t kSlots = 1, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        GeluGate(steps.Slot(0), x, steps);
        steps.Div(dst, x, steps.Slot(0));
    }
};

/* x (1/2 + sign(x) (1/2 - 0.1444 (min(|x| / root 2, 1.769) - 1.769)^2)). */
struct FasterGeluV2Function {
    static constexpr uint32_t kSlots = 2, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        constexpr float kOneByRoot = 0.70710678f, kEnd = 1.769f, kCurve = -0.1444f;
        const FloatTensor part = steps.Slot(0), scratch = steps.Slot(1);
        steps.Abs(part, x);
        steps.Muls(part, part, kOneByRoot);
        steps.Mins(part, part, kEnd);
        steps.Adds(part, part, -kEnd);
        steps.Mul(part, part, part);
        steps.Muls(part, part, kCurve);
        steps.Adds(part, part, 0.5f);
        steps.Maxs(part, part, 0.0f); /* at 0 the curve is not quite */
        steps.CopySign(part, part, x, scratch);
        steps.Adds(part, part, 0.5f);
        steps.Mul(dst, part, x);
    }
};

struct GegluFunction {
    static constexpr uint32_t kSlots = 1, kSources = 2;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &y, const FloatSteps &steps) const {
        GeluGate(steps.Slot(0), y, steps);
        steps.Div(steps.Slot(0), y, steps.Slot(0));
        steps.Mul(dst, x, steps.Slot(0));
    }
};

struct SwigluFunction {
    static constexpr uint32_t kSlots = 1, kSources = 2;
    float beta;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &y, const FloatSteps &steps) const {
        SwishGate(steps.Slot(0), y, beta, steps);
        steps.Div(steps.Slot(0), y, steps.Slot(0));
        steps.Mul(dst, x, steps.Slot(0));
    }
};

struct RegluFunction {
    static constexpr uint32_t kSlots = 1, kSources = 2;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &y, const FloatSteps &steps) const {
        steps.Relu(steps.Slot(0), y);
        steps.Mul(dst, x, steps.Slot(0));
    }
};

}  // namespace piton

PITON_COMPOSED_UNARY(Sigmoid, SigmoidFunction{})
PITON_COMPOSED_UNARY(Tanh, TanhFunction{})
PITON_COMPOSED_UNARY(Sign, SignFunction{})
PITON_COMPOSED_COUNT(Gelu, GeluFunction{})
PITON_COMPOSED_COUNT(FasterGelu, SwishFunction{1.702f})
PITON_COMPOSED_COUNT(FasterGeluV2, FasterGeluV2Function{})
PITON_COMPOSED_COUNT(Silu, SwishFunction{1.0f})
PITON_COMPOSED_BINARY(GeGLU, GegluFunction{})
PITON_COMPOSED_BINARY(ReGlu, RegluFunction{})

namespace AscendC {

template <typename T, bool isReuseSource = false>
PITON_API void Swish(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, uint32_t dataSize, const T scalarValue,
                     piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Swish", piton::kIsFloat<T>, "half, float");
    const auto memory = piton::ComposedMemory<piton::SwishFunction, T>(at);
    piton::Compose("Swish", piton::SwishFunction{static_cast<float>(scalarValue)}, dstLocal, {srcLocal, srcLocal}, memory, dataSize, at);
}

template <typename T, bool isReuseSource = false>
PITON_API void SwiGLU(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor0, const LocalTensor<T> &srcTensor1, const float &scalarValue,
                      const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("SwiGLU", piton::kIsFloat<T>, "half, float");
    piton::Compose("SwiGLU", piton::SwigluFunction{scalarValue}, dstTensor, {srcTensor0, srcTensor1}, sharedTmpBuffer, calCount, at);
}
template <typename T, bool isReuseSource = false>
PITON_API void SwiGLU(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor0, const LocalTensor<T> &srcTensor1, const float &scalarValue,
                      const uint32_t calCount, piton::Location at = piton::Location()) {
    SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, piton::ComposedMemory<piton::SwigluFunction, T>(at), calCount, at);
}
template <typename T, bool isReuseSource = false>
PITON_API void SwiGLU(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor0, const LocalTensor<T> &srcTensor1, const float &scalarValue,
                      const LocalTensor<uint8_t> &sharedTmpBuffer, piton::Location at = piton::Location()) {
    SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, sharedTmpBuffer, srcTensor0.GetSize(), at);
}
template <typename T, bool isReuseSource = false>
PITON_API void SwiGLU(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor0, const LocalTensor<T> &srcTensor1, const float &scalarValue,
                      piton::Location at = piton::Location()) {
    SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, srcTensor0.GetSize(), at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_ACTIVATION_H */
