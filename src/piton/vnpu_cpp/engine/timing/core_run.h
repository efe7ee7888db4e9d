/*
 * One block on one core: its scalar unit issues into the pipes' queues, every pipe starts its instructions in order.
 *
 * Problem: a million entries per launch, and only transfers need to know what other cores do.
 * Approach: every time is computed as soon as what it depends on is known, ahead of the replay's clock where possible. What concerns other cores is handed
 * to the replay as a Request; the core goes on when the replay answers (end_transfer, release). A time once computed never changes.
 * Rules: an instruction enters a queue when S has issued it and a place is free; a pipe takes it when its predecessor has left the pipe; a flag is set when
 * all earlier work of its pipe is complete; a waiting pipe goes on no earlier than that; the n-th wait of a flag pairs with its n-th set.
 * Limits: bubbles between dependent instructions of a pipe exist only where a barrier or a flag is.
 */
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../trace.h"
#include "chip.h"
#include "slices.h"

namespace vnpu {

// Pipe of the queues: everything but S.
constexpr uint32_t kQueues = VNPU_PIPE_COUNT;
constexpr uint32_t kEvents = 16;  // per pair of pipes, and of cross-core flags

struct Request {
    enum class Kind : uint8_t { Transfer, SyncAll, CrossSet, End };
    Kind kind = Kind::End;
    uint8_t pipe = 0;        // Transfer
    uint8_t event = 0;       // CrossSet; SyncAll: which cores (TraceKind)
    uint32_t mode = 0;       // CrossSet by id
    uint32_t soft_flag = 0;  // CrossSet: number of the set of a flag in global memory; 0: one of the ids
    uint64_t time = 0;       // when the first byte moves, the core arrives, the set fires, the block ends
    uint32_t entry = 0;      // Transfer: index in the trace
};

// Times at which flags reach a core: [core][event][n] for the n-th one; soft flags, which all cores see, one by one.
struct CrossReleases {
    static constexpr uint64_t kUnset = ~0ull;

    explicit CrossReleases(size_t cores) : flags(cores) {}
    bool is_soft_set(uint32_t token) const { return token < soft.size() && soft[token] != kUnset; }
    void set_soft(uint32_t token, uint64_t time) {
        if (soft.size() <= token) soft.resize(token + 1, kUnset);
        soft[token] = time;
    }

    std::vector<std::array<std::vector<uint64_t>, kEvents>> flags;
    std::vector<uint64_t> soft;  // by number of the set
};

class CoreRun {
public:
    // What a core is among the others. `recorder` may be null.
    struct Place {
        const CrossReleases &crosses;
        uint32_t core;
        SliceRecorder *recorder;
    };
    CoreRun(const ChipModel &chip, const CoreTrace &trace, const Place &place, uint64_t start);

    // Go as far as known times allow; new requests are appended.
    void advance(std::vector<Request> &requests);
    // The bytes of the pipe's transfer have moved at `time`; without other transfers they would have taken `alone` cycles.
    void end_transfer(uint32_t pipe, uint64_t time, uint64_t alone, const TransferPlan &plan);
    // The SyncAll that this core waits in ends at `time`; `block` arrived last.
    void release(uint64_t time, uint32_t block);

    bool is_ended() const { return is_ended_; }
    uint64_t lifetime() const { return now_ - start_; }
    std::string waits_for() const;  // for the deadlock message
    void add_to(PipeTiming &timing) const;

private:
    struct Pipe {
        uint64_t issued = 0, taken = 0;     // entries put into the queue, entries that left it
        std::vector<uint32_t> entries;      // ring of queue.depth
        std::vector<uint64_t> issue_times;  // ring
        std::vector<uint64_t> taken_times;  // ring
        uint64_t free_at = 0;               // the next instruction may start
        uint64_t complete_at = 0;           // everything started so far is complete
        uint64_t busy_until = 0, busy = 0;
        uint64_t active = 0;                   // busy without the time in which only completions were outstanding
        uint64_t waits[VNPU_PIPE_COUNT] = {};  // for flags, by the pipe that sets them
        uint64_t lost[kLossReasons] = {};
        uint64_t transfer_start = 0, transfer_queued = 0;
        uint32_t transfer_entry = 0;
        bool is_moving = false;  // a transfer whose end is not known yet

        bool is_drained() const { return issued == taken && !is_moving; }
        void occupy(uint64_t begin, uint64_t end);
        void work(uint64_t ready, const TraceEntry &entry);
    };
    struct Flag {  // ready times, oldest first
        std::vector<uint64_t> ready;
        std::vector<uint32_t> sources;  // slices before the sets, when there is a recorder
        size_t head = 0;
        bool is_set() const { return head < ready.size(); }
        uint64_t take();
        uint32_t source() const { return head < sources.size() ? sources[head] : kNothing; }  // of the next take
    };

    bool step_scalar(std::vector<Request> &requests);
    void run_code(const TraceEntry &entry);
    bool issue(uint32_t pipe, uint32_t issue_cycles);
    bool scalar_work(const TraceEntry &entry);
    bool scalar_wait(const TraceEntry &entry);
    bool scalar_cross_wait(uint32_t event);
    bool scalar_soft_wait(uint32_t token);
    bool drain(uint32_t reason);
    bool sync_all(std::vector<Request> &requests);
    bool scalar_set(const TraceEntry &entry, std::vector<Request> &requests);
    void end(std::vector<Request> &requests);
    bool step_pipe(uint32_t pipe, std::vector<Request> &requests);
    bool start(uint32_t index, const TraceEntry &entry, uint64_t ready, uint64_t &taken, std::vector<Request> &requests);
    uint64_t fire(Pipe &pipe, uint64_t ready);
    static Request cross_set(const TraceEntry &entry, uint64_t time);
    bool wait_flag(uint32_t index, const TraceEntry &entry, uint64_t ready, uint64_t &taken);
    void set_flag(const TraceEntry &entry, uint32_t pipe, uint64_t ready);
    void start_transfer(uint32_t index, const TraceEntry &entry, uint64_t ready, std::vector<Request> &requests);
    uint64_t queued(const Pipe &pipe, uint64_t ready) const { return ready - pipe.issue_times[pipe.taken % chip_.queue_depth]; }
    bool is_miss(uint64_t address);
    void stall_scalar_until(uint64_t time, uint32_t reason, uint32_t cause);
    uint32_t scalar_entry() const { return next_ < trace_.size() ? next_ : kNothing; }
    Flag &flag_of(const TraceEntry &entry);
    void add_pipe(PipeTiming &timing, uint32_t pipe, uint64_t busy, const uint64_t *waits, uint32_t reasons) const;

    const ChipModel &chip_;
    const CoreTrace &trace_;
    const CrossReleases &crosses_;
    const uint32_t core_;
    SliceRecorder *recorder_;
    Pipe pipes_[kQueues];
    std::vector<Flag> flags_;
    std::vector<uint64_t> cache_lines_;  // scalar data cache, direct mapped: line number + 1
    std::vector<uint32_t> cross_waits_;  // waits done, by event
    const uint64_t start_;
    uint64_t now_ = 0;           // S has done everything before this cycle
    uint32_t next_ = 0;          // entry that S issues next
    uint32_t coded_ = kNothing;  // entry whose scalar code S has run
    uint64_t scalar_busy_ = 0, scalar_missed_ = 0, scalar_code_ = 0;
    uint64_t scalar_waits_[kWaitReasons] = {};
    bool is_in_sync_all_ = false;
    bool is_ended_ = false;
};

// Pipe whose queue an entry goes through; VNPU_PIPE_S when the scalar unit does it itself.
uint32_t queue_of(const TraceEntry &entry);

}  // namespace vnpu
