/*
 * What an instruction with its own addressing (compare, select, reductions, gather) touches.
 *
 * Problem: these instructions read and write different shapes, so the common list of runs (vector_plan.h) does not describe them.
 * Approach: `Iterations` says which lanes of which repeat are active; `Footprint` collects the exact bytes, iteration by iteration, and settles bounds,
 * overlap and order for all of them at once. Execution goes through the iterations in order and reads all of one before it writes, as the hardware does.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "access.h"
#include "vector_plan.h"

namespace vnpu {

// The repeats of an instruction and the lanes that its mask leaves active in each.
struct Iterations {
    uint32_t repeats = 0;
    uint32_t lanes = 0;  // of a whole repeat
    uint64_t bits[2] = {~0ull, ~0ull};
    bool is_counter = false;
    uint64_t count = 0;  // counter mode: elements over all repeats

    bool is_active(uint32_t repeat, uint32_t lane) const;
    uint32_t first(uint32_t repeat, uint32_t from) const;  // the next active lane from `from` on; `lanes` when there is none
    uint32_t active() const;                               // over all repeats
    bool is_full(uint32_t repeat) const;                   // every lane of it
};

// Applies the record's mask flags to the core's mask state, as plan_vector does, for repeats of `lanes` elements. Cuts the launch on more than 255 repeats.
Iterations iterations_of(Core &core, const vnpu_record &record, uint32_t lanes);

// Byte offset of `lane` of iteration `repeat` (strides in 32-byte blocks).
uint64_t lane_at(const vnpu_operand &operand, uint32_t bytes, uint32_t repeat, uint32_t lane);

// An operand whose touched bytes end at `end`: aligned, inside its tensor and the memory. Cuts the launch if not.
void check_operand(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t end, bool is_write, uint64_t alignment = kUbAlign);

// Byte after the last active lane of a strided operand; its address when no lane is active.
uint64_t lanes_end(const Iterations &iterations, const vnpu_operand &operand, uint32_t bytes);

class Footprint {
public:
    void read(uint64_t begin, uint64_t bytes) { add(begin, bytes, false); }
    void write(uint64_t begin, uint64_t bytes) { add(begin, bytes, true); }
    void next() { ++iteration_; }
    // Active lanes of one iteration of a strided operand.
    void read_lanes(const Iterations &iterations, const vnpu_operand &operand, uint32_t bytes, uint32_t repeat);
    void write_lanes(const Iterations &iterations, const vnpu_operand &operand, uint32_t bytes, uint32_t repeat);

    // Cuts the launch when bytes are overwritten before a later iteration reads them.
    void require_unclobbered(Core &core, const vnpu_record &record) const;
    void order(Core &core, const vnpu_record &record) const;
    // Both.
    void settle(Core &core, const vnpu_record &record) const;
    // Hull of what was read or written so far; begin > end when there is nothing.
    uint64_t begin(bool is_write) const;
    uint64_t end(bool is_write) const;

private:
    struct Range {
        uint64_t begin, end;
        uint32_t iteration;
        bool is_write;
    };
    void add(uint64_t begin, uint64_t bytes, bool is_write);
    void lanes(const Iterations &iterations, const vnpu_operand &operand, uint32_t bytes, uint32_t repeat, bool is_write);
    bool is_clobbered() const;

    std::vector<Range> ranges_;
    uint32_t iteration_ = 0;
};

}  // namespace vnpu
