#include "hazard.h"

#include <algorithm>
#include <iterator>

namespace vnpu {

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

bool History::operator==(const History &other) const {
    return writer_pipe == other.writer_pipe && writer == other.writer && std::equal(readers.begin(), readers.end(), other.readers.begin());
}

AccessMap::Cells::const_iterator AccessMap::first_at(uint64_t begin) const {
    auto cell = cells_.upper_bound(begin);
    if (cell != cells_.begin() && std::prev(cell)->second.end > begin) --cell;
    return cell;
}

AccessMap::Cells::iterator AccessMap::cut(uint64_t at) {
    auto cell = cells_.lower_bound(at);
    if (cell == cells_.begin() || (cell != cells_.end() && cell->first == at)) return cell;
    const auto before = std::prev(cell);
    if (before->second.end <= at) return cell;
    const Cell upper = before->second;
    before->second.end = at;
    return cells_.emplace_hint(cell, at, upper);
}

void AccessMap::trim(Cells::iterator cell, uint64_t end) {
    if (cell->second.end <= end) return;
    const Cell upper = cell->second;
    cell->second.end = end;
    cells_.emplace_hint(std::next(cell), end, upper);
}

void AccessMap::write(uint64_t begin, uint64_t end, uint8_t pipe, Access access) {
    if (begin >= end) return;
    // Whoever is ordered after this write is ordered after all that it overwrote, so the older history can go. A cell that begins here is used again: kernels
    // write the same tiles over and over.
    auto cell = cut(begin), behind = cell;
    for (; behind != cells_.end() && behind->first < end; ++behind) trim(behind, end);
    if (cell != behind && cell->first == begin) {
        cells_.erase(std::next(cell), behind);
        cell->second = Cell{};
    } else {
        cell = cells_.emplace_hint(cells_.erase(cell, behind), begin, Cell{});
    }
    cell->second.end = end;
    cell->second.past.writer = access;
    cell->second.past.writer_pipe = pipe;
}

void AccessMap::read(uint64_t begin, uint64_t end, uint8_t pipe, Access access) {
    uint64_t at = begin;
    for (auto cell = cut(begin); at < end;) {
        if (cell == cells_.end() || cell->first > at) {
            Cell fresh;
            fresh.end = cell == cells_.end() ? end : std::min(end, cell->first);
            cell = cells_.emplace_hint(cell, at, fresh);
        }
        trim(cell, end);
        cell->second.past.readers[pipe] = access;
        at = cell->second.end;
        const auto before = cell == cells_.begin() ? cells_.end() : std::prev(cell);
        if (before != cells_.end() && before->second.end == cell->first && before->second.past == cell->second.past) {
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
        const History &past = cell->second.past;
        bool is_needed = past.writer.number && !clocks.is_known_to_dma(past.writer_pipe, past.writer.number);
        for (uint8_t pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe)
            is_needed = is_needed || (past.readers[pipe].number && !clocks.is_known_to_dma(pipe, past.readers[pipe].number));
        cell = is_needed ? std::next(cell) : cells_.erase(cell);
    }
    sweep_at_ = std::max<size_t>(4096, 2 * cells_.size());
}

}  // namespace vnpu
