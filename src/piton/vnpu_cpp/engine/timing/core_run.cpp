#include "core_run.h"

#include <algorithm>

#include "transfer.h"

namespace vnpu {
namespace {

constexpr uint32_t kPipes = 8;  // VNPU_PIPE_COUNT rounded up, for indexing

const char *pipe_name(uint32_t pipe) {
    static const char *const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return names[pipe % kPipes];
}

uint64_t conflicts_of(const TraceEntry &entry) { return entry.pipe == VNPU_PIPE_V ? entry.conflict_cycles : 0; }

}  // namespace

uint32_t queue_of(const TraceEntry &entry) {
    uint32_t pipe = entry.pipe;
    if (entry.kind == TraceKind::SetFlag) pipe = entry.src_pipe;
    if (entry.kind == TraceKind::WaitFlag) pipe = entry.dst_pipe;
    if (entry.kind == TraceKind::SyncAll || entry.kind == TraceKind::CrossWait) pipe = VNPU_PIPE_S;
    return pipe < VNPU_PIPE_COUNT ? pipe : static_cast<uint32_t>(VNPU_PIPE_S);  // PIPE_ALL is the scalar unit's business
}

CoreRun::CoreRun(const ChipModel &chip, const CoreTrace &trace, const Place &place, uint64_t start)
    : chip_(chip),
      trace_(trace),
      crosses_(place.crosses),
      core_(place.core),
      recorder_(place.recorder),
      flags_(kPipes * kPipes * kEvents),
      cache_lines_(chip.cache_lines, 0),
      cross_waits_(kEvents, 0),
      start_(start),
      now_(start) {
    for (Pipe &pipe : pipes_) {
        pipe.entries.resize(chip.queue_depth);
        pipe.issue_times.resize(chip.queue_depth);
        pipe.taken_times.resize(chip.queue_depth);
        pipe.free_at = pipe.complete_at = pipe.busy_until = start;
    }
}

void CoreRun::advance(std::vector<Request> &requests) {
    for (bool has_moved = true; has_moved;) {
        has_moved = false;
        while (step_scalar(requests)) has_moved = true;
        for (uint32_t pipe = VNPU_PIPE_V; pipe < kQueues; ++pipe)
            while (step_pipe(pipe, requests)) has_moved = true;
    }
}

void CoreRun::end_transfer(uint32_t pipe_index, uint64_t time, uint64_t alone, const TransferPlan &plan) {
    Pipe &pipe = pipes_[pipe_index];
    const TraceEntry &entry = trace_[pipe.transfer_entry];
    const DmaCost &dma = dma_of(chip_, entry);
    const uint64_t first_byte = pipe.transfer_start + entry.cycles;
    const uint64_t by_blocks = first_byte + block_cycles(dma, entry);
    pipe.free_at = std::max(time, by_blocks);
    const uint64_t alone_end = std::min(time, first_byte + alone);
    pipe.lost[kLossShare] += time - alone_end;
    pipe.lost[kLossBlocks] += pipe.free_at - time;
    pipe.active += pipe.free_at - pipe.transfer_start;
    pipe.complete_at = std::max(pipe.complete_at, pipe.free_at + dma.latency_cycles);
    pipe.occupy(pipe.transfer_start, pipe.free_at + dma.latency_cycles);
    pipe.is_moving = false;
    if (!recorder_) return;
    const uint64_t complete = pipe.free_at + dma.latency_cycles;
    recorder_->transfer(pipe_index, pipe.transfer_entry, {pipe.transfer_start, alone_end, time, pipe.free_at, complete, pipe.transfer_queued, plan});
}

void CoreRun::release(uint64_t time, uint32_t block) {
    is_in_sync_all_ = false;
    stall_scalar_until(time, kWaitSyncAll, block);
    ++next_;
}

void CoreRun::Pipe::occupy(uint64_t begin, uint64_t end) {
    busy += end - std::min(end, std::max(begin, busy_until));
    busy_until = std::max(busy_until, end);
}

uint64_t CoreRun::Flag::take() {
    const uint64_t time = ready[head++];
    if (head == ready.size()) {  // all taken: keep the vector short
        ready.clear();
        sources.clear();
        head = 0;
    }
    return time;
}

CoreRun::Flag &CoreRun::flag_of(const TraceEntry &entry) {
    return flags_[(entry.src_pipe % kPipes * kPipes + entry.dst_pipe % kPipes) * kEvents + entry.event % kEvents];
}

// ---- the pipes -------------------------------------------------------------------------------------------------------------------------------------

bool CoreRun::step_pipe(uint32_t pipe_index, std::vector<Request> &requests) {
    Pipe &pipe = pipes_[pipe_index];
    if (pipe.is_moving || pipe.taken == pipe.issued) return false;
    const uint64_t place = pipe.taken % chip_.queue_depth;
    const uint32_t index = pipe.entries[place];
    const uint64_t ready = std::max(pipe.free_at, pipe.issue_times[place]);
    uint64_t taken = ready;
    if (!start(index, trace_[index], ready, taken, requests)) return false;
    pipe.taken_times[place] = taken;
    ++pipe.taken;
    return true;
}

// The pipe is ready for the entry at `ready`; `taken` says when it leaves the queue. False: it has to wait for something not known yet.
bool CoreRun::start(uint32_t index, const TraceEntry &entry, uint64_t ready, uint64_t &taken, std::vector<Request> &requests) {
    const uint32_t pipe_index = queue_of(entry);
    Pipe &pipe = pipes_[pipe_index];
    switch (entry.kind) {
        case TraceKind::Work:
            pipe.work(ready, entry);
            if (recorder_) recorder_->run(pipe_index, index, {ready, pipe.free_at}, queued(pipe, ready), {kLossConflict, conflicts_of(entry)});
            break;
        case TraceKind::GmRead:
        case TraceKind::GmWrite:
            start_transfer(index, entry, ready, requests);
            break;
        case TraceKind::SetFlag:
            set_flag(entry, pipe_index, fire(pipe, ready));
            break;
        case TraceKind::CrossSet:
            requests.push_back(cross_set(entry, fire(pipe, ready)));
            break;
        case TraceKind::WaitFlag:
            return wait_flag(index, entry, ready, taken);
        case TraceKind::Barrier:
            taken = std::max(ready, pipe.complete_at);
            pipe.free_at = taken + chip_.barrier_cycles;
            break;
        default:
            break;  // SyncAll and CrossWait never enter a queue
    }
    return true;
}

void CoreRun::Pipe::work(uint64_t ready, const TraceEntry &entry) {
    free_at = ready + entry.cycles;
    active += entry.cycles;
    lost[kLossConflict] += conflicts_of(entry);
    complete_at = std::max(complete_at, free_at);
    occupy(ready, free_at);
}

void CoreRun::set_flag(const TraceEntry &entry, uint32_t pipe, uint64_t ready) {
    Flag &flag = flag_of(entry);
    flag.ready.push_back(ready);
    if (recorder_) flag.sources.push_back(recorder_->last(pipe));
}

// When a set reached at `ready` fires: once everything earlier on its pipe is complete. The pipe itself goes on.
uint64_t CoreRun::fire(Pipe &pipe, uint64_t ready) {
    pipe.free_at = ready + chip_.flag_cycles;
    return std::max(ready, pipe.complete_at) + chip_.flag_cycles;
}

Request CoreRun::cross_set(const TraceEntry &entry, uint64_t time) {
    Request request;
    request.kind = Request::Kind::CrossSet;
    request.event = entry.event % kEvents;
    request.mode = entry.flags & kTraceSoftFlag ? 0 : entry.cross_mode;
    request.soft_flag = entry.flags & kTraceSoftFlag ? entry.blocks : 0;
    request.time = time;
    return request;
}

bool CoreRun::wait_flag(uint32_t index, const TraceEntry &entry, uint64_t ready, uint64_t &taken) {
    Pipe &pipe = pipes_[queue_of(entry)];
    Flag &flag = flag_of(entry);
    if (!flag.is_set()) return false;
    const uint32_t source = flag.source();
    taken = std::max(ready, flag.take());
    const uint64_t idle = std::min(taken, std::max(ready, pipe.busy_until));  // a pipe with bytes on their way is busy
    pipe.waits[entry.src_pipe % VNPU_PIPE_COUNT] += taken - idle;
    pipe.free_at = taken + chip_.flag_cycles;
    if (!recorder_) return true;
    recorder_->wait(queue_of(entry), index, {idle, taken}, entry.src_pipe % VNPU_PIPE_COUNT, entry.src_pipe);
    recorder_->arrive(source, entry);
    return true;
}

void CoreRun::start_transfer(uint32_t index, const TraceEntry &entry, uint64_t ready, std::vector<Request> &requests) {
    Pipe &pipe = pipes_[queue_of(entry)];
    pipe.is_moving = true;
    pipe.transfer_start = ready;
    pipe.transfer_queued = queued(pipe, ready);
    pipe.transfer_entry = index;
    Request request;
    request.kind = Request::Kind::Transfer;
    request.pipe = entry.pipe;
    request.entry = index;
    request.time = ready + entry.cycles;
    requests.push_back(request);
}

// ---- reports ---------------------------------------------------------------------------------------------------------------------------------------

std::string CoreRun::waits_for() const {
    if (is_in_sync_all_) return "SyncAll";
    for (uint32_t index = VNPU_PIPE_V; index < kQueues; ++index) {
        const Pipe &pipe = pipes_[index];
        if (pipe.is_moving || pipe.taken == pipe.issued) continue;
        const TraceEntry &entry = trace_[pipe.entries[pipe.taken % chip_.queue_depth]];
        return std::string("flag ") + pipe_name(entry.src_pipe) + "_" + pipe_name(entry.dst_pipe) + " id " + std::to_string(entry.event) + " at line " +
               std::to_string(entry.line);
    }
    const TraceEntry &entry = trace_[std::min<size_t>(next_, trace_.size() - 1)];
    return "the entry of line " + std::to_string(entry.line);
}

void CoreRun::add_to(PipeTiming &timing) const {
    timing.lost[VNPU_PIPE_S][kLossMiss] += scalar_missed_;
    timing.lost[VNPU_PIPE_S][kLossCode] += scalar_code_;
    add_pipe(timing, VNPU_PIPE_S, scalar_busy_, scalar_waits_, kWaitIdle);
    for (uint32_t index = VNPU_PIPE_V; index < kQueues; ++index) {
        const Pipe &pipe = pipes_[index];
        add_pipe(timing, index, pipe.busy, pipe.waits, VNPU_PIPE_COUNT);
        for (uint32_t reason = 0; reason < kLossReasons; ++reason) timing.lost[index][reason] += pipe.lost[reason];
        timing.lost[index][kLossLatency] += pipe.busy - pipe.active;
    }
}

// What is neither work nor one of the known waits is time in which the pipe had nothing to do.
void CoreRun::add_pipe(PipeTiming &timing, uint32_t pipe, uint64_t busy, const uint64_t *waits, uint32_t reasons) const {
    uint64_t waited = 0;
    for (uint32_t reason = 0; reason < reasons; ++reason) {
        timing.wait[pipe][reason] += waits[reason];
        waited += waits[reason];
    }
    timing.busy[pipe] += busy;
    timing.stall[pipe] += waited;
    timing.wait[pipe][kWaitIdle] += lifetime() - busy - waited;
}

}  // namespace vnpu
