/* The scalar unit of a CoreRun: issue, scalar accesses, what S waits for. */
#include <algorithm>

#include "core_run.h"

namespace vnpu {

void CoreRun::stall_scalar_until(uint64_t time, uint32_t reason, uint32_t cause) {
    if (recorder_) recorder_->wait(VNPU_PIPE_S, scalar_entry(), {now_, time}, reason, cause);
    scalar_waits_[reason] += std::max(time, now_) - now_;
    now_ = std::max(time, now_);
}

bool CoreRun::step_scalar(std::vector<Request> &requests) {
    if (is_ended_ || is_in_sync_all_) return false;
    if (next_ == trace_.size()) {
        if (drain(kWaitEnd)) end(requests);
        return false;
    }
    const TraceEntry &entry = trace_[next_];
    const uint32_t pipe = queue_of(entry);
    if (recorder_) recorder_->reach(next_, now_);
    run_code(entry);
    if (entry.kind == TraceKind::SyncAll) return sync_all(requests);
    bool is_done = false;
    if (pipe != VNPU_PIPE_S)
        is_done = issue(pipe, entry.issue_cycles);
    else if (entry.kind == TraceKind::WaitFlag)
        is_done = scalar_wait(entry);
    else if (entry.kind == TraceKind::CrossWait)
        is_done = entry.flags & kTraceSoftFlag ? scalar_soft_wait(entry.blocks) : scalar_cross_wait(entry.event % kEvents);
    else if (entry.kind == TraceKind::CrossSet)
        is_done = scalar_set(entry, requests);
    else if (entry.kind == TraceKind::Barrier)
        is_done = entry.pipe == VNPU_PIPE_S || drain(kWaitBarrier);
    else
        is_done = scalar_work(entry);
    if (is_done) ++next_;
    return is_done;
}

// The kernel's own code comes before the call, and once: S may come to an entry several times until it can go on.
void CoreRun::run_code(const TraceEntry &entry) {
    if (coded_ == next_) return;
    coded_ = next_;
    if (recorder_) recorder_->code(next_, {now_, now_ + entry.code_cycles});
    now_ += entry.code_cycles;
    scalar_busy_ += entry.code_cycles;
    scalar_code_ += entry.code_cycles;
}

// Put the entry into the queue of its pipe; S waits while the queue is full.
bool CoreRun::issue(uint32_t pipe_index, uint32_t issue_cycles) {
    Pipe &pipe = pipes_[pipe_index];
    const uint32_t depth = chip_.queue_depth;
    if (pipe.issued - pipe.taken == depth) return false;
    const uint64_t place = pipe.issued % depth;
    if (pipe.issued >= depth) stall_scalar_until(pipe.taken_times[place], kWaitQueue, pipe_index);
    now_ += issue_cycles;
    scalar_busy_ += issue_cycles;
    if (recorder_) recorder_->issue(next_, now_ - issue_cycles, now_);
    pipe.entries[place] = next_;
    pipe.issue_times[place] = now_;
    ++pipe.issued;
    return true;
}

bool CoreRun::scalar_work(const TraceEntry &entry) {
    uint64_t cycles = entry.cycles, missed = 0;
    if (entry.kind == TraceKind::SetFlag) {
        cycles = chip_.flag_cycles;
        set_flag(entry, VNPU_PIPE_S, now_ + cycles);
    } else if (entry.opcode == VNPU_OP_CACHE_CLEAN) {
        std::fill(cache_lines_.begin(), cache_lines_.end(), 0);  // coarse: one line or all of it
    } else if (entry.gm_addr != 0 && is_miss(entry.gm_addr)) {
        missed = chip_.cache_miss_cycles;
    }
    now_ += cycles + missed;
    scalar_busy_ += cycles + missed;
    scalar_missed_ += missed;
    if (recorder_) recorder_->run(VNPU_PIPE_S, next_, {now_ - cycles - missed, now_}, 0, {kLossMiss, missed});
    return true;
}

bool CoreRun::is_miss(uint64_t address) {
    if (cache_lines_.empty()) return true;
    const uint64_t line = address / chip_.cache_line_bytes;
    uint64_t &tag = cache_lines_[line % cache_lines_.size()];
    const bool result = tag != line + 1;
    tag = line + 1;
    return result;
}

bool CoreRun::scalar_wait(const TraceEntry &entry) {
    Flag &flag = flag_of(entry);
    if (!flag.is_set()) return false;
    const uint32_t source = flag.source();
    stall_scalar_until(flag.take(), entry.src_pipe % VNPU_PIPE_COUNT, entry.src_pipe);
    if (recorder_) recorder_->arrive(source, entry);
    now_ += chip_.flag_cycles;
    return true;
}

// One set is enough, and it stays set.
bool CoreRun::scalar_soft_wait(uint32_t token) {
    if (!crosses_.is_soft_set(token)) return false;
    stall_scalar_until(crosses_.soft[token], kWaitCrossFlag, kNothing);
    return true;
}

bool CoreRun::scalar_cross_wait(uint32_t event) {
    const std::vector<uint64_t> &releases = crosses_.flags[core_][event];
    if (cross_waits_[event] >= releases.size()) return false;
    stall_scalar_until(releases[cross_waits_[event]++], kWaitCrossFlag, kNothing);
    return true;
}

// PIPE_ALL: S waits until every pipe has completed everything.
bool CoreRun::drain(uint32_t reason) {
    for (const Pipe &pipe : pipes_)
        if (!pipe.is_drained()) return false;
    for (uint32_t pipe = VNPU_PIPE_V; pipe < kQueues; ++pipe) stall_scalar_until(pipes_[pipe].complete_at, reason, pipe);
    now_ += chip_.barrier_cycles;
    return true;
}

bool CoreRun::sync_all(std::vector<Request> &requests) {
    if (!drain(kWaitBarrier)) return false;
    is_in_sync_all_ = true;
    Request request;
    request.kind = Request::Kind::SyncAll;
    request.event = trace_[next_].event;
    request.time = now_;
    requests.push_back(request);
    return false;
}

// A store past the data cache that others wait for.
bool CoreRun::scalar_set(const TraceEntry &entry, std::vector<Request> &requests) {
    requests.push_back(cross_set(entry, now_));
    return true;
}

void CoreRun::end(std::vector<Request> &requests) {
    is_ended_ = true;
    if (recorder_) recorder_->end(now_);
    Request request;
    request.kind = Request::Kind::End;
    request.time = now_;
    requests.push_back(request);
}

}  // namespace vnpu
