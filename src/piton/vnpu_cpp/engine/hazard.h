/*
 * Happens-before between the accesses of one core.
 *
 * Problem: execution in program order hides a missing flag or barrier; on the chip the pipes run ahead of one another and of themselves.
 * Approach: instruction number s of pipe q is ordered before an instruction of pipe p only if p knows that q has completed s. `known[p][q]` is that prefix;
 * flags carry a prefix from one pipe to another, a barrier raises a pipe's knowledge of itself, a wait on S stops issue and so tells every pipe. An interval
 * map remembers, per byte range, the last writer and the last reader of each pipe; an access that conflicts with one it does not know complete is a race.
 * Limits: prefixes only (as the hardware's events), so nothing is known about one instruction without all before it on its pipe.
 */
#pragma once

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
    bool is_ordered(uint32_t pipe, uint32_t earlier_pipe, uint32_t number) const;
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
};

struct Conflict {
    uint64_t begin, end;  // the bytes both touch
    uint8_t pipe;         // of the earlier access
    bool was_write;
    Access access;
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
        Access writer;
        uint8_t writer_pipe = 0;
        std::array<Access, VNPU_PIPE_COUNT> readers{};
        bool same_history(const Cell &other) const;
    };
    using Cells = std::map<uint64_t, Cell>;
    void split(uint64_t at);
    Cells::const_iterator first_at(uint64_t begin) const;

    Cells cells_;
    size_t sweep_at_ = 4096;
};

template <class Visit>
void AccessMap::conflicts(uint64_t begin, uint64_t end, uint8_t pipe, bool is_write, const Clocks &clocks, Visit &&visit) const {
    for (auto cell = first_at(begin); cell != cells_.end() && cell->first < end; ++cell) {
        const uint64_t from = cell->first > begin ? cell->first : begin;
        const uint64_t to = cell->second.end < end ? cell->second.end : end;
        const Cell &past = cell->second;
        // Readers first: they came after the writer, so an edge from them orders the writer too, and is what the author has to add.
        for (uint8_t reader = 0; reader < VNPU_PIPE_COUNT && is_write; ++reader)
            if (past.readers[reader].number && !clocks.is_ordered(pipe, reader, past.readers[reader].number))
                visit(Conflict{from, to, reader, false, past.readers[reader]});
        if (past.writer.number && !clocks.is_ordered(pipe, past.writer_pipe, past.writer.number))
            visit(Conflict{from, to, past.writer_pipe, true, past.writer});
    }
}

}  // namespace vnpu
