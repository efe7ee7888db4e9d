/*
 * Floor, Ceil, Trunc, Rint, Round, Frac, Fmod, Log, Log2, Log10, ClampMax, ClampMin, Exp by a series, Xor, Axpy with memory: mathematical functions made of
 * instructions.
 *
 * Problem and approach: as composed.h. Rounding is a Cast from float to float, logarithms are Ln with a factor.
 * Limits: half and float; Xor: 16-bit integers. Fmod is x - trunc(x / y) * y as documented, so that it loses digits where x / y is large.
 */
#ifndef PITON_ASCENDC_MATH_H
#define PITON_ASCENDC_MATH_H

#include "composed.h"
#include "vector_axpy.h"

namespace piton {

template <AscendC::RoundMode mode>
struct RoundFunction {
    static constexpr uint32_t kSlots = 0, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const { steps.Round(dst, x, mode); }
};

/* ln(x) * factor. */
struct LogFunction {
    static constexpr uint32_t kSlots = 0, kSources = 1;
    float factor;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        steps.Ln(dst, x);
        if (factor != 1.0f) {
            steps.Muls(dst, dst, factor);
        }
    }
};

struct FracFunction {
    static constexpr uint32_t kSlots = 1, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        steps.Round(steps.Slot(0), x, AscendC::RoundMode::CAST_TRUNC);
        steps.Sub(dst, x, steps.Slot(0));
    }
};

struct FmodFunction {
    static constexpr uint32_t kSlots = 1, kSources = 2;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &y, const FloatSteps &steps) const {
        const FloatTensor whole = steps.Slot(0);
        steps.Div(whole, x, y);
        steps.Round(whole, whole, AscendC::RoundMode::CAST_TRUNC);
        steps.Mul(whole, whole, y);
        steps.Sub(dst, x, whole);
    }
};

/* exp(floor(x)) times the first terms of the series of exp(x - floor(x)). */
struct ExpSeriesFunction {
    static constexpr uint32_t kSlots = 3, kSources = 1;
    uint32_t terms;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor whole = steps.Slot(0), rest = steps.Slot(1), sum = steps.Slot(2);
        steps.Round(whole, x, AscendC::RoundMode::CAST_FLOOR);
        steps.Sub(rest, x, whole);
        steps.Exp(whole, whole);
        steps.Set(sum, 1.0f);
        for (uint32_t term = terms; term > 0; --term) {
            steps.Mul(sum, sum, rest);
            steps.Muls(sum, sum, 1.0f / static_cast<float>(term));
            steps.Adds(sum, sum, 1.0f);
        }
        steps.Mul(dst, whole, sum);
    }
};

constexpr float kLog2OfE = 1.44269504f;
constexpr float kLog10OfE = 0.434294482f;

/* (x | y) & ~(x & y), in parts that fit the memory. */
template <typename T>
PITON_API void XorInParts(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &x, const AscendC::LocalTensor<T> &y,
                          const AscendC::LocalTensor<uint8_t> &memory, uint32_t count, Location at) {
    const uint32_t room = memory.GetSize() / kRepeatBytes * (kRepeatBytes / sizeof(T));
    if (room == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "Xor", at, kRepeatBytes, memory.GetSize());
    }
    const uint64_t bytes = count * sizeof(T), used = (count < room ? count : room) * sizeof(T);
    RequireApart("Xor", dst.Operand(), bytes, memory.Operand(), used, at);
    RequireApart("Xor", x.Operand(), bytes, memory.Operand(), used, at);
    RequireApart("Xor", y.Operand(), bytes, memory.Operand(), used, at);
    const auto both = memory.template ReinterpretCast<T>();
    for (uint32_t done = 0; done < count; done += room) {
        const int32_t part = static_cast<int32_t>(count - done < room ? count - done : room);
        AscendC::And(both, x[done], y[done], part, at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
        AscendC::Not(both, both, part, at);
        AscendC::Or(dst[done], x[done], y[done], part, at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
        AscendC::And(dst[done], dst[done], both, part, at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    }
}

}  // namespace piton

PITON_COMPOSED_UNARY(Floor, RoundFunction<AscendC::RoundMode::CAST_FLOOR>{})
PITON_COMPOSED_UNARY(Ceil, RoundFunction<AscendC::RoundMode::CAST_CEIL>{})
PITON_COMPOSED_UNARY(Trunc, RoundFunction<AscendC::RoundMode::CAST_TRUNC>{})
PITON_COMPOSED_UNARY(Rint, RoundFunction<AscendC::RoundMode::CAST_RINT>{})
PITON_COMPOSED_UNARY(Round, RoundFunction<AscendC::RoundMode::CAST_ROUND>{})
PITON_COMPOSED_UNARY(Log, LogFunction{1.0f})
PITON_COMPOSED_UNARY(Log2, LogFunction{piton::kLog2OfE})
PITON_COMPOSED_UNARY(Log10, LogFunction{piton::kLog10OfE})
PITON_COMPOSED_UNARY(Frac, FracFunction{})
PITON_COMPOSED_BINARY(Fmod, FmodFunction{})

#define PITON_CLAMP(Name, Instruction)                                                                                                  \
    namespace AscendC {                                                                                                                 \
    template <typename T, bool isReuseSource = false>                                                                                   \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const T scalar, const uint32_t calCount,      \
                        piton::Location at = piton::Location()) {                                                                       \
        using piton::kDtype;                                                                                                            \
        PITON_REQUIRE_TYPE(#Name, piton::kIsFloat<T>, "half, float");                                                                   \
        Instruction(dstTensor, srcTensor, scalar, static_cast<int32_t>(calCount), at);                                                  \
        piton::SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);                                                                            \
    }                                                                                                                                   \
    template <typename T, bool isReuseSource = false>                                                                                   \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &, const T scalar, \
                        const uint32_t calCount, piton::Location at = piton::Location()) {                                              \
        Name<T, isReuseSource>(dstTensor, srcTensor, scalar, calCount, at);                                                             \
    }                                                                                                                                   \
    }

PITON_CLAMP(ClampMax, Mins)
PITON_CLAMP(ClampMin, Maxs)

#undef PITON_CLAMP

namespace AscendC {

/* With `taylorExpandLevel` terms of the series; 0 is the instruction. */
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
PITON_API void Exp(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount,
                   piton::Location at = piton::Location()) {
    static_assert(piton::kIsFloat<T>, "Exp by a series supports half, float on the Ascend 910B");
    if constexpr (taylorExpandLevel == 0) {
        Exp(dstLocal, srcLocal, static_cast<int32_t>(calCount), at);
    } else {
        piton::Compose("Exp", piton::ExpSeriesFunction{taylorExpandLevel}, dstLocal, {srcLocal, srcLocal}, sharedTmpBuffer, calCount, at);
    }
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
PITON_API void Exp(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const uint32_t calCount, piton::Location at = piton::Location()) {
    Exp<T, taylorExpandLevel, isReuseSource>(dstLocal, srcLocal, piton::ComposedMemory<piton::ExpSeriesFunction, T>(at), calCount, at);
}

template <typename T, bool isReuseSource = false>
PITON_API void Xor(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const LocalTensor<T> &src1Tensor,
                   const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Xor", (std::is_same<T, int16_t>::value || std::is_same<T, uint16_t>::value), "int16_t, uint16_t");
    piton::XorInParts(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer, calCount, at);
}
template <typename T, bool isReuseSource = false>
PITON_API void Xor(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const LocalTensor<T> &src1Tensor, const uint32_t calCount,
                   piton::Location at = piton::Location()) {
    Xor<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, GetTPipePtr(at)->UnusedMemory(at), calCount, at);
}
template <typename T, bool isReuseSource = false>
PITON_API void Xor(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const LocalTensor<T> &src1Tensor,
                   const LocalTensor<uint8_t> &sharedTmpBuffer, piton::Location at = piton::Location()) {
    Xor<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer, src0Tensor.GetSize(), at);
}
template <typename T, bool isReuseSource = false>
PITON_API void Xor(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const LocalTensor<T> &src1Tensor,
                   piton::Location at = piton::Location()) {
    Xor<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, src0Tensor.GetSize(), at);
}

/* The instruction needs no memory. */
template <typename T, typename U, bool isReuseSource = false>
PITON_API void Axpy(const LocalTensor<T> &dstTensor, const LocalTensor<U> &srcTensor, const U scalarValue, const LocalTensor<uint8_t> &,
                    const uint32_t calCount, piton::Location at = piton::Location()) {
    Axpy(dstTensor, srcTensor, scalarValue, static_cast<int32_t>(calCount), at);
    piton::SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_MATH_H */
