#include "slices.h"

#include <algorithm>

namespace vnpu {

SliceRecorder::SliceRecorder(BlockTimeline &block, const CoreTrace &trace, uint64_t start) : block_(block) {
    block.begin = start;
    block.window = block.notes.window();
    block.window.size = trace.size();
    block.records = block.notes.take_records();
    block.uses = block.notes.take_uses();
    for (uint64_t entry = 0; entry < trace.size(); ++entry)
        if (block.window.has(entry)) block.entries.push_back(trace[entry]);
    std::fill_n(last_, VNPU_PIPE_COUNT, kNothing);
    std::fill_n(waited_, VNPU_PIPE_COUNT, kNothing);
    std::fill_n(latency_entry_, VNPU_PIPE_COUNT, kNothing);
}

void SliceRecorder::reach(uint32_t entry, uint64_t now) {
    if (entry == reached_) return;
    reached_ = entry;
    const Window &window = block_.window;
    if (entry == window.head) block_.gap_begin = now;
    if (entry + window.tail == window.size) block_.gap_end = now;
    while (next_use_ < block_.uses.size() && block_.uses[next_use_].entry <= entry) block_.uses[next_use_++].time = now;
}

void SliceRecorder::code(uint32_t entry, std::pair<uint64_t, uint64_t> time) {
    Slice before;
    before.end = time.first;
    before.pipe = VNPU_PIPE_S;
    add_loss(before, entry, kLossCode, time.second);
}

void SliceRecorder::issue(uint32_t entry, uint64_t begin, uint64_t end) {
    Slice slice;
    slice.begin = begin;
    slice.end = end;
    slice.pipe = VNPU_PIPE_S;
    slice.kind = SliceKind::Issue;
    add_run(slice, entry);
}

void SliceRecorder::run(uint32_t pipe, uint32_t entry, std::pair<uint64_t, uint64_t> time, uint64_t queued, std::pair<LossReason, uint64_t> loss) {
    Slice slice;
    slice.begin = time.first;
    slice.end = time.second - loss.second;
    slice.pipe = static_cast<uint8_t>(pipe);
    slice.queued = queued;
    add_run(slice, entry);
    add_loss(slice, entry, loss.first, time.second);
}

void SliceRecorder::transfer(uint32_t pipe, uint32_t entry, const TransferTimes &times) {
    Slice slice;
    slice.begin = times.start;
    slice.end = times.alone_end;
    slice.pipe = static_cast<uint8_t>(pipe);
    slice.queued = times.queued;
    slice.l2_bytes = times.plan.l2_bytes;
    slice.memory_bytes = times.plan.hbm_bytes;
    add_run(slice, entry);
    add_loss(slice, entry, kLossShare, times.moved);
    slice.end = times.moved;
    add_loss(slice, entry, kLossBlocks, times.free);
    Span &latency = latency_[pipe];
    latency.begin = times.free;
    latency.end = std::max(latency.end, times.complete);
    latency_entry_[pipe] = entry;
}

void SliceRecorder::wait(uint32_t pipe, uint32_t entry, std::pair<uint64_t, uint64_t> time, uint32_t reason, uint32_t cause) {
    waited_[pipe] = kNothing;
    if (time.first >= time.second) return;
    Slice slice;
    slice.begin = time.first;
    slice.end = time.second;
    slice.pipe = static_cast<uint8_t>(pipe);
    slice.kind = SliceKind::Wait;
    slice.reason = static_cast<uint8_t>(reason);
    slice.cause = cause;
    waited_[pipe] = add(slice, entry);
}

void SliceRecorder::end(uint64_t now) {
    for (uint32_t pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe) cut_latency(pipe, now, now);
    block_.end = now;
    while (next_use_ < block_.uses.size()) block_.uses[next_use_++].time = now;
}

void SliceRecorder::arrive(uint32_t from, const TraceEntry &wait) {
    if (from == kNothing) return;
    const Arrow arrow = {from, 0, wait.src_pipe, wait.dst_pipe, wait.event};
    landing_[wait.dst_pipe].push_back(arrow);
    if (waited_[wait.dst_pipe] != kNothing) land(wait.dst_pipe, waited_[wait.dst_pipe]);
}

void SliceRecorder::land(uint32_t pipe, uint32_t to) {
    for (Arrow &arrow : landing_[pipe]) {
        arrow.to = to;
        block_.arrows.push_back(arrow);
    }
    landing_[pipe].clear();
}

// Position of the new slice; kNothing when its entry is left out.
uint32_t SliceRecorder::add(Slice slice, uint32_t entry) {
    cut_latency(slice.pipe, slice.begin, slice.end);
    if (!has(entry)) return kNothing;
    slice.entry = entry == kNothing ? kNothing : static_cast<uint32_t>(block_.window.place(entry));
    block_.slices.push_back(slice);
    return static_cast<uint32_t>(block_.slices.size() - 1);
}

uint32_t SliceRecorder::add_run(Slice slice, uint32_t entry) {
    last_[slice.pipe] = add(slice, entry);
    if (last_[slice.pipe] == kNothing)
        landing_[slice.pipe].clear();
    else
        land(slice.pipe, last_[slice.pipe]);
    return last_[slice.pipe];
}

// What follows `slice` until `end`.
void SliceRecorder::add_loss(Slice slice, uint32_t entry, LossReason reason, uint64_t end) {
    if (slice.end >= end) return;
    Slice loss;
    loss.begin = slice.end;
    loss.end = end;
    loss.pipe = slice.pipe;
    loss.kind = SliceKind::Loss;
    loss.reason = reason;
    add(loss, entry);
}

// The pipe does something from `begin` to `end`: bytes on their way show before it, and after it again.
void SliceRecorder::cut_latency(uint32_t pipe, uint64_t begin, uint64_t end) {
    Span &latency = latency_[pipe];
    const uint64_t until = std::min(latency.end, begin);
    if (latency.begin < until && has(latency_entry_[pipe]) && latency_entry_[pipe] != kNothing) {
        Slice slice;
        slice.begin = latency.begin;
        slice.end = until;
        slice.entry = static_cast<uint32_t>(block_.window.place(latency_entry_[pipe]));
        slice.pipe = static_cast<uint8_t>(pipe);
        slice.kind = SliceKind::Loss;
        slice.reason = kLossLatency;
        block_.slices.push_back(slice);
    }
    latency.begin = std::max(latency.begin, end);
}

}  // namespace vnpu
