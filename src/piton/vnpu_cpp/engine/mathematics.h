/*
 * Elementary functions with the same bits on every host.
 *
 * Problem: libm differs between versions and machines; a verdict must not.
 * Approach: range reduction and a polynomial in double without fused operations, rounded once to float. The error before that rounding is below 1e-12
 * relative, so the result is the correctly rounded one but for about one argument in 10^4 next to a tie, and never more than 1 ulp off. Written without
 * branches, so that loops over them vectorise.
 * Limits: better than the chip, whose figures are not published; subnormals are kept.
 */
#pragma once

#include <cmath>
#include <cstdint>

#include "half.h"

namespace vnpu {

constexpr double kLog2E = 1.44269504088896338700;
// ln 2 in two parts; the first has 32 trailing zero bits, so k * kLn2High is exact for every exponent k.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kRoundToInteger = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves the nearest integer in the low mantissa bits

inline float quiet_nan() { return bits_as<float>(0x7fc00000u); }

// One NaN for all: which operand's payload survives differs between hosts.
inline float tidy(float value) { return value == value ? value : quiet_nan(); }

inline float exp_of(float argument) {
    double x = argument;
    x = x < -110.0 ? -110.0 : x;  // float underflows below -104; a NaN passes both
    x = x > 90.0 ? 90.0 : x;      // float overflows above 88.8
    const double shifted = x * kLog2E + kRoundToInteger;
    const double k = shifted - kRoundToInteger;
    const double r = x - k * kLn2High - k * kLn2Low;  // |r| <= ln(2)/2
    double p = 1.0 / 39916800.0;                      // Taylor to r^11: the next term is below 7e-15
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const double scale = bits_as<double>((bits_as<uint64_t>(shifted) + 1023u) << 52);
    return tidy(static_cast<float>(p * scale));
}

inline float ln_of(float argument) {
    const double x = argument;  // subnormal floats are normal here
    const uint64_t bits = bits_as<uint64_t>(x);
    // Exponent k such that x = 2^k m with m in [sqrt(1/2), sqrt(2)); biased by 1024 to stay positive.
    const uint64_t biased = (bits - 0x3fe6a09e667f3bcdull + (1024ull << 52)) >> 52;
    const double k = bits_as<double>(0x4330000000000000ull | biased) - 4503599627370496.0 - 1024.0;
    const double m = bits_as<double>(bits - ((biased - 1024u) << 52));
    const double s = (m - 1.0) / (m + 1.0);  // |s| <= 0.1716; ln m = 2 atanh s
    const double z = s * s;
    double p = 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    const double finite = k * kLn2High + (k * kLn2Low + (2.0 * s + 2.0 * s * z * p));
    const float infinity = bits_as<float>(0x7f800000u);
    float result = static_cast<float>(finite);
    result = argument == infinity ? infinity : result;
    result = argument == 0.0f ? -infinity : result;
    result = argument < 0.0f ? quiet_nan() : result;
    return argument == argument ? result : quiet_nan();
}

inline float rsqrt_of(float argument) { return tidy(static_cast<float>(1.0 / std::sqrt(static_cast<double>(argument)))); }

}  // namespace vnpu
