/*
 * Cast: conversion between element types.
 *
 * Problem: the chip has some pairs of types only, and each with some rounding modes only.
 * Approach: the table of the Ascend 910B (documentation page of Cast, column A2) as a function of the pair: a missing pair is refused at compile time,
 * a missing mode at run time, when it is known.
 * Limits: from int32 to half the chip ignores the mode and multiplies by what SetDeqScale has set (registers.h). Masked forms of 4-bit casts write whole
 * lanes of half a byte.
 */
#ifndef PITON_ASCENDC_CAST_H
#define PITON_ASCENDC_CAST_H

#include "vector.h"

namespace piton {

constexpr uint32_t Bit(AscendC::RoundMode mode) { return 1u << static_cast<uint32_t>(mode); }
constexpr uint32_t kNone = Bit(AscendC::RoundMode::CAST_NONE);
constexpr uint32_t kOdd = Bit(AscendC::RoundMode::CAST_ODD);
constexpr uint32_t kRounding = Bit(AscendC::RoundMode::CAST_RINT) | Bit(AscendC::RoundMode::CAST_FLOOR) | Bit(AscendC::RoundMode::CAST_CEIL) |
                               Bit(AscendC::RoundMode::CAST_ROUND) | Bit(AscendC::RoundMode::CAST_TRUNC);
constexpr uint32_t kAnyMode = 0xffu;

constexpr uint32_t Pair(uint8_t to, uint8_t from) { return uint32_t(to) << 8 | from; }

/* Set of allowed modes, one bit each; 0 when the chip has no such conversion. */
constexpr uint32_t CastModes(uint8_t to, uint8_t from) {
    switch (Pair(to, from)) {
        case Pair(VNPU_DT_F32, VNPU_DT_F16):
            return kNone;
        case Pair(VNPU_DT_I32, VNPU_DT_F16):
        case Pair(VNPU_DT_I16, VNPU_DT_F16):
            return kRounding;
        case Pair(VNPU_DT_I8, VNPU_DT_F16):
        case Pair(VNPU_DT_U8, VNPU_DT_F16):
            return kRounding | kNone;
        case Pair(VNPU_DT_I4, VNPU_DT_F16):
            return kRounding | kNone;
        case Pair(VNPU_DT_F16, VNPU_DT_I4):
        case Pair(VNPU_DT_F16, VNPU_DT_I8):
        case Pair(VNPU_DT_F16, VNPU_DT_U8):
            return kNone;
        case Pair(VNPU_DT_F16, VNPU_DT_I16):
            return kRounding | kNone;
        case Pair(VNPU_DT_F32, VNPU_DT_I16):
            return kNone;
        case Pair(VNPU_DT_F32, VNPU_DT_I32):
            return kRounding | kNone;
        case Pair(VNPU_DT_I16, VNPU_DT_I32):
        case Pair(VNPU_DT_I64, VNPU_DT_I32):
        case Pair(VNPU_DT_I32, VNPU_DT_I64):
            return kNone;
        case Pair(VNPU_DT_F16, VNPU_DT_I32):
            return kAnyMode;
        case Pair(VNPU_DT_F16, VNPU_DT_F32):
            return kRounding | kOdd | kNone;
        case Pair(VNPU_DT_BF16, VNPU_DT_F32):
        case Pair(VNPU_DT_I32, VNPU_DT_F32):
        case Pair(VNPU_DT_I16, VNPU_DT_F32):
        case Pair(VNPU_DT_I64, VNPU_DT_F32):
        case Pair(VNPU_DT_F32, VNPU_DT_F32):
            return kRounding;
        case Pair(VNPU_DT_F32, VNPU_DT_BF16):
            return kNone;
        case Pair(VNPU_DT_I32, VNPU_DT_BF16):
            return kRounding;
        case Pair(VNPU_DT_F32, VNPU_DT_I64):
            return kRounding;
        default:
            return 0;
    }
}

/* The destination is in the "required from" note of the compiler, the source and its destinations are in the text. */
#define PITON_REFUSE_CAST(source, list, advice)                   \
    static_assert(isSupported || !std::is_same<U, source>::value, \
                  "Cast from " #source " to this type does not exist on the Ascend 910B; supported from " #source ": " list ". " advice)

template <typename T, typename U>
PITON_API constexpr bool RequireCastPair() {
    constexpr bool isSupported = CastModes(kDtype<T>, kDtype<U>) != 0;
    PITON_REFUSE_CAST(half, "float, int32_t, int16_t, int8_t, uint8_t, int4b_t", "Cast to float first.");
    PITON_REFUSE_CAST(bfloat16_t, "float, int32_t", "Cast to float first.");
    PITON_REFUSE_CAST(float, "half, bfloat16_t, float, int32_t, int16_t, int64_t", "Cast to half first.");
    PITON_REFUSE_CAST(int8_t, "half", "Cast to half first.");
    PITON_REFUSE_CAST(uint8_t, "half", "Cast to half first.");
    PITON_REFUSE_CAST(int16_t, "half, float", "Cast to float first.");
    PITON_REFUSE_CAST(int32_t, "float, int16_t, int64_t, half", "Cast to float first.");
    PITON_REFUSE_CAST(int64_t, "int32_t, float", "Cast to int32_t or float first.");
    PITON_REFUSE_CAST(AscendC::int4b_t, "half", "Cast to half first.");
    static_assert(isSupported || kIsOneOf<U, half, bfloat16_t, float, int8_t, uint8_t, int16_t, int32_t, int64_t, AscendC::int4b_t>,
                  "Cast does not support this source type on the Ascend 910B; "
                  "supported: half, bfloat16_t, float, int8_t, uint8_t, int16_t, int32_t, int64_t, int4b_t");
    return isSupported;
}

#undef PITON_REFUSE_CAST

template <typename T, typename U>
PITON_API void SubmitCast(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &src, AscendC::RoundMode mode, const Extent &extent,
                          const AscendC::UnaryRepeatParams &strides, Location at) {
    static_assert(RequireCastPair<T, U>(), "see the text above");
    if ((CastModes(kDtype<T>, kDtype<U>) & Bit(mode)) == 0) {
        Fault(VNPU_FAULT_BAD_ARGUMENT, "Cast", at, static_cast<uint64_t>(mode), 2);
    }
    vnpu_record record = VectorRecord(VNPU_OP_CAST, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src, strides.srcBlkStride, strides.srcRepStride);
    record.p[3] = static_cast<uint32_t>(mode);
    Submit(record);
}

}  // namespace piton

namespace AscendC {

template <typename T, typename U, bool isSetMask = true>
PITON_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint64_t mask[],
                    const piton::Narrow<uint8_t> repeatTime, const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    piton::SubmitCast(dst, src, roundMode, piton::BitsOf<isSetMask>("Cast", 3, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U, bool isSetMask = true>
PITON_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint64_t mask,
                    const piton::Narrow<uint8_t> repeatTime, const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    piton::SubmitCast(dst, src, roundMode, piton::LanesOf<isSetMask>("Cast", 3, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U>
PITON_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint32_t count,
                    piton::Location at = piton::Location()) {
    piton::SubmitCast(dst, src, roundMode, piton::CountOf("Cast", 3, count, at), UnaryRepeatParams(), at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_CAST_H */
