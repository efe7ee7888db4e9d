/*
 * Half and bfloat16 as bits, to and from float.
 *
 * Half arithmetic is done in float and rounded once, which for + - * / and square root equals true half arithmetic. Many at a time are
 * converted by loops/halves.h, to the same bits (NaN payloads included).
 */
#pragma once

#include <cstdint>
#include <cstring>

namespace vnpu {

template <class To, class From>
inline To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

inline float half_to_float(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u) {
        const uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0u;
        return bits_as<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13 | quiet);
    }
    // Scaling by 2^112 moves the exponent to float's bias and normalises subnormals exactly.
    const float scaled = bits_as<float>(magnitude << 13) * 0x1p112f;
    return bits_as<float>(bits_as<uint32_t>(scaled) | sign);
}

// Round to nearest, ties to even; overflow gives infinity.
inline uint16_t float_to_half(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65536 and above
    if (magnitude < 0x38800000u) {                                               // subnormal half: let float addition do the rounding
        const float shifted = bits_as<float>(magnitude) + 0.5f;
        return static_cast<uint16_t>(sign | (bits_as<uint32_t>(shifted) - 0x3f000000u));
    }
    const uint32_t odd = magnitude >> 13 & 1u;
    return static_cast<uint16_t>(sign | (magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

inline float bfloat_to_float(uint16_t value) { return bits_as<float>(static_cast<uint32_t>(value) << 16); }

}  // namespace vnpu
