/*
 * How late it is on a core while its program runs: what GetSystemCycle answers.
 *
 * Problem: kernels read the system counter to time themselves, while real time is known only to the replay, which comes after execution.
 * Approach: a clock per pipe, kept in program order from the same trace entries: instructions queue up on their pipe, flags and barriers join pipes, the
 * scalar unit runs ahead of a pipe by a full queue at most. 1000 Adds between two PIPE_ALL barriers take what the replay says they take.
 * Limits: a core by itself. Copies move at a fixed rate, and other cores, SyncAll and cross-core flags are not waited for.
 */
#pragma once

#include <array>
#include <cstdint>

#include "trace.h"

namespace vnpu {

class ProgramClock {
public:
    // `cycles` of the entry, with what its bytes take; `scalar_code`: cycles that scalar code without entries has taken so far.
    void add(const TraceEntry &entry, uint64_t cycles, uint64_t scalar_code);
    uint64_t now(uint64_t scalar_code) const { return scalar_ + (scalar_code - scalar_code_); }  // of the scalar unit

private:
    static constexpr uint32_t kPipes = 8, kEvents = 16;
    static constexpr uint32_t kQueueDepth = 32;  // public documentation; `queue.depth` of the hardware files

    struct Pipe {
        uint64_t free_at = 0;
        uint64_t issued = 0;
        std::array<uint64_t, kQueueDepth> started{};  // of the last instructions, a ring
    };

    void issue(const TraceEntry &entry, uint64_t cycles);
    void set(const TraceEntry &entry);
    void wait(const TraceEntry &entry);
    void drain();
    uint64_t &ready_of(const TraceEntry &entry) { return ready_[entry.src_pipe % kPipes][entry.dst_pipe % kPipes][entry.event % kEvents]; }

    uint64_t scalar_ = 0;
    uint64_t scalar_code_ = 0;  // the part of it that is in scalar_
    std::array<Pipe, kPipes> pipes_{};
    uint64_t ready_[kPipes][kPipes][kEvents] = {};  // of the last set of a flag; two sets in a row are a fault that is reported elsewhere
};

}  // namespace vnpu
