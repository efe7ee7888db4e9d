#include "shadow.h"

#include <algorithm>

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
    if (begin >= end || !any(begin, end)) return end;
    for (uint64_t word = begin / 64; word <= (end - 1) / 64; ++word) {
        const uint64_t hit = words_[word] ? words_[word] & mask_of(word, begin, end) : 0;
        if (hit) return word * 64 + lowest_bit(hit);
    }
    return end;
}

// All words together instead of one test each, so that the compiler takes several at a time.
bool UndefinedBytes::any(uint64_t begin, uint64_t end) const {
    if (begin >= end) return false;
    const uint64_t head = begin / 64, tail = (end - 1) / 64;
    uint64_t hits = (words_[head] & mask_of(head, begin, end)) | (words_[tail] & mask_of(tail, begin, end));
    for (uint64_t word = head + 1; word < tail; ++word) hits |= words_[word];
    return hits != 0;
}

void UndefinedBytes::set(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    const uint64_t head = begin / 64, tail = (end - 1) / 64;
    words_[head] |= mask_of(head, begin, end);
    words_[tail] |= mask_of(tail, begin, end);
    fill_between(head, tail, kAll);
}

void UndefinedBytes::clear(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    const uint64_t head = begin / 64, tail = (end - 1) / 64;
    words_[head] &= ~mask_of(head, begin, end);
    words_[tail] &= ~mask_of(tail, begin, end);
    fill_between(head, tail, 0);
}

void UndefinedBytes::fill_between(uint64_t head, uint64_t tail, uint64_t value) {
    if (tail > head + 1) std::fill(words_.begin() + static_cast<int64_t>(head) + 1, words_.begin() + static_cast<int64_t>(tail), value);
}

void UndefinedBytes::copy(uint64_t to, uint64_t from, uint64_t bytes) {
    if (!any(from, from + bytes)) return clear(to, to + bytes);
    for (uint64_t at = 0; at < bytes; ++at) {
        const bool undefined = words_[(from + at) / 64] >> ((from + at) % 64) & 1;
        undefined ? set(to + at, to + at + 1) : clear(to + at, to + at + 1);
    }
}

}  // namespace vnpu
