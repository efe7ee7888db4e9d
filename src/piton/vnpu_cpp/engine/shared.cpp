#include "shared.h"

#include <algorithm>
#include <iterator>

namespace vnpu {

void Acquaintance::learn(uint32_t other, const Prefix &prefix) {
    if (others.size() <= other) others.resize(other + 1);
    for (uint32_t pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe) others[other][pipe] = std::max(others[other][pipe], prefix[pipe]);
}

void Acquaintance::learn(const std::vector<Prefix> &prefixes) {
    for (uint32_t other = 0; other < prefixes.size(); ++other) learn(other, prefixes[other]);
}

bool Acquaintance::knows(const SharedAccess &access) const { return access.core < others.size() && others[access.core][access.pipe] >= access.number; }

bool CoreMap::is_in_the_way(const Cell &cell, const Acquaintance &who) {
    const bool is_newest = cell.access.core != who.core && !who.knows(cell.access);
    return is_newest || (cell.is_many && who.stamp <= cell.others);
}

bool CoreMap::other(uint64_t begin, uint64_t end, const Acquaintance &who, SharedRange &found) const {
    // One tensor is read and another one written, as a rule: nobody has been near these bytes.
    if (cells_.empty() || end <= cells_.begin()->first || begin >= cells_.rbegin()->second.end) return false;
    auto cell = cells_.upper_bound(begin);
    if (cell != cells_.begin() && std::prev(cell)->second.end > begin) --cell;
    for (; cell != cells_.end() && cell->first < end; ++cell) {
        const SharedAccess &access = cell->second.access;
        if (!is_in_the_way(cell->second, who)) continue;
        found = {std::max(cell->first, begin), std::min(cell->second.end, end), access.core, access.place};
        return true;
    }
    return false;
}

CoreMap::Cells::iterator CoreMap::cut(uint64_t at) {
    auto cell = cells_.lower_bound(at);
    if (cell == cells_.begin() || (cell != cells_.end() && cell->first == at)) return cell;
    const auto before = std::prev(cell);
    if (before->second.end <= at) return cell;
    const Cell upper = before->second;
    before->second.end = at;
    return cells_.emplace_hint(cell, at, upper);
}

void CoreMap::trim(Cells::iterator cell, uint64_t end) {
    if (cell->second.end <= end) return;
    const Cell upper = cell->second;
    cell->second.end = end;
    cells_.emplace_hint(std::next(cell), end, upper);
}

// Bytes that have an owner get another access.
void CoreMap::put(Cell &cell, const SharedAccess &access) const {
    const bool is_another = cell.access.core != access.core;
    const uint32_t place = is_another && !is_shared_ ? access.place : cell.access.place;
    if (is_another && is_shared_) {
        cell.others = std::max(cell.others, cell.access.stamp);
        cell.is_many = true;
    }
    cell.access = access;
    cell.access.place = place;
}

bool CoreMap::is_one(const Cell &a, const Cell &b) {
    const bool is_same_owner = a.access.core == b.access.core && a.access.epoch == b.access.epoch && a.access.pipe == b.access.pipe;
    return is_same_owner && a.is_many == b.is_many && a.others == b.others;
}

namespace {

// The cell above is more of the one below.
template <class Cell>
void join(Cell &below, const Cell &above) {
    below.end = above.end;
    below.access.number = std::max(below.access.number, above.access.number);
}

}  // namespace

void CoreMap::add(uint64_t begin, uint64_t end, const SharedAccess &access) {
    if (begin >= end) return;
    uint64_t at = begin;
    auto cell = cut(begin), last = cell;
    while (at < end) {
        if (cell == cells_.end() || cell->first > at) {
            const uint64_t until = cell == cells_.end() ? end : std::min(end, cell->first);
            cell = cells_.emplace_hint(cell, at, Cell{until, access, false, 0});
        } else {
            trim(cell, end);
            put(cell->second, access);
        }
        at = cell->second.end;
        last = cell == cells_.begin() ? cell : std::prev(cell);
        if (last != cell && last->second.end == cell->first && is_one(last->second, cell->second)) {
            join(last->second, cell->second);
            cell = cells_.erase(cell);
        } else {
            last = cell++;
        }
    }
    join_above(last);
}

// The next tile of a core usually starts where one ended; the neighbour above may be of this core as well.
void CoreMap::join_above(Cells::iterator last) {
    const auto above = std::next(last);
    if (above == cells_.end() || above->first != last->second.end || !is_one(last->second, above->second)) return;
    join(last->second, above->second);
    cells_.erase(above);
}

void SharedAccesses::new_phase() {
    writers.clear();
    readers.clear();
    atomics.clear();
    scalar_lines.clear();
}

}  // namespace vnpu
