#include "shared.h"

#include <algorithm>
#include <iterator>

namespace vnpu {

bool CoreMap::other(uint64_t begin, uint64_t end, uint32_t core, SharedRange &found) const {
    auto cell = cells_.upper_bound(begin);
    if (cell != cells_.begin() && std::prev(cell)->second.end > begin) --cell;
    for (; cell != cells_.end() && cell->first < end; ++cell) {
        if (cell->second.core == core) continue;
        found = {std::max(cell->first, begin), std::min(cell->second.end, end), cell->second.core, cell->second.place};
        return true;
    }
    return false;
}

void CoreMap::split(uint64_t at) {
    auto cell = cells_.upper_bound(at);
    if (cell == cells_.begin()) return;
    --cell;
    if (cell->first == at || cell->second.end <= at) return;
    const Cell upper = cell->second;
    cell->second.end = at;
    cells_.emplace_hint(std::next(cell), at, upper);
}

void CoreMap::add(uint64_t begin, uint64_t end, uint32_t core, uint32_t place) {
    split(begin);
    split(end);
    uint64_t at = begin;
    for (auto cell = cells_.lower_bound(begin); at < end;) {
        if (cell == cells_.end() || cell->first > at) {
            const uint64_t until = cell == cells_.end() ? end : std::min(end, cell->first);
            cell = cells_.emplace_hint(cell, at, Cell{until, core, place});
        } else if (cell->second.core != core) {
            cell->second.core = kManyCores;
        }
        at = cell->second.end;
        const auto before = cell == cells_.begin() ? cells_.end() : std::prev(cell);
        if (before != cells_.end() && before->second.end == cell->first && before->second.core == cell->second.core) {
            before->second.end = at;
            cell = cells_.erase(cell);
        } else {
            ++cell;
        }
    }
    // The next tile of this core usually starts where this one ended; the neighbour above may be of this core as well.
    const auto above = cells_.lower_bound(end);
    if (above == cells_.begin() || above == cells_.end() || above->first != end) return;
    const auto last = std::prev(above);
    if (last->second.end != end || last->second.core != above->second.core) return;
    last->second.end = above->second.end;
    cells_.erase(above);
}

void SharedAccesses::new_phase() {
    writers.clear();
    readers.clear();
    atomics.clear();
    scalar_lines.clear();
}

}  // namespace vnpu
