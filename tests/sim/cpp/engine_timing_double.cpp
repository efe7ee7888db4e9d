// Stand-in for engine/timing: costs nothing anybody relies on, and remembers the last trace so that tests can look at it.
#include "engine_timing_double.h"

#include <algorithm>

namespace vnpu {

class ChipModel {
public:
    ChipLimits limits;
};

class MemoryState {};

namespace {
LaunchTrace last_trace;
}

const LaunchTrace &replayed_trace() { return last_trace; }

std::shared_ptr<const ChipModel> chip_double(uint64_t ub_bytes, uint32_t cores) {
    auto chip = std::make_shared<ChipModel>();
    chip->limits = {ub_bytes, 524288, 65536, 65536, 131072, 1024, cores / 2, cores, 1800000000, 50000000, 3};
    return chip;
}

ChipLimits limits_of(const ChipModel &chip) { return chip.limits; }

TraceEntry cost_of(const ChipModel &, const vnpu_record &record, uint32_t repeats, uint64_t) {
    TraceEntry entry;
    entry.opcode = record.opcode;
    entry.pipe = record.pipe;
    entry.line = record.line;
    entry.cycles = 20 + repeats;
    const bool is_copy = record.opcode == VNPU_OP_DATA_COPY || record.opcode == VNPU_OP_DATA_COPY_PAD || record.opcode == VNPU_OP_DATA_COPY_ND2NZ;
    if (is_copy && record.src0.space == VNPU_SPACE_GM) entry.kind = TraceKind::GmRead;
    if (is_copy && record.dst.space == VNPU_SPACE_GM) entry.kind = TraceKind::GmWrite;
    if (is_copy) entry.blocks = record.p[0], entry.block_bytes = record.p[1], entry.gm_addr = record.src0.addr;
    return entry;
}

std::shared_ptr<MemoryState> cold_memory(const ChipModel &) { return std::make_shared<MemoryState>(); }

LaunchTiming replay(const ChipModel &, const LaunchTrace &trace, MemoryState &, LaunchTimeline *) {
    last_trace = trace;
    LaunchTiming timing;
    for (const CoreTrace &core : trace.cores) {
        uint64_t cycles = 0;
        for (const TraceEntry &entry : core) cycles += entry.cycles + entry.issue_cycles;
        timing.kernel_cycles = std::max(timing.kernel_cycles, cycles);
    }
    timing.cycles = timing.kernel_cycles;
    return timing;
}

uint64_t copy_cycles(const ChipModel &, uint64_t bytes, MemoryState &) { return bytes; }

}  // namespace vnpu
