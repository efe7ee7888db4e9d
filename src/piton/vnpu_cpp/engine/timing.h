/*
 * Seam between execution and timing: cost of one record, replay of one launch.
 * `ChipModel` is read from the flat table of a hardware file (`name value` per line), so that figures live in YAML with their sources.
 */
#pragma once

#include <memory>
#include <string>

#include "timeline.h"
#include "trace.h"

namespace vnpu {

class ChipModel;  // timing/chip.h

// Parse the flat table; throws std::runtime_error naming the line or the missing parameter.
std::shared_ptr<const ChipModel> parse_chip(const std::string &table);

// Figures that execution needs too.
struct ChipLimits {
    uint64_t ub_bytes, l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, bt_bytes;
    uint32_t cores_aic, cores_aiv;
    uint64_t clock_hz;
    uint64_t system_cycle_hz;
    uint32_t code_block_cycles;  // of S, for a basic block of the kernel's own code
    uint64_t fb_bytes = 4096;    // fixpipe buffer: the size that the pages of copies into it give; the platform files have none
};
ChipLimits limits_of(const ChipModel &chip);

// The trace entry of one executed instruction (vector, copy, cube, scalar). `elements` is the number of active elements after masks (LoadData: bytes; Fixpipe:
// results of a matrix); `repeats` the number of 256-byte iterations (Mmad: of products of two fractals; Fixpipe: blocks without a gap). Synchronisation records
// are turned into entries by execution itself.
TraceEntry cost_of(const ChipModel &chip, const vnpu_record &record, uint32_t repeats, uint64_t elements);

// State that outlives a launch: the L2. Cold means empty and clean.
class MemoryState;
std::shared_ptr<MemoryState> cold_memory(const ChipModel &chip);

// Walk all cores in time order. Deterministic: equal traces and state give equal cycles on every host.
// Throws std::runtime_error("deadlock: ...") when no core can go on.
// With a `timeline` (its blocks named, their records kept), slices and traffic are added to it; nothing else changes.
LaunchTiming replay(const ChipModel &chip, const LaunchTrace &trace, MemoryState &memory, LaunchTimeline *timeline = nullptr);

// Cycles of a device-to-device copy or memset issued by the runtime.
uint64_t copy_cycles(const ChipModel &chip, uint64_t bytes, MemoryState &memory);

}  // namespace vnpu
