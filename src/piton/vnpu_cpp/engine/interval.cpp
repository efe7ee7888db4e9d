#include "interval.h"

#include <algorithm>
#include <iterator>

namespace vnpu {

void IntervalSet::add(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin() && std::prev(next)->second >= begin) {
        --next;
        begin = next->first;
    }
    while (next != ranges_.end() && next->first <= end) {
        end = std::max(end, next->second);
        next = ranges_.erase(next);
    }
    ranges_.emplace_hint(next, begin, end);
}

void IntervalSet::remove(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin() && std::prev(next)->second > begin) --next;
    while (next != ranges_.end() && next->first < end) {
        const auto [first, last] = *next;
        next = ranges_.erase(next);
        if (first < begin) ranges_.emplace_hint(next, first, begin);
        if (last > end) ranges_.emplace_hint(next, end, last);
    }
}

bool IntervalSet::covers(uint64_t begin, uint64_t end) const { return first_gap(begin, end) >= end; }

bool IntervalSet::touches(uint64_t begin, uint64_t end) const {
    if (begin >= end) return false;
    auto next = ranges_.lower_bound(end);
    return next != ranges_.begin() && std::prev(next)->second > begin;
}

uint64_t IntervalSet::first_gap(uint64_t begin, uint64_t end) const {
    if (begin >= end) return end;
    auto next = ranges_.upper_bound(begin);
    if (next == ranges_.begin()) return begin;
    // Neighbours that touch are merged, so one range either covers all of it or ends at the gap.
    const uint64_t last = std::prev(next)->second;
    return last <= begin ? begin : std::min(last, end);
}

uint64_t IntervalSet::bytes() const {
    uint64_t total = 0;
    for (const auto &[begin, end] : ranges_) total += end - begin;
    return total;
}

}  // namespace vnpu
