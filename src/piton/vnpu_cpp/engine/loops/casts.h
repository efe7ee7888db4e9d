/*
 * Cast: the pairs and rounding modes that the 910B has (the A2 table of the vendor's Cast page).
 *
 * Choices where the page is silent: a float beyond the largest half becomes infinity whatever the mode (as if the exponent were unbounded, then overflow);
 * a NaN becomes 0 in an integer; a negative value becomes 0 in an unsigned one.
 */
#pragma once

namespace vnpu::VNPU_PATH::casts {

namespace {

// AscendC::RoundMode.
enum Mode : uint32_t { kNone = 0, kRint = 1, kFloor = 2, kCeil = 3, kRound = 4, kTrunc = 5, kOdd = 6 };

constexpr uint32_t kChunk = 512;

// ---- float to a shorter float, on bits: `mantissa` stored bits, smallest normal exponent `lowest`, overflow at 2^`highest` ----
struct HalfFormat {
    static constexpr int mantissa = 10, lowest = -14, highest = 16, bias = 15;
};
struct BfloatFormat {
    static constexpr int mantissa = 7, lowest = -126, highest = 128, bias = 127;
};

// Whether the kept bits go up by one; `rest` of `unit` was cut off.
template <Mode mode>
bool goes_up(bool is_negative, uint64_t kept, uint64_t rest, uint64_t unit) {
    switch (mode) {
        case kFloor:
            return is_negative && rest != 0;
        case kCeil:
            return !is_negative && rest != 0;
        case kRound:
            return rest * 2 >= unit;
        case kTrunc:
            return false;
        case kOdd:
            return rest != 0 && (kept & 1) == 0;
        default:
            return rest * 2 > unit || (rest * 2 == unit && (kept & 1));
    }
}

template <class Format, Mode mode>
uint16_t shorten(float value) {
    constexpr int m = Format::mantissa;
    const uint32_t bits = bits_as<uint32_t>(value);
    const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const auto infinity = static_cast<uint16_t>(((Format::highest + Format::bias) & 0xff) << m);
    if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | infinity | 1u << (m - 1) | (magnitude >> (23 - m) & ((1u << m) - 1)));
    if (magnitude == 0x7f800000u) return sign | infinity;
    if (magnitude == 0) return sign;
    // value = significand * 2^(exponent - 23); a subnormal float keeps exponent -126 without the hidden bit
    const int stored = static_cast<int>(magnitude >> 23);
    const int exponent = most(stored, 1) - 127;
    const uint64_t significand = (magnitude & 0x7fffffu) | (stored ? 0x800000u : 0u);
    const int below = least(most(Format::lowest - exponent, 0), 26);  // extra bits lost to a subnormal result
    const int cut = 23 - m + below;
    const uint64_t kept = significand >> cut;
    const uint64_t unit = 1ull << cut;
    const uint64_t rounded = kept + goes_up<mode>(sign != 0, kept, significand & (unit - 1), unit);
    // Without the hidden bit for a subnormal; a carry into the exponent comes out right by itself.
    const int64_t base = below ? 0 : static_cast<int64_t>(exponent + Format::bias - 1) << m;
    const uint64_t result = static_cast<uint64_t>(base) + rounded;
    return static_cast<uint16_t>(sign | (result >= infinity ? infinity : result));
}

// ---- rounding to an integer, in double so that every float, int32 and half is exact ----
template <Mode mode>
double to_integer(double value) {
    switch (mode) {
        case kFloor:
            return std::floor(value);
        case kCeil:
            return std::ceil(value);
        case kRound:
            return std::copysign(std::floor(std::fabs(value) + 0.5), value);  // the sum is exact: a float has 24 bits
        case kTrunc:
            return std::trunc(value);
        default:
            return std::nearbyint(value);
    }
}

template <class T>
T saturate(double value) {
    if (!(value == value)) return T(0);
    if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    // max() of int64 is no double: anything from 2^63 on saturates
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
}

// An integer to float when not every one fits: nearest, then one step over where the mode asks for the other neighbour.
template <Mode mode>
float integer_to_float(int64_t value) {
    const float nearest = static_cast<float>(value);
    if (mode == kRint || mode == kNone) return nearest;
    const __int128 error = static_cast<__int128>(value) - static_cast<__int128>(nearest);  // exact: |value| <= 2^63
    const bool is_tie_away =
        mode == kRound && error != 0 && (error > 0) == (value > 0) &&
        2 * (error < 0 ? -error : error) == static_cast<__int128>(std::fabs(std::nextafter(nearest, value > 0 ? HUGE_VALF : -HUGE_VALF) - nearest));
    const bool goes_up = error > 0 && (mode == kCeil || (mode == kTrunc && value < 0) || (is_tie_away && value > 0));
    const bool goes_down = error < 0 && (mode == kFloor || (mode == kTrunc && value > 0) || (is_tie_away && value < 0));
    return goes_up ? std::nextafter(nearest, HUGE_VALF) : goes_down ? std::nextafter(nearest, -HUGE_VALF) : nearest;
}

// ---- loops ----
template <class From, class To, To (*convert)(From)>
void each(void *dst, const void *src0, const void *, uint64_t, uint32_t count) {
    auto *d = static_cast<To *>(dst);
    const auto *a = static_cast<const From *>(src0);
    for (uint32_t i = 0; i < count; ++i) d[i] = convert(a[i]);
}

void half_to_float_loop(void *dst, const void *src0, const void *, uint64_t, uint32_t count) {
    // Through a buffer: source and destination may not be told apart by the compiler, and a narrowing neighbour may share them.
    float wide[kChunk];
    for (uint32_t at = 0; at < count; at += kChunk) {
        const uint32_t n = least(kChunk, count - at);
        halves_to_floats(static_cast<const uint16_t *>(src0) + at, wide, n);
        std::memcpy(static_cast<float *>(dst) + at, wide, n * sizeof wide[0]);
    }
}

void float_to_half_loop(void *dst, const void *src0, const void *, uint64_t, uint32_t count) {
    uint16_t narrow[kChunk];
    for (uint32_t at = 0; at < count; at += kChunk) {
        const uint32_t n = least(kChunk, count - at);
        floats_to_halves(static_cast<const float *>(src0) + at, narrow, n);
        std::memcpy(static_cast<uint16_t *>(dst) + at, narrow, n * sizeof narrow[0]);
    }
}

void bfloat_to_float_loop(void *dst, const void *src0, const void *, uint64_t, uint32_t count) {
    auto *d = static_cast<uint32_t *>(dst);
    const auto *a = static_cast<const uint16_t *>(src0);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = static_cast<uint32_t>(a[i]) << 16;
}

// Ties to even in integer arithmetic, so that the loop vectorises; NaNs keep sign and upper payload, made quiet.
void float_to_bfloat_loop(void *dst, const void *src0, const void *, uint64_t, uint32_t count) {
    auto *d = static_cast<uint16_t *>(dst);
    const auto *a = static_cast<const uint32_t *>(src0);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bits = a[i];
        const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
        const uint32_t quiet = bits >> 16 | 0x40u;
        d[i] = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
    }
}

template <Mode mode>
uint16_t to_half(float value) {
    return shorten<HalfFormat, mode>(value);
}
template <Mode mode>
uint16_t to_bfloat(float value) {
    return shorten<BfloatFormat, mode>(value);
}
template <Mode mode>
float round_float(float value) {
    const float quiet = bits_as<float>(bits_as<uint32_t>(value) | 0x400000u);  // some processors make a NaN quiet here, some do not
    return value == value ? static_cast<float>(to_integer<mode>(value)) : quiet;
}
template <Mode mode, class T>
T float_to(float value) {
    return saturate<T>(to_integer<mode>(value));
}
template <Mode mode, class T>
T half_to(uint16_t value) {
    return saturate<T>(to_integer<mode>(half_to_float(value)));
}
template <Mode mode, class T>
T bfloat_to(uint16_t value) {
    return saturate<T>(to_integer<mode>(bfloat_to_float(value)));
}
template <Mode mode>
float int32_to_float(int32_t value) {
    return integer_to_float<mode>(value);
}
template <Mode mode>
float int64_to_float(int64_t value) {
    return integer_to_float<mode>(value);
}
template <Mode mode>
uint16_t int16_to_half(int16_t value) {
    return shorten<HalfFormat, mode>(value);
}
template <class From>
uint16_t byte_to_half(From value) {
    return float_to_half(value);
}
float int16_to_float(int16_t value) { return value; }
int64_t int32_to_int64(int32_t value) { return value; }
int16_t int32_to_int16(int32_t value) { return static_cast<int16_t>(least(most(value, -32768), 32767)); }
int32_t int64_to_int32(int64_t value) { return static_cast<int32_t>(least<int64_t>(most<int64_t>(value, INT32_MIN), INT32_MAX)); }

// The scale is a half in `scalar`; rounded once, to nearest even (documentation page of CastDequant).
void scaled_int32_to_half(void *dst, const void *src0, const void *, uint64_t scalar, uint32_t count) {
    auto *d = static_cast<uint16_t *>(dst);
    const auto *a = static_cast<const int32_t *>(src0);
    const double scale = half_to_float(static_cast<uint16_t>(scalar));
    // A product of 31 and 11 bits is exact in double; to odd in float it keeps what the last rounding needs.
    for (uint32_t i = 0; i < count; ++i) {
        const double product = a[i] * scale;
        float near = static_cast<float>(product);
        if (static_cast<double>(near) != product && !(bits_as<uint32_t>(near) & 1)) near = std::nextafter(near, product > near ? HUGE_VALF : -HUGE_VALF);
        d[i] = float_to_half(near);
    }
}

constexpr uint32_t pair(uint8_t from, uint8_t to) { return static_cast<uint32_t>(from) << 8 | to; }

// Pairs that round, in the five modes of the vendor's "R" (and whatever else the caller lets through as `mode`).
template <Mode mode>
VectorKernel rounding_pair(uint32_t from_to) {
    switch (from_to) {
        case pair(VNPU_DT_F32, VNPU_DT_F16):
            return mode == kRint ? float_to_half_loop : each<float, uint16_t, to_half<mode>>;
        case pair(VNPU_DT_F32, VNPU_DT_BF16):
            return mode == kRint ? float_to_bfloat_loop : each<float, uint16_t, to_bfloat<mode>>;
        case pair(VNPU_DT_F32, VNPU_DT_F32):
            return each<float, float, round_float<mode>>;
        case pair(VNPU_DT_F32, VNPU_DT_I16):
            return each<float, int16_t, float_to<mode, int16_t>>;
        case pair(VNPU_DT_F32, VNPU_DT_I32):
            return each<float, int32_t, float_to<mode, int32_t>>;
        case pair(VNPU_DT_F32, VNPU_DT_I64):
            return each<float, int64_t, float_to<mode, int64_t>>;
        case pair(VNPU_DT_F16, VNPU_DT_I32):
            return each<uint16_t, int32_t, half_to<mode, int32_t>>;
        case pair(VNPU_DT_F16, VNPU_DT_I16):
            return each<uint16_t, int16_t, half_to<mode, int16_t>>;
        case pair(VNPU_DT_F16, VNPU_DT_I8):
            return each<uint16_t, int8_t, half_to<mode, int8_t>>;
        case pair(VNPU_DT_F16, VNPU_DT_U8):
            return each<uint16_t, uint8_t, half_to<mode, uint8_t>>;
        case pair(VNPU_DT_BF16, VNPU_DT_I32):
            return each<uint16_t, int32_t, bfloat_to<mode, int32_t>>;
        case pair(VNPU_DT_I16, VNPU_DT_F16):
            return each<int16_t, uint16_t, int16_to_half<mode>>;
        case pair(VNPU_DT_I32, VNPU_DT_F32):
            return each<int32_t, float, int32_to_float<mode>>;
        case pair(VNPU_DT_I64, VNPU_DT_F32):
            return each<int64_t, float, int64_to_float<mode>>;
        default:
            return nullptr;
    }
}

// Pairs that are exact or saturate only; mode NONE.
VectorKernel plain_pair(uint32_t from_to) {
    switch (from_to) {
        case pair(VNPU_DT_F16, VNPU_DT_F32):
            return half_to_float_loop;
        case pair(VNPU_DT_BF16, VNPU_DT_F32):
            return bfloat_to_float_loop;
        case pair(VNPU_DT_I8, VNPU_DT_F16):
            return each<int8_t, uint16_t, byte_to_half<int8_t>>;
        case pair(VNPU_DT_U8, VNPU_DT_F16):
            return each<uint8_t, uint16_t, byte_to_half<uint8_t>>;
        case pair(VNPU_DT_I16, VNPU_DT_F32):
            return each<int16_t, float, int16_to_float>;
        case pair(VNPU_DT_I32, VNPU_DT_I64):
            return each<int32_t, int64_t, int32_to_int64>;
        case pair(VNPU_DT_I32, VNPU_DT_I16):
            return each<int32_t, int16_t, int32_to_int16>;
        case pair(VNPU_DT_I64, VNPU_DT_I32):
            return each<int64_t, int32_t, int64_to_int32>;
        default:
            return nullptr;
    }
}

// Rounding pairs that also take NONE, which means RINT there.
bool takes_none(uint32_t from_to) {
    constexpr uint32_t kPairs[] = {pair(VNPU_DT_F32, VNPU_DT_F16), pair(VNPU_DT_F16, VNPU_DT_I8), pair(VNPU_DT_F16, VNPU_DT_U8), pair(VNPU_DT_I16, VNPU_DT_F16),
                                   pair(VNPU_DT_I32, VNPU_DT_F32)};
    for (const uint32_t one : kPairs)
        if (one == from_to) return true;
    return false;
}

}  // namespace

inline VectorKernel kernel(uint8_t from, uint8_t to, uint32_t round_mode) {
    const uint32_t from_to = pair(from, to);
    if (from_to == pair(VNPU_DT_I32, VNPU_DT_F16)) return scaled_int32_to_half;  // whatever the mode
    switch (round_mode) {
        case kNone:
            return takes_none(from_to) ? rounding_pair<kRint>(from_to) : plain_pair(from_to);
        case kRint:
            return rounding_pair<kRint>(from_to);
        case kFloor:
            return rounding_pair<kFloor>(from_to);
        case kCeil:
            return rounding_pair<kCeil>(from_to);
        case kRound:
            return rounding_pair<kRound>(from_to);
        case kTrunc:
            return rounding_pair<kTrunc>(from_to);
        case kOdd:
            return from_to == pair(VNPU_DT_F32, VNPU_DT_F16) ? each<float, uint16_t, to_half<kOdd>> : nullptr;
        default:
            return nullptr;
    }
}

}  // namespace vnpu::VNPU_PATH::casts
