/*
 * Happens-before between the accesses of one core.
 *
 * Problem: execution in program order hides a missing flag or barrier; on the chip the pipes run ahead of one another and of themselves.
 * Approach: instruction number s of pipe q is ordered before an instruction of pipe p only if p knows that q has completed s. `known[p][q]` is that prefix;
 * flags carry a prefix from one pipe to another, a barrier raises a pipe's knowledge of itself, a wait on S stops issue and so tells every pipe. An interval
 * map remembers, per byte range, the last writer and the last reader of each pipe; an access that conflicts with one it does not know complete is a race.
 * AccessMap is that map for global memory, OnChipMap (on_chip_map.h) for the small memories of a core.
 * Limits: prefixes only (as the hardware's events), so nothing is known about one instruction without all before it on its pipe.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "vnpu/abi.h"

namespace vnpu {

using Prefix = std::array<uint32_t, VNPU_PIPE_COUNT>;  // by pipe: instructions 1..n are complete

class Clocks {
public:
    uint32_t issue(uint32_t pipe) { return ++issued_[pipe]; }
    uint32_t issued(uint32_t pipe) const { return issued_[pipe]; }
    bool is_ordered(uint32_t pipe, uint32_t earlier_pipe, uint32_t number) const {
        if (pipe == VNPU_PIPE_S && earlier_pipe == VNPU_PIPE_S) return true;  // the scalar unit is in order
        return number <= known_[pipe][earlier_pipe];
    }
    Prefix completed_by_set(uint32_t pipe) const;                // what a SetFlag issued now on `pipe` vouches for
    void learn(uint32_t pipe, const Prefix &prefix);             // the matching wait; S tells every pipe
    void barrier(uint32_t pipe);                                 // VNPU_PIPE_ALL for all
    bool is_known_to_dma(uint32_t pipe, uint32_t number) const;  // to both GM copy pipes

private:
    Prefix issued_{};
    std::array<Prefix, VNPU_PIPE_COUNT> known_{};
};

// One access as the map remembers it; number 0 = none. `place` is the caller's index of source places.
struct Access {
    uint32_t number = 0;
    uint32_t place = 0;
    bool operator==(const Access &other) const { return number == other.number && place == other.place; }
};

struct Conflict {
    uint64_t begin, end;  // the bytes both touch
    uint8_t pipe;         // of the earlier access
    bool was_write;
    Access access;
};

// What the map remembers of a byte.
struct History {
    Access writer;
    uint8_t writer_pipe = 0;
    std::array<Access, VNPU_PIPE_COUNT> readers{};
    bool operator==(const History &other) const;

    // Every access of these that one to [from, to) conflicts with and that `clocks` does not order before it.
    template <class Visit>
    void conflicts(uint64_t from, uint64_t to, uint8_t pipe, bool is_write, const Clocks &clocks, Visit &&visit) const {
        // Readers first: they came after the writer, so an edge from them orders the writer too, and is what the author has to add.
        for (uint8_t reader = 0; reader < VNPU_PIPE_COUNT && is_write; ++reader)
            if (readers[reader].number && !clocks.is_ordered(pipe, reader, readers[reader].number)) visit(Conflict{from, to, reader, false, readers[reader]});
        if (writer.number && !clocks.is_ordered(pipe, writer_pipe, writer.number)) visit(Conflict{from, to, writer_pipe, true, writer});
    }
};

class AccessMap {
public:
    // Every conflict of an access to [begin, end) that `clocks` does not order, in address order.
    template <class Visit>
    void conflicts(uint64_t begin, uint64_t end, uint8_t pipe, bool is_write, const Clocks &clocks, Visit &&visit) const;
    void read(uint64_t begin, uint64_t end, uint8_t pipe, Access access);
    void write(uint64_t begin, uint64_t end, uint8_t pipe, Access access);
    // For a map of global memory that has grown: drop what both copy pipes know complete. A later scalar access is not checked against that any more.
    void forget_known(const Clocks &clocks);
    size_t size() const { return cells_.size(); }

private:
    struct Cell {
        uint64_t end = 0;
        History past;
    };
    using Cells = std::map<uint64_t, Cell>;
    // The cell that begins at `at` or else the next one; one that contains `at` is cut in two.
    Cells::iterator cut(uint64_t at);
    // Cuts off what of `cell` lies beyond `end`.
    void trim(Cells::iterator cell, uint64_t end);
    Cells::const_iterator first_at(uint64_t begin) const;

    Cells cells_;
    size_t sweep_at_ = 4096;
};

template <class Visit>
void AccessMap::conflicts(uint64_t begin, uint64_t end, uint8_t pipe, bool is_write, const Clocks &clocks, Visit &&visit) const {
    for (auto cell = first_at(begin); cell != cells_.end() && cell->first < end; ++cell)
        cell->second.past.conflicts(std::max(cell->first, begin), std::min(cell->second.end, end), pipe, is_write, clocks, visit);
}

}  // namespace vnpu
