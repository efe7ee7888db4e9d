/*
 * Halves to floats and back, many at a time.
 *
 * F16C, AVX-512 and the half registers of aarch64 give the bits of half.h, NaN payloads included; elsewhere selects instead of branches let the compiler
 * vectorise.
 */
#pragma once

namespace vnpu::VNPU_PATH {

// As std::min and std::max, of which the program has one copy for all paths.
template <class T>
constexpr T least(T a, T b) {
    return b < a ? b : a;
}
template <class T>
constexpr T most(T a, T b) {
    return a < b ? b : a;
}

namespace {

inline float widened(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    const uint32_t special = 0x7f800000u | magnitude << 13 | (magnitude > 0x7c00u ? 0x400000u : 0u);
    const uint32_t scaled = bits_as<uint32_t>(bits_as<float>(magnitude << 13) * 0x1p112f);
    return bits_as<float>((magnitude >= 0x7c00u ? special : scaled) | sign);
}

inline uint16_t narrowed(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    // A subnormal half: float addition does the rounding. Larger values do not matter, but must not overflow the subtraction below.
    const uint32_t subnormal = bits_as<uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
    result = magnitude >= 0x47800000u ? 0x7c00u : result;  // 65536 and above
    result = magnitude > 0x7f800000u ? nan : result;
    return static_cast<uint16_t>(result | (bits >> 16 & 0x8000u));
}

}  // namespace

// Called once per chunk; inlined into every loop it would be most of the program.
__attribute__((noinline)) inline void halves_to_floats(const uint16_t *from, float *to, uint32_t count) {
    uint32_t at = 0;
#if VNPU_VECTOR_BYTES == 64
    for (; at + 16 <= count; at += 16)
        _mm512_storeu_ps(to + at, _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at))));
#elif VNPU_VECTOR_BYTES == 32
    for (; at + 8 <= count; at += 8) _mm256_storeu_ps(to + at, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at))));
#elif defined(__aarch64__)
    for (; at + 4 <= count; at += 4) vst1q_f32(to + at, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from + at))));
#endif
#pragma GCC ivdep
    for (uint32_t i = at; i < count; ++i) to[i] = widened(from[i]);
}

__attribute__((noinline)) inline void floats_to_halves(const float *from, uint16_t *to, uint32_t count) {
    uint32_t at = 0;
#if VNPU_VECTOR_BYTES == 64
    for (; at + 16 <= count; at += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + at),
                            _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + at), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif VNPU_VECTOR_BYTES == 32
    for (; at + 8 <= count; at += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to + at), _mm256_cvtps_ph(_mm256_loadu_ps(from + at), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__aarch64__)
    for (; at + 4 <= count; at += 4) vst1_u16(to + at, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(from + at))));
#endif
#pragma GCC ivdep
    for (uint32_t i = at; i < count; ++i) to[i] = narrowed(from[i]);
}

}  // namespace vnpu::VNPU_PATH
