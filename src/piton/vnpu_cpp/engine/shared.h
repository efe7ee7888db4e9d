/*
 * Accesses of all cores to global memory between two SyncAll.
 *
 * Problem: cores run one after another here and side by side on the chip: what one core reads or writes must not be written by another in the same phase,
 * unless flags between the cores order the two.
 * Approach: one interval map of writers and one of readers by core; neighbouring ranges of one core merge, so that a tensor split over 48 cores is 48
 * entries. SyncAll starts a new phase, in which nothing of the old one conflicts. A flag between cores carries prefixes of pipes, as a flag inside a core
 * does: an access is ordered before those of a core that knows its pipe to be that far. Ranges merge only between two sets of flags of their core.
 * Limits: exact bytes; an entry keeps the place of the first access merged into it, and the newest instruction number. Of bytes that several cores read the
 * newest reader is known; those before it count as ordered once the asking core has waited for any flag that was complete after they had read.
 */
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hazard.h"

namespace vnpu {

struct SharedRange {
    uint64_t begin, end;
    uint32_t core;
    uint32_t place;
};

// One access of a core; `epoch` counts the flags that the core has set for others, `stamp` the flags between cores that were complete by then.
struct SharedAccess {
    uint32_t core = 0;
    uint32_t place = 0;
    uint32_t number = 0;
    uint32_t epoch = 0;
    uint32_t stamp = 0;
    uint8_t pipe = 0;
};

// What a core knows of the others through flags between cores.
struct Acquaintance {
    uint32_t core = 0;
    std::vector<Prefix> others;  // empty before the first wait
    uint32_t stamp = 0;          // how many flags were complete when it last waited for one

    void learn(uint32_t other, const Prefix &prefix);
    void learn(const std::vector<Prefix> &prefixes);
    bool knows(const SharedAccess &access) const;
};

class CoreMap {
public:
    // Readers and atomic stores of several cores share bytes; a writer takes them over.
    explicit CoreMap(bool is_shared) : is_shared_(is_shared) {}

    // The first part of [begin, end) that another core owns and that `who` does not know to be done; false when there is none.
    bool other(uint64_t begin, uint64_t end, const Acquaintance &who, SharedRange &found) const;
    void add(uint64_t begin, uint64_t end, const SharedAccess &access);
    void clear() { cells_.clear(); }

private:
    struct Cell {
        uint64_t end;
        SharedAccess access;   // the newest
        bool is_many = false;  // other cores before it
        uint32_t others = 0;   // their newest stamp
    };
    using Cells = std::map<uint64_t, Cell>;
    // The cell that begins at `at` or else the next one; one that contains `at` is cut in two.
    Cells::iterator cut(uint64_t at);
    void trim(Cells::iterator cell, uint64_t end);  // cuts off what of `cell` lies beyond `end`
    void join_above(Cells::iterator last);          // with the cell behind it, if that is more of the same
    void put(Cell &cell, const SharedAccess &access) const;
    static bool is_in_the_way(const Cell &cell, const Acquaintance &who);
    static bool is_one(const Cell &a, const Cell &b);

    bool is_shared_;
    Cells cells_;
};

// Of all cores of a launch, since the last SyncAll.
struct SharedAccesses {
    CoreMap writers{false};
    CoreMap readers{true};
    CoreMap atomics{true};        // atomic stores, which race with the others only
    CoreMap scalar_lines{false};  // whole 64-byte cache lines with scalar stores: two cores clobber each other there even on different bytes
    void new_phase();
};

}  // namespace vnpu
