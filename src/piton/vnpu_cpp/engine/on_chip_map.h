/*
 * Who touched which bytes of an on-chip memory: what AccessMap (hazard.h) is for global memory.
 *
 * Problem: every operand of every vector instruction is looked up and remembered, a strided one in hundreds of pieces. With a tree of intervals that is most of
 * a simulation.
 * Approach: these memories are small and are used in units of 32 bytes. A number per such block names a history (last writer, last reader of each pipe), which
 * blocks with the same past share, so that a piece is a few numbers that are compared and overwritten. A block that is touched in part has a number per byte
 * until it is written as a whole.
 * Limits: histories never change, a new access makes new ones; those that no byte has any more are dropped when there are many. The numbers take an eighth of
 * the memory's bytes.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "hazard.h"

namespace vnpu {

class OnChipMap {
public:
    // Every conflict of an access to [begin, end) that `clocks` does not order, in address order.
    template <class Visit>
    void conflicts(uint64_t begin, uint64_t end, uint8_t pipe, bool is_write, const Clocks &clocks, Visit &&visit) const;
    void read(uint64_t begin, uint64_t end, uint8_t pipe, Access access);
    void write(uint64_t begin, uint64_t end, uint8_t pipe, Access access);
    size_t histories() const { return known_.size(); }

private:
    static constexpr uint64_t kBlock = 32;
    static constexpr uint32_t kSplit = 1u << 31;  // in blocks_: the rest is a place in pieces_

    struct Known {
        History past;
        uint32_t read = 0;  // the history that the newest read of such bytes made; 0: none
    };
    using Pieces = std::array<uint32_t, kBlock>;

    uint32_t number(uint64_t at) const;
    uint64_t next(uint64_t at) const;  // the first byte behind `at` that is not bound to have the same history
    uint64_t run(uint64_t at, uint64_t end) const;
    uint64_t same_blocks(uint64_t at, uint64_t end, uint32_t number) const;
    void put(uint64_t begin, uint64_t end, uint32_t number);
    void put_piece(uint64_t begin, uint64_t end, uint32_t number);
    void join(uint64_t first, uint64_t last);
    uint32_t after_read(uint32_t number, uint8_t pipe, Access access);
    uint32_t add(const History &past);
    void prepare(uint64_t end);
    void forget_unused();

    std::vector<uint32_t> blocks_;
    std::vector<Pieces> pieces_;
    std::vector<uint32_t> free_pieces_;
    std::vector<Known> known_{Known{}};  // the first is that of bytes that nobody has touched
    size_t most_ = 1024;
};

inline uint32_t OnChipMap::number(uint64_t at) const {
    const uint32_t block = blocks_[at / kBlock];
    return block & kSplit ? pieces_[block & ~kSplit][at % kBlock] : block;
}

inline uint64_t OnChipMap::next(uint64_t at) const { return blocks_[at / kBlock] & kSplit ? at + 1 : (at / kBlock + 1) * kBlock; }

// The end of the bytes from `at` on that have its history, or `end`.
inline uint64_t OnChipMap::run(uint64_t at, uint64_t end) const {
    const uint32_t first = number(at);
    uint64_t until = next(at);
    while (until < end && number(until) == first) until = until % kBlock ? next(until) : same_blocks(until, end, first);
    return std::min(until, end);
}

template <class Visit>
void OnChipMap::conflicts(uint64_t begin, uint64_t end, uint8_t pipe, bool is_write, const Clocks &clocks, Visit &&visit) const {
    const uint64_t last = std::min<uint64_t>(end, blocks_.size() * kBlock);
    for (uint64_t at = begin; at < last;) {
        const uint64_t until = run(at, last);
        known_[number(at)].past.conflicts(at, until, pipe, is_write, clocks, visit);
        at = until;
    }
}

}  // namespace vnpu
