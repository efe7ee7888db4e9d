/*
 * The timeline of a launch: what every kept instruction did and waited for, with times. Recorded only when asked for.
 *
 * Problem: a launch has up to millions of instructions on dozens of cores; a person looks at some hundred, and a viewer chokes on more than a million.
 * Approach: a bound on instructions per launch, in equal parts for the recorded blocks; of a block with more its first and its last ones are kept.
 * Execution keeps the records (Notebook), the replay the times (timing/slices.h). All times are core cycles since the launch.
 * Limits: what is left out is counted, not summarised; sums over a launch are in LaunchTiming, which is always complete.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "trace.h"

namespace vnpu {

struct TimelineOptions {
    bool is_on = false;
    uint32_t instructions = 0;     // most that are kept of a launch
    std::vector<uint32_t> blocks;  // to record; empty: all of up to 64, of more the first and the last 32
};

// Blocks of a launch that are recorded, in order.
std::vector<uint32_t> recorded_blocks(const TimelineOptions &options, uint32_t blocks);

// Of `size` entries the first `head` and the last `tail`.
struct Window {
    uint64_t head = 0, tail = 0, size = 0;

    bool has(uint64_t entry) const { return entry < head || (entry < size && entry + tail >= size); }
    uint64_t left_out() const { return size - std::min(size, head + tail); }
    uint64_t place(uint64_t entry) const { return entry < head ? entry : entry - left_out(); }  // among those kept
};

// Bytes of the unified buffer when the program reaches an entry.
struct UbUse {
    uint64_t entry = 0;
    uint64_t time = 0;       // added by the replay: when S reaches the entry
    uint32_t given_out = 0;  // by InitBuffer
    uint32_t in_use = 0;     // tensors between AllocTensor and FreeTensor
};

// The records behind the kept entries of one block, while it is not known yet how many there will be.
class Notebook {
public:
    explicit Notebook(uint64_t limit) : head_(limit / 2), tail_(limit - limit / 2) {}
    void keep(const vnpu_record &record);      // for the next trace entry
    void note_use(const vnpu_record &record);  // of a buffer: InitBuffer, AllocTensor, FreeTensor, TPipe
    Window window() const { return {head_, tail_, size_}; }
    std::vector<vnpu_record> take_records();
    std::vector<UbUse> take_uses();

private:
    uint64_t head_, tail_, size_ = 0;
    std::vector<vnpu_record> first_, last_;  // last_: a ring
    std::vector<UbUse> uses_;
    std::map<uint32_t, uint32_t> buffer_bytes_;  // by handle
    UbUse use_;
};

enum class SliceKind : uint8_t {
    Run,    // the instruction itself
    Issue,  // S puts it into a queue
    Loss,   // the part of the instruction that `reason` (LossReason) costs, after its Run
    Wait,   // the pipe does nothing for `reason` (WaitReason)
};

constexpr uint32_t kNothing = ~0u;

// A stretch of time of one pipe; those of a pipe do not overlap.
struct Slice {
    uint64_t begin = 0, end = 0;
    uint32_t entry = kNothing;  // among the kept ones; kNothing for the end of the program
    uint8_t pipe = 0;
    SliceKind kind = SliceKind::Run;
    uint8_t reason = 0;
    uint32_t cause = kNothing;  // Wait: pipe that is waited for; SyncAll: block that came last
    uint64_t queued = 0;        // Run: cycles between issue and start
    uint64_t l2_bytes = 0;      // Run of a transfer: moved by L2
    uint64_t memory_bytes = 0;  // and by HBM
};

// From the instruction before a SetFlag to the wait for it or, where nobody had to wait, to the instruction after the WaitFlag.
struct Arrow {
    uint32_t from = 0, to = 0;  // slices
    uint8_t src_pipe = 0, dst_pipe = 0, event = 0;
};

// What one core did; in launches with one core per block that is a block.
struct BlockTimeline {
    uint32_t block = 0;  // number of the core, in the order of Groups
    Notebook notes{0};
    uint64_t begin = 0, end = 0;
    uint64_t gap_begin = 0, gap_end = 0;  // when S reached the first entry left out, and the first one kept again
    Window window;
    std::vector<vnpu_record> records;  // of the kept entries
    CoreTrace entries;                 // the kept ones
    std::vector<Slice> slices;
    std::vector<Arrow> arrows;
    std::vector<UbUse> uses;
};

// Bytes moved per bin of time by kind of flow (timing/bandwidth.h), and what L2 served of the loads that started in it.
struct TrafficBin {
    std::array<uint64_t, 5> moved = {};
    uint64_t hit_bytes = 0, load_bytes = 0;
};

struct LaunchTimeline {
    uint32_t core_kind = VNPU_CORE_AIV;
    uint64_t cycles = 0;
    std::vector<BlockTimeline> blocks;
    uint64_t bin_cycles = 0;
    std::vector<TrafficBin> traffic;

    BlockTimeline *of(uint32_t block);  // null for a block that is not recorded
};

}  // namespace vnpu
