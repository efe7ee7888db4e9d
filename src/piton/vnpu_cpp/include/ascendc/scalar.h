/*
 * Functions of the scalar unit: casts of single values and counts of bits.
 *
 * Problem and approach: ordinary C++; what the unit needs for it is counted by basic blocks, as for all scalar code.
 * Limits: the conversions that the Ascend 910B has.
 */
#ifndef PITON_ASCENDC_SCALAR_H
#define PITON_ASCENDC_SCALAR_H

#include <cmath>

#include "enums.h"
#include "types.h"

namespace piton {

/* Towards zero, then an inexact result gets an odd last bit: what a later rounding needs to be right. */
PITON_API half RoundToOdd(float value) {
    half near = static_cast<half>(value);
    const float back = static_cast<float>(near);
    uint16_t bits = BitCast<uint16_t>(near);
    if (back == value || back != back || (bits & 1) != 0) {
        return near;
    }
    const bool isTooLarge = (back > value) == (value > 0);
    bits = static_cast<uint16_t>(isTooLarge ? bits - 1 : bits + 1);
    const bool isInfinity = (bits & 0x7fffu) >= 0x7c00u;
    return BitCast<half>(isInfinity ? static_cast<uint16_t>(bits - 1) : bits);
}

PITON_API int32_t SaturateToInt32(double value) {
    if (!(value == value)) {
        return 0;
    }
    return value >= 2147483647.0 ? INT32_MAX : value <= -2147483648.0 ? INT32_MIN : static_cast<int32_t>(value);
}

template <AscendC::RoundMode mode>
PITON_API int32_t RoundToInt32(float value) {
    using Mode = AscendC::RoundMode;
    const double wide = value;
    if constexpr (mode == Mode::CAST_ROUND) {
        return SaturateToInt32(std::copysign(std::floor(std::fabs(wide) + 0.5), wide));
    } else if constexpr (mode == Mode::CAST_CEIL) {
        return SaturateToInt32(std::ceil(wide));
    } else if constexpr (mode == Mode::CAST_FLOOR) {
        return SaturateToInt32(std::floor(wide));
    } else {
        return SaturateToInt32(std::nearbyint(wide));
    }
}

PITON_API int64_t CountOnes(uint64_t value) { return __builtin_popcountll(value); }

}  // namespace piton

namespace AscendC {

template <typename T, typename U, RoundMode roundMode>
PITON_API U ScalarCast(T valueIn) {
    constexpr bool isHalf = std::is_same<U, half>::value && roundMode == RoundMode::CAST_ODD;
    constexpr bool isInteger = std::is_same<U, int32_t>::value && (roundMode == RoundMode::CAST_ROUND || roundMode == RoundMode::CAST_CEIL ||
                                                                   roundMode == RoundMode::CAST_FLOOR || roundMode == RoundMode::CAST_RINT);
    static_assert(std::is_same<T, float>::value && (isHalf || isInteger),
                  "a scalar Cast goes from float to half (CAST_ODD) or to int32_t (CAST_ROUND, CAST_CEIL, CAST_FLOOR, CAST_RINT)");
    if constexpr (isHalf) {
        return piton::RoundToOdd(valueIn);
    } else {
        return piton::RoundToInt32<roundMode>(valueIn);
    }
}

template <typename T, typename U, RoundMode roundMode>
PITON_API U Cast(T valueIn) {
    return ScalarCast<T, U, roundMode>(valueIn);
}

PITON_API float Cast(const bfloat16_t &bVal) { return ToFloat(bVal); }

PITON_API bfloat16_t Cast(const float &fVal) { return ToBfloat16(fVal); }

template <int countValue>
PITON_API int64_t GetBitCount(uint64_t valueIn) {
    static_assert(countValue == 0 || countValue == 1, "a bit is 0 or 1");
    return piton::CountOnes(countValue == 1 ? valueIn : ~valueIn);
}
template <int countValue>
PITON_API int64_t ScalarGetCountOfValue(uint64_t valueIn) {
    return GetBitCount<countValue>(valueIn);
}

PITON_API int64_t CountLeadingZero(uint64_t valueIn) { return valueIn == 0 ? 64 : __builtin_clzll(valueIn); }
PITON_API int64_t ScalarCountLeadingZero(uint64_t valueIn) { return CountLeadingZero(valueIn); }

/* Bits behind the sign bit that equal it. */
PITON_API int64_t CountBitsCntSameAsSignBit(int64_t valueIn) { return CountLeadingZero(static_cast<uint64_t>(valueIn < 0 ? ~valueIn : valueIn)) - 1; }

/* Place of the first such bit from the lowest on; -1 when there is none. */
template <int countValue>
PITON_API int64_t GetSFFValue(uint64_t valueIn) {
    static_assert(countValue == 0 || countValue == 1, "a bit is 0 or 1");
    const uint64_t sought = countValue == 1 ? valueIn : ~valueIn;
    return sought == 0 ? -1 : __builtin_ctzll(sought);
}
template <int countValue>
PITON_API int64_t ScalarGetSFFValue(uint64_t valueIn) {
    return GetSFFValue<countValue>(valueIn);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_SCALAR_H */
