#include "shadow.h"

namespace vnpu {

namespace {

constexpr uint64_t kAll = ~0ull;

// The bits of word `word` that lie in [begin, end).
uint64_t mask_of(uint64_t word, uint64_t begin, uint64_t end) {
    const uint64_t low = word * 64;
    const uint64_t from = begin > low ? begin - low : 0;
    const uint64_t to = end < low + 64 ? end - low : 64;
    return (kAll << from) & (to == 64 ? kAll : ~(kAll << to));
}

uint64_t lowest_bit(uint64_t word) { return static_cast<uint64_t>(__builtin_ctzll(word)); }

}  // namespace

void UndefinedBytes::reset(uint64_t bytes) { words_.assign((bytes + 63) / 64, kAll); }

uint64_t UndefinedBytes::first(uint64_t begin, uint64_t end) const {
    if (begin >= end) return end;
    for (uint64_t word = begin / 64; word <= (end - 1) / 64; ++word) {
        const uint64_t hit = words_[word] ? words_[word] & mask_of(word, begin, end) : 0;
        if (hit) return word * 64 + lowest_bit(hit);
    }
    return end;
}

bool UndefinedBytes::any(uint64_t begin, uint64_t end) const { return first(begin, end) < end; }

void UndefinedBytes::set(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    for (uint64_t word = begin / 64; word <= (end - 1) / 64; ++word) words_[word] |= mask_of(word, begin, end);
}

void UndefinedBytes::clear(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    for (uint64_t word = begin / 64; word <= (end - 1) / 64; ++word) words_[word] &= ~mask_of(word, begin, end);
}

void UndefinedBytes::copy(uint64_t to, uint64_t from, uint64_t bytes) {
    if (!any(from, from + bytes)) return clear(to, to + bytes);
    for (uint64_t at = 0; at < bytes; ++at) {
        const bool undefined = words_[(from + at) / 64] >> ((from + at) % 64) & 1;
        undefined ? set(to + at, to + at + 1) : clear(to + at, to + at + 1);
    }
}

}  // namespace vnpu
