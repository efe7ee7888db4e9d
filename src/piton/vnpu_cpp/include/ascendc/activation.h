/*
 * Sigmoid, Tanh, Sign: functions made of instructions that need memory of their own.
 *
 * Problem: the vendor's library composes these; what of is not published, what comes out is.
 * Approach: in float, in parts that fit the memory: 1 / (1 + exp(-x)); (exp(2x) - 1) / (exp(2x) + 1) of x cut at where a float's tanh is 1; the sign by
 * multiplying until everything but 0 is beyond 1, cut at 1. Halves go through float. Source and destination may be one tensor, as public kernels have them.
 * Their time is that of these instructions.
 * Limits: half and float. Tanh loses what is small beside 1: its error is absolute. The configurations of Tanh are of later chips.
 */
#ifndef PITON_ASCENDC_ACTIVATION_H
#define PITON_ASCENDC_ACTIVATION_H

#include "cast.h"
#include "duplicate.h"
#include "pipe.h"
#include "vector_binary.h"
#include "vector_scalar.h"
#include "vector_unary.h"

namespace piton {

/* One part: dst and src as floats (or one and the same), other memory of as many floats. */
struct FloatPart {
    const AscendC::LocalTensor<float> &dst;
    const AscendC::LocalTensor<float> &src;
    const AscendC::LocalTensor<float> &other;
    int32_t count;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }
    PITON_API void Muls(const AscendC::LocalTensor<float> &from, float factor) const {
        AscendC::Muls(dst, from, factor, count, at);
        Barrier();
    }
    PITON_API void Adds(const AscendC::LocalTensor<float> &to, float addend) const {
        AscendC::Adds(to, dst, addend, count, at);
        Barrier();
    }
    PITON_API void Exp() const {
        AscendC::Exp(dst, dst, count, at);
        Barrier();
    }
    PITON_API void Div(const AscendC::LocalTensor<float> &above, const AscendC::LocalTensor<float> &below) const {
        AscendC::Div(dst, above, below, count, at);
        Barrier();
    }
    /* Into [-limit, limit]. */
    PITON_API void Cut(const AscendC::LocalTensor<float> &from, float limit) const {
        AscendC::Mins(dst, from, limit, count, at);
        Barrier();
        AscendC::Maxs(dst, dst, -limit, count, at);
        Barrier();
    }
};

struct SigmoidSteps {
    PITON_API void operator()(const FloatPart &part) const {
        part.Muls(part.src, -1.0f);
        part.Exp();
        part.Adds(part.dst, 1.0f);
        AscendC::Duplicate(part.other, 1.0f, part.count, part.at);
        part.Barrier();
        part.Div(part.other, part.dst);
    }
};

struct TanhSteps {
    PITON_API void operator()(const FloatPart &part) const {
        constexpr float kOneFrom = 9.1f; /* 1 - tanh of it is less than half an ulp */
        part.Cut(part.src, kOneFrom);
        part.Muls(part.dst, 2.0f);
        part.Exp();
        part.Adds(part.other, 1.0f);
        part.Adds(part.dst, -1.0f);
        part.Div(part.dst, part.other);
    }
};

/* Twice, since the smallest subnormal times the largest factor is still below 1. */
struct SignSteps {
    PITON_API void operator()(const FloatPart &part) const {
        constexpr float kLarge = 3e38f;
        part.Muls(part.src, kLarge);
        part.Cut(part.dst, 1.0f);
        part.Muls(part.dst, kLarge);
        part.Cut(part.dst, 1.0f);
    }
};

template <typename Steps, typename T>
PITON_API void Compose(const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                       uint32_t count, Location at) {
    constexpr bool isHalf = std::is_same<T, half>::value;
    constexpr uint32_t kTensors = isHalf ? 2 : 1;
    const uint32_t room = memory.GetSize() / (kTensors * kRepeatBytes) * (kRepeatBytes / sizeof(float));
    if (room == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, at, kTensors * kRepeatBytes, memory.GetSize());
    }
    const auto other = memory.template ReinterpretCast<float>();
    for (uint32_t done = 0; done < count; done += room) {
        const uint32_t part = count - done < room ? count - done : room;
        if constexpr (isHalf) {
            const auto wide = other[room];
            AscendC::Cast(wide, src[done], AscendC::RoundMode::CAST_NONE, part, at);
            SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
            Steps()(FloatPart{wide, wide, other, static_cast<int32_t>(part), at});
            AscendC::Cast(dst[done], wide, AscendC::RoundMode::CAST_NONE, part, at);
            SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
        } else {
            const auto to = dst[done], from = src[done];
            Steps()(FloatPart{to, from, other, static_cast<int32_t>(part), at});
        }
    }
}

}  // namespace piton

#define PITON_COMPOSED(Name, Steps)                                                                                                                          \
    namespace AscendC {                                                                                                                                      \
    template <typename T, bool isReuseSource = false>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer,                       \
                        const uint32_t calCount, piton::Location at = piton::Location()) {                                                                   \
        using piton::kDtype;                                                                                                                                 \
        PITON_REQUIRE_TYPE(#Name, piton::kIsFloat<T>, "half, float");                                                                                        \
        piton::Compose<piton::Steps>(#Name, dstTensor, srcTensor, sharedTmpBuffer, calCount, at);                                                            \
    }                                                                                                                                                        \
    template <typename T, bool isReuseSource = false>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer,                       \
                        piton::Location at = piton::Location()) {                                                                                            \
        Name<T, isReuseSource>(dstTensor, srcTensor, sharedTmpBuffer, srcTensor.GetSize(), at);                                                              \
    }                                                                                                                                                        \
    template <typename T, bool isReuseSource = false>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t calCount, piton::Location at = piton::Location()) { \
        Name<T, isReuseSource>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), calCount, at);                                                       \
    }                                                                                                                                                        \
    template <typename T, bool isReuseSource = false>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, piton::Location at = piton::Location()) {                          \
        Name<T, isReuseSource>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), srcTensor.GetSize(), at);                                            \
    }                                                                                                                                                        \
    }

PITON_COMPOSED(Sigmoid, SigmoidSteps)
PITON_COMPOSED(Tanh, TanhSteps)
PITON_COMPOSED(Sign, SignSteps)

#undef PITON_COMPOSED

#endif /* PITON_ASCENDC_ACTIVATION_H */
