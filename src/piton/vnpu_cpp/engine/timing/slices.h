/*
 * The recorder of one block's slices and arrows; a CoreRun tells it what it computes, in time order per pipe.
 *
 * Problem: a transfer's last bytes are on their way while the pipe starts the next one, and a viewer drops slices that overlap.
 * Approach: the time between the end of an instruction and its completion is a slice of its own (latency), cut where the pipe starts something else.
 */
#pragma once

#include <utility>

#include "../timeline.h"
#include "transfer.h"

namespace vnpu {

// The stages of one transfer.
struct TransferTimes {
    uint64_t start = 0, alone_end = 0, moved = 0, free = 0, complete = 0;  // alone_end: when its bytes would have moved without other transfers
    uint64_t queued = 0;
    TransferPlan plan;
};

class SliceRecorder {
public:
    SliceRecorder(BlockTimeline &block, const CoreTrace &trace, uint64_t start);

    void reach(uint32_t entry, uint64_t now);                       // S comes to it
    void code(uint32_t entry, std::pair<uint64_t, uint64_t> time);  // S runs the kernel's own code before it
    void issue(uint32_t entry, uint64_t begin, uint64_t end);
    void run(uint32_t pipe, uint32_t entry, std::pair<uint64_t, uint64_t> time, uint64_t queued, std::pair<LossReason, uint64_t> loss);
    void transfer(uint32_t pipe, uint32_t entry, const TransferTimes &times);
    void wait(uint32_t pipe, uint32_t entry, std::pair<uint64_t, uint64_t> time, uint32_t reason, uint32_t cause);
    void end(uint64_t now);

    uint32_t last(uint32_t pipe) const { return last_[pipe]; }  // slice of the instruction before a SetFlag; kNothing when there is none
    void arrive(uint32_t from, const TraceEntry &wait);         // the pipe of a WaitFlag has taken the flag that was set after slice `from`

private:
    struct Span {
        uint64_t begin = 0, end = 0;
    };

    bool has(uint32_t entry) const { return entry == kNothing || block_.window.has(entry); }
    uint32_t add(Slice slice, uint32_t entry);
    uint32_t add_run(Slice slice, uint32_t entry);
    void add_loss(Slice slice, uint32_t entry, LossReason reason, uint64_t end);
    void cut_latency(uint32_t pipe, uint64_t begin, uint64_t end);
    void land(uint32_t pipe, uint32_t to);

    BlockTimeline &block_;
    uint32_t last_[VNPU_PIPE_COUNT];
    uint32_t waited_[VNPU_PIPE_COUNT];  // a wait that ended just now: what arrives lands there
    std::vector<Arrow> landing_[VNPU_PIPE_COUNT];
    Span latency_[VNPU_PIPE_COUNT];  // of bytes on their way
    uint32_t latency_entry_[VNPU_PIPE_COUNT];
    uint32_t reached_ = kNothing;
    size_t next_use_ = 0;
};

}  // namespace vnpu
