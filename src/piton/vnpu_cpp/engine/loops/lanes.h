/*
 * The lanes of one repeat: comparison to bits, selection by bits, the sum of neighbours.
 *
 * Problem: these results are not element by element of the operands' size, so that the compiler vectorises nothing by itself.
 * Approach: a comparison leaves a byte of 0 or 1 per lane, and one multiplication gathers eight of them; a selection spreads a byte's bits over eight lanes;
 * a sum goes from one array to another half as long, rounded to halves at every level where the elements are halves.
 * Limits: little-endian hosts, as all of the engine.
 */
#pragma once

namespace vnpu::VNPU_PATH::lanes {

namespace {

constexpr uint32_t kLanes = 128;  // of a repeat, at most

struct Less {
    template <class T>
    static bool of(T a, T b) {
        return a < b;
    }
};
struct Greater {
    template <class T>
    static bool of(T a, T b) {
        return a > b;
    }
};
struct Equal {
    template <class T>
    static bool of(T a, T b) {
        return a == b;
    }
};
struct LessEqual {
    template <class T>
    static bool of(T a, T b) {
        return a <= b;
    }
};
struct GreaterEqual {
    template <class T>
    static bool of(T a, T b) {
        return a >= b;
    }
};
struct NotEqual {
    template <class T>
    static bool of(T a, T b) {
        return a != b;
    }
};

// Eight bytes of 0 or 1 as bits, the first one the lowest: byte i is moved to bit 56 + i, and no two meet on the way.
inline uint8_t packed(const uint8_t *flags) {
    uint64_t word;
    std::memcpy(&word, flags, sizeof word);
    return static_cast<uint8_t>(word * 0x0102040810204080ull >> 56);
}

template <class Test, class T>
void compare_by(const T *a, const T *b, uint32_t count, uint8_t *bits) {
    uint8_t flags[kLanes];
    for (uint32_t at = 0; at < count; ++at) flags[at] = Test::of(a[at], b[at]);
    for (uint32_t at = 0; at < count / 8; ++at) bits[at] = packed(flags + 8 * at);
}

template <class T>
void compare_as(uint32_t mode, const T *a, const T *b, uint32_t count, uint8_t *bits) {
    switch (mode) {
        case kLess:
            return compare_by<Less>(a, b, count, bits);
        case kGreater:
            return compare_by<Greater>(a, b, count, bits);
        case kEqual:
            return compare_by<Equal>(a, b, count, bits);
        case kLessEqual:
            return compare_by<LessEqual>(a, b, count, bits);
        case kGreaterEqual:
            return compare_by<GreaterEqual>(a, b, count, bits);
        default:
            return compare_by<NotEqual>(a, b, count, bits);
    }
}

template <class T>
void select_as(const SelectJob &job, const T *a, const T *b, T *to) {
    for (uint32_t first = 0; first < job.count; first += 8) {
        const uint32_t bits = job.bits[first / 8];
        for (uint32_t at = 0; at < 8; ++at) {
            const T mask = static_cast<T>(0u - (bits >> at & 1u));
            to[first + at] = static_cast<T>((a[first + at] & mask) | (b[first + at] & ~mask));
        }
    }
}

// `to` may not be `from`.
inline void add_neighbours(const float *from, float *to, uint32_t results, bool is_half) {
    for (uint32_t at = 0; at < results; ++at) {
        const float sum = from[2 * at] + from[2 * at + 1];
        to[at] = sum == sum ? sum : bits_as<float>(0x7fc00000u);
    }
    if (!is_half) return;
    uint16_t halves[kLanes / 2];
    floats_to_halves(to, halves, results);
    halves_to_floats(halves, to, results);
}

}  // namespace

inline void compare(const CompareJob &job, const void *a, const void *b, uint8_t *bits) {
    if (job.dtype == VNPU_DT_I32) return compare_as(job.mode, static_cast<const int32_t *>(a), static_cast<const int32_t *>(b), job.count, bits);
    if (job.dtype == VNPU_DT_F32) return compare_as(job.mode, static_cast<const float *>(a), static_cast<const float *>(b), job.count, bits);
    float wide[2][kLanes];
    halves_to_floats(static_cast<const uint16_t *>(a), wide[0], job.count);
    halves_to_floats(static_cast<const uint16_t *>(b), wide[1], job.count);
    compare_as(job.mode, wide[0], wide[1], job.count, bits);
}

inline void select(const SelectJob &job, const void *a, const void *b, void *to) {
    if (job.bytes == 2) return select_as(job, static_cast<const uint16_t *>(a), static_cast<const uint16_t *>(b), static_cast<uint16_t *>(to));
    select_as(job, static_cast<const uint32_t *>(a), static_cast<const uint32_t *>(b), static_cast<uint32_t *>(to));
}

inline float sum(const float *values, uint32_t count, bool is_half) {
    if (count == 1) return values[0];
    float levels[2][kLanes / 2];
    uint32_t left = count / 2, level = 0;
    add_neighbours(values, levels[0], left, is_half);
    for (; left > 1; left /= 2, level ^= 1u) add_neighbours(levels[level], levels[level ^ 1u], left / 2, is_half);
    return levels[level][0];
}

}  // namespace vnpu::VNPU_PATH::lanes
