#include "program_clock.h"

#include <algorithm>

namespace vnpu {

void ProgramClock::add(const TraceEntry &entry, uint64_t cycles, uint64_t scalar_code) {
    scalar_ = now(scalar_code);
    scalar_code_ = scalar_code;
    switch (entry.kind) {
        case TraceKind::SetFlag:
            return set(entry);
        case TraceKind::WaitFlag:
            return wait(entry);
        case TraceKind::SyncAll:
            return drain();
        case TraceKind::Barrier:
            return entry.pipe == VNPU_PIPE_ALL ? drain() : issue(entry, 1);
        default:
            return entry.pipe == VNPU_PIPE_S ? void(scalar_ += cycles) : issue(entry, cycles);
    }
}

// The scalar unit waits while the pipe's queue is full; the pipe starts the instruction when it has done the ones before.
void ProgramClock::issue(const TraceEntry &entry, uint64_t cycles) {
    Pipe &pipe = pipes_[entry.pipe % kPipes];
    uint64_t &place = pipe.started[pipe.issued++ % kQueueDepth];
    scalar_ = std::max(scalar_, place) + entry.issue_cycles;
    place = std::max(scalar_, pipe.free_at);
    pipe.free_at = place + cycles;
}

void ProgramClock::set(const TraceEntry &entry) {
    scalar_ += entry.issue_cycles;
    const uint64_t done = entry.src_pipe == VNPU_PIPE_S ? scalar_ : pipes_[entry.src_pipe % kPipes].free_at;
    ready_of(entry) = std::max(done, scalar_);
}

void ProgramClock::wait(const TraceEntry &entry) {
    scalar_ += entry.issue_cycles;
    uint64_t &waiting = entry.dst_pipe == VNPU_PIPE_S ? scalar_ : pipes_[entry.dst_pipe % kPipes].free_at;
    waiting = std::max(waiting, ready_of(entry));
}

void ProgramClock::drain() {
    for (const Pipe &pipe : pipes_) scalar_ = std::max(scalar_, pipe.free_at);
    ++scalar_;
}

}  // namespace vnpu
