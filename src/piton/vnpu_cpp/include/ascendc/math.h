/*
 * Floor, Ceil, Trunc, Rint, Log, Log2, Log10: mathematical functions made of instructions.
 *
 * Problem: the vendor's library composes these; what of is not published, what comes out is.
 * Approach: rounding is a Cast from float to float, logarithms are Ln with a factor, halves go through float. Their time is that of these instructions.
 * Limits: half and float. Without a buffer the memory that TPipe has not given out is used. Power is in power.h, what
 * needs memory for floats too in activation.h.
 */
#ifndef PITON_ASCENDC_MATH_H
#define PITON_ASCENDC_MATH_H

#include "cast.h"
#include "pipe.h"
#include "scratch.h"
#include "vector_scalar.h"
#include "vector_unary.h"

namespace piton {

/* dst = op(src) in float, by `step(dst, src, count)`; halves in parts that fit the scratch memory as floats. */
template <typename T, typename Step>
PITON_API void InFloat(const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &scratch,
                       uint32_t count, const Step &step, Location at) {
    if constexpr (std::is_same<T, float>::value) {
        step(dst, src, count);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    } else {
        const uint32_t room = scratch.GetSize() / kRepeatBytes * kRepeatBytes / sizeof(float);
        if (room == 0) {
            Fault(VNPU_FAULT_UB_OVERFLOW, api, at, kRepeatBytes, scratch.GetSize());
        }
        const uint32_t used = (count < room ? count : room) * sizeof(float);
        RequireApart(api, src.Operand(), count * sizeof(T), scratch.Operand(), used, at);
        RequireApart(api, dst.Operand(), count * sizeof(T), scratch.Operand(), used, at);
        const auto wide = scratch.template ReinterpretCast<float>();
        for (uint32_t done = 0; done < count; done += room) {
            const uint32_t part = count - done < room ? count - done : room;
            AscendC::Cast(wide, src[done], AscendC::RoundMode::CAST_NONE, part, at);
            SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
            step(wide, wide, part);
            SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
            AscendC::Cast(dst[done], wide, AscendC::RoundMode::CAST_NONE, part, at);
            SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
        }
    }
}

template <AscendC::RoundMode mode>
struct RoundStep {
    Location at;
    template <typename Tensor>
    PITON_API void operator()(const Tensor &dst, const Tensor &src, uint32_t count) const {
        AscendC::Cast(dst, src, mode, count, at);
    }
};

/* ln(x) * factor. */
struct LogStep {
    float factor;
    Location at;
    template <typename Tensor>
    PITON_API void operator()(const Tensor &dst, const Tensor &src, uint32_t count) const {
        AscendC::Ln(dst, src, static_cast<int32_t>(count), at);
        if (factor != 1.0f) {
            SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
            AscendC::Muls(dst, dst, factor, static_cast<int32_t>(count), at);
        }
    }
};

template <typename T>
PITON_API AscendC::LocalTensor<uint8_t> ScratchOf(Location at) {
    return std::is_same<T, float>::value ? AscendC::LocalTensor<uint8_t>() : AscendC::GetTPipePtr(at)->UnusedMemory(at);
}

constexpr float kLog2OfE = 1.44269504f;
constexpr float kLog10OfE = 0.434294482f;

}  // namespace piton

#define PITON_MATH(Name, step)                                                                                                                               \
    namespace AscendC {                                                                                                                                      \
    template <typename T, bool isReuseSource = false>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer,                       \
                        const uint32_t calCount, piton::Location at = piton::Location()) {                                                                   \
        using piton::kDtype;                                                                                                                                 \
        PITON_REQUIRE_TYPE(#Name, piton::kIsFloat<T>, "half, float");                                                                                        \
        piton::InFloat(#Name, dstTensor, srcTensor, sharedTmpBuffer, calCount, step, at);                                                                    \
    }                                                                                                                                                        \
    template <typename T, bool isReuseSource = false>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer,                       \
                        piton::Location at = piton::Location()) {                                                                                            \
        Name<T, isReuseSource>(dstTensor, srcTensor, sharedTmpBuffer, srcTensor.GetSize(), at);                                                              \
    }                                                                                                                                                        \
    template <typename T, bool isReuseSource = false>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t calCount, piton::Location at = piton::Location()) { \
        Name<T, isReuseSource>(dstTensor, srcTensor, piton::ScratchOf<T>(at), calCount, at);                                                                 \
    }                                                                                                                                                        \
    template <typename T, bool isReuseSource = false>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, piton::Location at = piton::Location()) {                          \
        Name<T, isReuseSource>(dstTensor, srcTensor, piton::ScratchOf<T>(at), srcTensor.GetSize(), at);                                                      \
    }                                                                                                                                                        \
    }

PITON_MATH(Floor, piton::RoundStep<RoundMode::CAST_FLOOR>{at})
PITON_MATH(Ceil, piton::RoundStep<RoundMode::CAST_CEIL>{at})
PITON_MATH(Trunc, piton::RoundStep<RoundMode::CAST_TRUNC>{at})
PITON_MATH(Rint, piton::RoundStep<RoundMode::CAST_RINT>{at})
PITON_MATH(Log, (piton::LogStep{1.0f, at}))
PITON_MATH(Log2, (piton::LogStep{piton::kLog2OfE, at}))
PITON_MATH(Log10, (piton::LogStep{piton::kLog10OfE, at}))

#undef PITON_MATH

#endif /* PITON_ASCENDC_MATH_H */
