/*
 * Power: one tensor (or number) to the power of another.
 *
 * Problem: the vendor's library composes it; of what is published only in part: floats by exp(y * ln(x)), integers by squaring.
 * Approach: floats as |x|^y with a sign: a negative x takes 1 or -1 from whether y is even or odd, and NaN where y is no whole number; ln is kept finite,
 * so that anything to the power of 0 is 1. Halves go through float. Integers: 31 squarings, each multiplied in where the exponent has the bit. Its time is
 * that of these instructions, in parts that fit the temporary memory.
 * Limits: 1 to the power of an infinity is NaN. Integer exponents below 0 give what the bits say; nothing is published about them.
 */
#ifndef PITON_ASCENDC_POWER_H
#define PITON_ASCENDC_POWER_H

#include "composed.h"
#include "duplicate.h"
#include "pipe.h"
#include "vector_binary.h"
#include "vector_scalar.h"
#include "vector_unary.h"

namespace AscendC {

enum class PowerAlgo { INTRINSIC = 0, DOUBLE_FLOAT_TECH };
struct PowerConfig {
    PowerAlgo algo = PowerAlgo::INTRINSIC;
};
constexpr PowerConfig defaultPowerConfig = {};

}  // namespace AscendC

namespace piton {

using IntTensor = AscendC::LocalTensor<int32_t>;

/* Runs vector instructions one after another, each of which needs what the one before has written. */
struct PowerSteps {
    int32_t count;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }
    template <typename T>
    PITON_API void And(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &mask) const {
        const auto bits = dst.template ReinterpretCast<int16_t>();
        AscendC::And(bits, bits, mask.template ReinterpretCast<int16_t>(), count * static_cast<int32_t>(sizeof(T) / sizeof(int16_t)), at);
        Barrier();
    }
};

/* |x|^y. Logarithms beyond this give 0 or infinity with any power that is not very close to 0. */
PITON_API void PowerOfMagnitude(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &y, const PowerSteps &steps) {
    constexpr float kLargest = 3e38f;
    AscendC::Abs(dst, x, steps.count, steps.at);
    steps.Barrier();
    AscendC::Ln(dst, dst, steps.count, steps.at);
    steps.Barrier();
    AscendC::Maxs(dst, dst, -kLargest, steps.count, steps.at);
    steps.Barrier();
    AscendC::Mins(dst, dst, kLargest, steps.count, steps.at);
    steps.Barrier();
    AscendC::Mul(dst, dst, y, steps.count, steps.at);
    steps.Barrier();
    AscendC::Exp(dst, dst, steps.count, steps.at);
    steps.Barrier();
}

/* odd = |y - 2 * trunc(y / 2)|: 0 for even y, 1 for odd y, something else where y is no whole number. */
PITON_API void Oddness(const FloatTensor &odd, const FloatTensor &y, const PowerSteps &steps) {
    AscendC::Muls(odd, y, 0.5f, steps.count, steps.at);
    steps.Barrier();
    AscendC::Cast(odd, odd, AscendC::RoundMode::CAST_TRUNC, static_cast<uint32_t>(steps.count), steps.at);
    steps.Barrier();
    AscendC::Muls(odd, odd, -2.0f, steps.count, steps.at);
    steps.Barrier();
    AscendC::Add(odd, odd, y, steps.count, steps.at);
    steps.Barrier();
    AscendC::Abs(odd, odd, steps.count, steps.at);
    steps.Barrier();
}

/* sign = 1 for x that is not negative; else 1 - 2 * odd, and NaN (the root of a negative number) where odd is no whole number. */
PITON_API void PowerSign(const FloatTensor &sign, const FloatTensor &scratch, const FloatTensor &x, const FloatTensor &y, const PowerSteps &steps) {
    Oddness(sign, y, steps);
    AscendC::Cast(scratch, sign, AscendC::RoundMode::CAST_TRUNC, static_cast<uint32_t>(steps.count), steps.at);
    steps.Barrier();
    AscendC::Sub(scratch, scratch, sign, steps.count, steps.at);
    steps.Barrier();
    AscendC::Sqrt(scratch, scratch, steps.count, steps.at);
    AscendC::Muls(sign, sign, -2.0f, steps.count, steps.at);
    steps.Barrier();
    AscendC::Add(sign, sign, scratch, steps.count, steps.at);
    steps.Barrier();                                                                                                           /* it reads `scratch` */
    AscendC::ShiftRight(scratch.ReinterpretCast<int32_t>(), x.ReinterpretCast<int32_t>(), int32_t(31), steps.count, steps.at); /* all bits of negative x */
    steps.Barrier();
    steps.And(sign, scratch);
    AscendC::Adds(sign, sign, 1.0f, steps.count, steps.at);
    steps.Barrier();
}

/* `memory` holds `room` elements per tensor. */
PITON_API void PowerOf(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &y, const FloatTensor &memory, uint32_t room, const PowerSteps &steps) {
    const FloatTensor sign = memory, scratch = memory[room];
    PowerOfMagnitude(dst, x, y, steps);
    PowerSign(sign, scratch, x, y, steps);
    AscendC::Mul(dst, dst, sign, steps.count, steps.at);
    steps.Barrier();
}

PITON_API void PowerOf(const IntTensor &dst, const IntTensor &x, const IntTensor &y, const IntTensor &memory, uint32_t room, const PowerSteps &steps) {
    constexpr int32_t kBits = 31;
    const IntTensor square = memory, factor = memory[room], bit = memory[2 * room];
    AscendC::Duplicate(dst, int32_t(1), steps.count, steps.at);
    AscendC::Adds(square, x, int32_t(0), steps.count, steps.at);
    steps.Barrier();
    for (int32_t at = 0; at < kBits; ++at) {
        AscendC::ShiftLeft(bit, y, kBits - at, steps.count, steps.at);
        AscendC::Adds(factor, square, int32_t(-1), steps.count, steps.at);
        steps.Barrier();
        AscendC::ShiftRight(bit, bit, kBits, steps.count, steps.at);
        steps.Barrier();
        steps.And(factor, bit);
        AscendC::Adds(factor, factor, int32_t(1), steps.count, steps.at);
        AscendC::Mul(square, square, square, steps.count, steps.at);
        steps.Barrier();
        AscendC::Mul(dst, dst, factor, steps.count, steps.at);
        steps.Barrier();
    }
}

/* A tensor or a number as an operand of one part. */
template <typename T>
struct PowerOperand {
    const AscendC::LocalTensor<T> *tensor;
    T value;

    /* As `W`, in `place` where it is not there as it is. */
    template <typename W>
    PITON_API AscendC::LocalTensor<W> Part(uint32_t done, const AscendC::LocalTensor<W> &place, const PowerSteps &steps) const {
        if (tensor == nullptr) {
            AscendC::Duplicate(place, static_cast<W>(value), steps.count, steps.at);
            steps.Barrier();
            return place;
        }
        if constexpr (std::is_same<T, W>::value) {
            return (*tensor)[done];
        } else {
            AscendC::Cast(place, (*tensor)[done], AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(steps.count), steps.at);
            steps.Barrier();
            return place;
        }
    }
};

/* A null pointer is a number. */
template <typename T>
PITON_API void RequirePowerApart(std::initializer_list<const AscendC::LocalTensor<T> *> tensors, uint32_t count, const AscendC::LocalTensor<uint8_t> &memory,
                                 uint64_t used, Location at) {
    for (const AscendC::LocalTensor<T> *tensor : tensors) {
        if (tensor != nullptr) {
            RequireApart("Power", tensor->Operand(), count * sizeof(T), memory.Operand(), used, at);
        }
    }
}

/* In parts of which six tensors fit: two operands, three steps between, the result of halves. */
template <typename T>
PITON_API void PowerInParts(const AscendC::LocalTensor<T> &dst, const PowerOperand<T> &base, const PowerOperand<T> &exponent,
                            const AscendC::LocalTensor<uint8_t> &memory, uint32_t count, Location at) {
    using W = std::conditional_t<std::is_same<T, half>::value, float, T>;
    PITON_REQUIRE_TYPE("Power", kIsFloat<T> || (std::is_same<T, int32_t>::value), "half, float, int32_t");
    constexpr uint32_t kTensors = 6, kUnit = kRepeatBytes / sizeof(W);
    const uint32_t fit = memory.GetSize() / (kTensors * kRepeatBytes) * kUnit, all = (count + kUnit - 1) / kUnit * kUnit, room = fit < all ? fit : all;
    if (fit == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "Power", at, kTensors * kRepeatBytes, memory.GetSize());
    }
    const uint32_t used = std::is_same<T, half>::value ? kTensors : base.tensor != nullptr && exponent.tensor != nullptr ? 3 : 5;
    RequirePowerApart({&dst, base.tensor, exponent.tensor}, count, memory, uint64_t(used) * room * sizeof(W), at);
    const auto wide = memory.template ReinterpretCast<W>();
    for (uint32_t done = 0; done < count; done += room) {
        const PowerSteps steps{static_cast<int32_t>(count - done < room ? count - done : room), at};
        const auto x = base.Part(done, wide[3 * room], steps), y = exponent.Part(done, wide[4 * room], steps);
        if constexpr (std::is_same<T, W>::value) {
            PowerOf(dst[done], x, y, wide, room, steps);
        } else {
            PowerOf(wide[5 * room], x, y, wide, room, steps);
            AscendC::Cast(dst[done], wide[5 * room], AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(steps.count), at);
            steps.Barrier();
        }
    }
}

PITON_API AscendC::LocalTensor<uint8_t> UnusedMemoryOf(Location at) { return AscendC::GetTPipePtr(at)->UnusedMemory(at); }

}  // namespace piton

/* The four forms (with and without memory and count) of one pair of operands. */
#define PITON_POWER(Base, Exponent, base, exponent, Whole)                                                                                          \
    namespace AscendC {                                                                                                                             \
    template <typename T, bool isReuseSource = false, const PowerConfig &config = defaultPowerConfig>                                               \
    PITON_API void Power(const LocalTensor<T> &dstTensor, Base src0, Exponent src1, const LocalTensor<uint8_t> &sharedTmpBuffer, uint32_t calCount, \
                         piton::Location at = piton::Location()) {                                                                                  \
        static_assert(config.algo == PowerAlgo::INTRINSIC, "Power with PowerConfig is not supported on the Ascend 910B");                           \
        piton::PowerInParts(dstTensor, piton::PowerOperand<T> base, piton::PowerOperand<T> exponent, sharedTmpBuffer, calCount, at);                \
    }                                                                                                                                               \
    template <typename T, bool isReuseSource = false, const PowerConfig &config = defaultPowerConfig>                                               \
    PITON_API void Power(const LocalTensor<T> &dstTensor, Base src0, Exponent src1, const LocalTensor<uint8_t> &sharedTmpBuffer,                    \
                         piton::Location at = piton::Location()) {                                                                                  \
        Power<T, isReuseSource, config>(dstTensor, src0, src1, sharedTmpBuffer, Whole.GetSize(), at);                                               \
    }                                                                                                                                               \
    template <typename T, bool isReuseSource = false, const PowerConfig &config = defaultPowerConfig>                                               \
    PITON_API void Power(const LocalTensor<T> &dstTensor, Base src0, Exponent src1, uint32_t calCount, piton::Location at = piton::Location()) {    \
        Power<T, isReuseSource, config>(dstTensor, src0, src1, piton::UnusedMemoryOf(at), calCount, at);                                            \
    }                                                                                                                                               \
    template <typename T, bool isReuseSource = false, const PowerConfig &config = defaultPowerConfig>                                               \
    PITON_API void Power(const LocalTensor<T> &dstTensor, Base src0, Exponent src1, piton::Location at = piton::Location()) {                       \
        Power<T, isReuseSource, config>(dstTensor, src0, src1, piton::UnusedMemoryOf(at), Whole.GetSize(), at);                                     \
    }                                                                                                                                               \
    }

#define PITON_POWER_TENSOR(name) {&name, T()}
#define PITON_POWER_NUMBER(name) {nullptr, name}
PITON_POWER(const LocalTensor<T> &, const LocalTensor<T> &, PITON_POWER_TENSOR(src0), PITON_POWER_TENSOR(src1), src0)
PITON_POWER(const LocalTensor<T> &, const T &, PITON_POWER_TENSOR(src0), PITON_POWER_NUMBER(src1), src0)
PITON_POWER(const T &, const LocalTensor<T> &, PITON_POWER_NUMBER(src0), PITON_POWER_TENSOR(src1), src1)

#undef PITON_POWER
#undef PITON_POWER_TENSOR
#undef PITON_POWER_NUMBER

#endif /* PITON_ASCENDC_POWER_H */
