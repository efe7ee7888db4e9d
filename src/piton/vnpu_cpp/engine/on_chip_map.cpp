#include "on_chip_map.h"

namespace vnpu {

// The end of the blocks from the one at `at` on, which has that history, that have it too: sixteen at a time, which the compiler takes at once.
uint64_t OnChipMap::same_blocks(uint64_t at, uint64_t end, uint32_t number) const {
    if (blocks_[at / kBlock] & kSplit) return at + 1;
    constexpr uint64_t kAtOnce = 16;
    uint64_t block = at / kBlock;
    const uint64_t last = end / kBlock;
    for (; block + kAtOnce <= last; block += kAtOnce) {
        uint32_t other = 0;
        for (uint64_t more = 0; more < kAtOnce; ++more) other |= blocks_[block + more] ^ number;
        if (other) break;
    }
    while (block < last && blocks_[block] == number) ++block;
    return std::max(block * kBlock, at + kBlock);
}

void OnChipMap::read(uint64_t begin, uint64_t end, uint8_t pipe, Access access) {
    prepare(end);
    for (uint64_t at = begin; at < end;) {
        const uint64_t until = run(at, end);
        const uint32_t before = number(at), after = after_read(before, pipe, access);
        if (before != after) put(at, until, after);
        at = until;
    }
}

// Whoever is ordered after this write is ordered after all that it overwrote, so the older history can go.
void OnChipMap::write(uint64_t begin, uint64_t end, uint8_t pipe, Access access) {
    if (begin >= end) return;
    prepare(end);
    History past;
    past.writer = access;
    past.writer_pipe = pipe;
    // The next piece of the same instruction has the same history.
    put(begin, end, known_.back().past == past ? static_cast<uint32_t>(known_.size() - 1) : add(past));
}

uint32_t OnChipMap::after_read(uint32_t number, uint8_t pipe, Access access) {
    const Known &before = known_[number];
    if (before.past.readers[pipe] == access) return number;
    if (before.read && known_[before.read].past.readers[pipe] == access) return before.read;  // another piece of the same instruction
    History past = before.past;
    past.readers[pipe] = access;
    const uint32_t after = add(past);
    known_[number].read = after;
    return after;
}

uint32_t OnChipMap::add(const History &past) {
    known_.push_back({past, 0});
    return static_cast<uint32_t>(known_.size() - 1);
}

void OnChipMap::put(uint64_t begin, uint64_t end, uint32_t number) {
    uint64_t at = begin;
    if (at % kBlock) {
        const uint64_t until = std::min(end, (at / kBlock + 1) * kBlock);
        put_piece(at, until, number);
        at = until;
    }
    const uint64_t first = at / kBlock, last = end / kBlock;
    if (first < last) {
        if (pieces_.size() > free_pieces_.size()) join(first, last);
        std::fill(blocks_.begin() + static_cast<int64_t>(first), blocks_.begin() + static_cast<int64_t>(last), number);
        at = last * kBlock;
    }
    if (at < end) put_piece(at, end, number);
}

void OnChipMap::put_piece(uint64_t begin, uint64_t end, uint32_t number) {
    uint32_t &block = blocks_[begin / kBlock];
    if (!(block & kSplit)) {
        uint32_t place = static_cast<uint32_t>(pieces_.size());
        if (free_pieces_.empty()) {
            pieces_.emplace_back();
        } else {
            place = free_pieces_.back();
            free_pieces_.pop_back();
        }
        pieces_[place].fill(block);
        block = place | kSplit;
    }
    Pieces &pieces = pieces_[block & ~kSplit];
    const uint64_t first = begin % kBlock;
    std::fill_n(pieces.begin() + static_cast<int64_t>(first), end - begin, number);
}

// One number for all of each block again, which the caller sets.
void OnChipMap::join(uint64_t first, uint64_t last) {
    for (uint64_t block = first; block < last; ++block)
        if (blocks_[block] & kSplit) free_pieces_.push_back(blocks_[block] & ~kSplit);
}

void OnChipMap::prepare(uint64_t end) {
    if (blocks_.size() * kBlock < end) blocks_.resize((end + kBlock - 1) / kBlock, 0);
    if (known_.size() >= most_) forget_unused();
}

void OnChipMap::forget_unused() {
    std::vector<uint32_t> renamed(known_.size(), 0);
    std::vector<Known> kept{Known{}};
    const auto keep = [&](uint32_t &number) {
        if (number && !renamed[number]) {
            renamed[number] = static_cast<uint32_t>(kept.size());
            kept.push_back({known_[number].past, 0});
        }
        number = renamed[number];
    };
    for (uint32_t &block : blocks_) {
        if (!(block & kSplit)) {
            keep(block);
            continue;
        }
        for (uint32_t &piece : pieces_[block & ~kSplit]) keep(piece);
    }
    known_.swap(kept);
    most_ = std::max<size_t>(1024, 2 * known_.size());
}

}  // namespace vnpu
