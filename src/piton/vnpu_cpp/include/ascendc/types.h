/*
 * Element types of device code: half, bfloat16_t and the codes of all types in a record.
 *
 * Problem: `half` and `bfloat16_t` are built into the vendor's compiler; host compilers differ in what they offer.
 * Approach: half is _Float16 where the compiler has it, otherwise a two-byte structure that computes in float and rounds once (the same result for one
 * operation). bfloat16_t is always a structure: round to nearest, ties to even, NaN stays NaN.
 * Limits: only scalar code of a kernel uses these; vector instructions are computed by the engine.
 */
#ifndef PITON_ASCENDC_TYPES_H
#define PITON_ASCENDC_TYPES_H

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "macros.h"
#include "vnpu/abi.h"

namespace piton {

template <typename To, typename From>
PITON_API To BitCast(From from) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

PITON_API uint16_t RoundToBfloat16(float value) {
    const uint32_t bits = BitCast<uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return static_cast<uint16_t>((bits >> 16) | 0x40u);
    }
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace piton

struct bfloat16_t {
    uint16_t bits;

    bfloat16_t() = default;
    template <typename Number, typename = std::enable_if_t<std::is_convertible<Number, float>::value>>
    PITON_API bfloat16_t(Number value) : bits(piton::RoundToBfloat16(static_cast<float>(value))) {}
    PITON_API operator float() const { return piton::BitCast<float>(static_cast<uint32_t>(bits) << 16); }
};
static_assert(sizeof(bfloat16_t) == 2 && std::is_trivially_copyable<bfloat16_t>::value, "bfloat16_t is two plain bytes");

namespace AscendC {

/* Four bits; two share a byte, the first in its low half. */
struct int4b_t {
    uint8_t pair;
};

}  // namespace AscendC

#if defined(__FLT16_MANT_DIG__) && !defined(PITON_PORTABLE_HALF)
using half = _Float16;
#else
namespace piton {

PITON_API float WidenHalf(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) {
        return BitCast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    }
    /* 2^112 re-biases the exponent; subnormals come out right because float has room for them. */
    return BitCast<float>(sign | (magnitude << 13)) * BitCast<float>(0x77800000u);
}

PITON_API uint16_t RoundToHalf(float value) {
    const uint32_t bits = BitCast<uint32_t>(value);
    const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return static_cast<uint16_t>(sign | 0x7e00u);
    }
    if (magnitude >= 0x477ff000u) { /* 65520 and above round to infinity */
        return static_cast<uint16_t>(sign | 0x7c00u);
    }
    if (magnitude < 0x38800000u) { /* below 2^-14: adding 0.5 leaves the rounded subnormal in the low bits */
        return static_cast<uint16_t>(sign | (BitCast<uint32_t>(BitCast<float>(magnitude) + 0.5f) - 0x3f000000u));
    }
    return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13));
}

}  // namespace piton

struct half {
    uint16_t bits;

    half() = default;
    template <typename Number, typename = std::enable_if_t<std::is_convertible<Number, float>::value>>
    PITON_API half(Number value) : bits(piton::RoundToHalf(static_cast<float>(value))) {}
    PITON_API operator float() const { return piton::WidenHalf(bits); }
};
#endif
static_assert(sizeof(half) == 2 && std::is_trivially_copyable<half>::value, "half is two plain bytes");

namespace piton {

/* enum vnpu_dtype of an element type; VNPU_DT_NONE for types that no instruction takes. */
template <typename T>
constexpr uint8_t kDtype = VNPU_DT_NONE;
template <>
inline constexpr uint8_t kDtype<half> = VNPU_DT_F16;
template <>
inline constexpr uint8_t kDtype<bfloat16_t> = VNPU_DT_BF16;
template <>
inline constexpr uint8_t kDtype<float> = VNPU_DT_F32;
template <>
inline constexpr uint8_t kDtype<double> = VNPU_DT_F64;
template <>
inline constexpr uint8_t kDtype<int8_t> = VNPU_DT_I8;
template <>
inline constexpr uint8_t kDtype<char> = VNPU_DT_I8;
template <>
inline constexpr uint8_t kDtype<uint8_t> = VNPU_DT_U8;
template <>
inline constexpr uint8_t kDtype<int16_t> = VNPU_DT_I16;
template <>
inline constexpr uint8_t kDtype<uint16_t> = VNPU_DT_U16;
template <>
inline constexpr uint8_t kDtype<int32_t> = VNPU_DT_I32;
template <>
inline constexpr uint8_t kDtype<uint32_t> = VNPU_DT_U32;
template <>
inline constexpr uint8_t kDtype<int64_t> = VNPU_DT_I64;
template <>
inline constexpr uint8_t kDtype<long long> = VNPU_DT_I64;
template <>
inline constexpr uint8_t kDtype<uint64_t> = VNPU_DT_U64;
template <>
inline constexpr uint8_t kDtype<unsigned long long> = VNPU_DT_U64;
template <>
inline constexpr uint8_t kDtype<bool> = VNPU_DT_BOOL;
template <>
inline constexpr uint8_t kDtype<AscendC::int4b_t> = VNPU_DT_I4;

/* Bytes of n elements, and elements in n bytes: int4b_t has half a byte. */
template <typename T>
PITON_API constexpr uint64_t BytesOf(uint64_t elements) {
    return std::is_same<T, AscendC::int4b_t>::value ? elements / 2 : elements * sizeof(T);
}
template <typename T>
PITON_API constexpr uint64_t ElementsIn(uint64_t bytes) {
    return std::is_same<T, AscendC::int4b_t>::value ? bytes * 2 : bytes / sizeof(T);
}

/* The bits of one element, zero-extended, and back: how scalars travel in a record. */
template <typename T>
PITON_API uint64_t ToBits(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T>
PITON_API T FromBits(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace piton

namespace AscendC {

PITON_API float ToFloat(const bfloat16_t &value) { return static_cast<float>(value); }

PITON_API bfloat16_t ToBfloat16(const float &value) { return bfloat16_t(value); }

}  // namespace AscendC

#endif /* PITON_ASCENDC_TYPES_H */
