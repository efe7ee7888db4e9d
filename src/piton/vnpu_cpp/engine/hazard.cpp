#include "hazard.h"

#include <algorithm>
#include <iterator>

namespace vnpu {

bool Clocks::is_ordered(uint32_t pipe, uint32_t earlier_pipe, uint32_t number) const {
    if (pipe == VNPU_PIPE_S && earlier_pipe == VNPU_PIPE_S) return true;  // the scalar unit is in order
    return number <= known_[pipe][earlier_pipe];
}

Prefix Clocks::completed_by_set(uint32_t pipe) const {
    // What the pipe waited for before is complete too: its own work started after that.
    Prefix prefix = known_[pipe];
    prefix[pipe] = issued_[pipe];
    return prefix;
}

void Clocks::learn(uint32_t pipe, const Prefix &prefix) {
    const uint32_t first = pipe == VNPU_PIPE_S ? 0 : pipe;
    const uint32_t last = pipe == VNPU_PIPE_S ? VNPU_PIPE_COUNT - 1 : pipe;
    for (uint32_t learner = first; learner <= last; ++learner)
        for (uint32_t about = 0; about < VNPU_PIPE_COUNT; ++about) known_[learner][about] = std::max(known_[learner][about], prefix[about]);
}

void Clocks::barrier(uint32_t pipe) {
    if (pipe == VNPU_PIPE_ALL)
        known_.fill(issued_);
    else
        known_[pipe][pipe] = issued_[pipe];
}

bool Clocks::is_known_to_dma(uint32_t pipe, uint32_t number) const { return number <= known_[VNPU_PIPE_MTE2][pipe] && number <= known_[VNPU_PIPE_MTE3][pipe]; }

bool AccessMap::Cell::same_history(const Cell &other) const {
    const auto same = [](const Access &a, const Access &b) { return a.number == b.number && a.place == b.place; };
    if (writer_pipe != other.writer_pipe || !same(writer, other.writer)) return false;
    return std::equal(readers.begin(), readers.end(), other.readers.begin(), same);
}

AccessMap::Cells::const_iterator AccessMap::first_at(uint64_t begin) const {
    auto cell = cells_.upper_bound(begin);
    if (cell != cells_.begin() && std::prev(cell)->second.end > begin) --cell;
    return cell;
}

void AccessMap::split(uint64_t at) {
    auto cell = cells_.upper_bound(at);
    if (cell == cells_.begin()) return;
    --cell;
    if (cell->first == at || cell->second.end <= at) return;
    Cell upper = cell->second;
    cell->second.end = at;
    cells_.emplace_hint(std::next(cell), at, upper);
}

void AccessMap::write(uint64_t begin, uint64_t end, uint8_t pipe, Access access) {
    // Whoever is ordered after this write is ordered after all that it overwrote, so the older history can go.
    split(begin);
    split(end);
    auto next = cells_.erase(cells_.lower_bound(begin), cells_.lower_bound(end));
    Cell cell;
    cell.end = end;
    cell.writer = access;
    cell.writer_pipe = pipe;
    cells_.emplace_hint(next, begin, cell);
}

void AccessMap::read(uint64_t begin, uint64_t end, uint8_t pipe, Access access) {
    split(begin);
    split(end);
    uint64_t at = begin;
    for (auto cell = cells_.lower_bound(begin); at < end;) {
        if (cell == cells_.end() || cell->first > at) {
            Cell fresh;
            fresh.end = cell == cells_.end() ? end : std::min(end, cell->first);
            cell = cells_.emplace_hint(cell, at, fresh);
        }
        cell->second.readers[pipe] = access;
        at = cell->second.end;
        const auto before = cell == cells_.begin() ? cells_.end() : std::prev(cell);
        if (before != cells_.end() && before->second.end == cell->first && before->second.same_history(cell->second)) {
            before->second.end = at;
            cell = cells_.erase(cell);
        } else {
            ++cell;
        }
    }
}

void AccessMap::forget_known(const Clocks &clocks) {
    if (cells_.size() < sweep_at_) return;
    for (auto cell = cells_.begin(); cell != cells_.end();) {
        Cell &past = cell->second;
        bool is_needed = past.writer.number && !clocks.is_known_to_dma(past.writer_pipe, past.writer.number);
        for (uint8_t pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe)
            is_needed = is_needed || (past.readers[pipe].number && !clocks.is_known_to_dma(pipe, past.readers[pipe].number));
        cell = is_needed ? std::next(cell) : cells_.erase(cell);
    }
    sweep_at_ = std::max<size_t>(4096, 2 * cells_.size());
}

}  // namespace vnpu
