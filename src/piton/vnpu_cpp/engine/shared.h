/*
 * Accesses of all cores to global memory between two SyncAll.
 *
 * Problem: cores run one after another here and side by side on the chip: what one core reads or writes must not be written by another in the same phase.
 * Approach: one interval map of writers and one of readers by core; neighbouring ranges of one core merge, so that a tensor split over 48 cores is 48
 * entries. SyncAll starts a new phase, in which nothing of the old one conflicts.
 * Limits: exact bytes; an entry keeps the place of the first access merged into it.
 */
#pragma once

#include <cstdint>
#include <map>

namespace vnpu {

struct SharedRange {
    uint64_t begin, end;
    uint32_t core;
    uint32_t place;
};

class CoreMap {
public:
    // The first part of [begin, end) that another core than `core` owns; false when there is none.
    bool other(uint64_t begin, uint64_t end, uint32_t core, SharedRange &found) const;
    void add(uint64_t begin, uint64_t end, uint32_t core, uint32_t place);
    void clear() { cells_.clear(); }

private:
    static constexpr uint32_t kManyCores = 0xffffffff;  // readers only: more than one core
    struct Cell {
        uint64_t end;
        uint32_t core;
        uint32_t place;
    };
    void split(uint64_t at);

    std::map<uint64_t, Cell> cells_;
};

// Of all cores of a launch, since the last SyncAll.
struct SharedAccesses {
    CoreMap writers;
    CoreMap readers;
    CoreMap atomics;       // atomic stores, which race with the others only
    CoreMap scalar_lines;  // whole 64-byte cache lines with scalar stores: two cores clobber each other there even on different bytes
    void new_phase();
};

}  // namespace vnpu
