/*
 * The replay: all cores of a launch in time order.
 *
 * Problem: cores share HBM and L2, SyncAll joins them, and surplus blocks start when others end; all of that has to be the same on every host.
 * Approach: cores compute ahead by themselves (core_run.h); what they share is handled here, one event at a time, ordered by (cycle, kind, core, pipe).
 * Limits: blocks start one after the other as the task scheduler hands them out, all cores of one at once; a surplus block starts where the first one ends.
 */
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "../cross_parties.h"
#include "bandwidth.h"
#include "core_run.h"
#include "l2.h"
#include "traffic.h"
#include "transfer.h"

namespace vnpu {

class MemoryState {
public:
    explicit MemoryState(const ChipModel &chip) : l2(chip.l2_bytes) {}
    L2 l2;
};

namespace {

constexpr uint32_t kNobody = ~0u;

struct Event {
    uint64_t time = 0;
    Request::Kind kind = Request::Kind::End;
    uint32_t core = 0;
    uint8_t pipe = 0;
    uint32_t entry = 0;

    bool operator>(const Event &other) const { return key() > other.key(); }
    std::tuple<uint64_t, uint8_t, uint32_t, uint8_t> key() const { return {time, static_cast<uint8_t>(kind), core, pipe}; }
};

struct Flow {
    uint32_t core = kNobody;  // kNobody: a write-back that nothing waits for
    uint8_t pipe = 0;
    FlowKind last_kind = kHbmRead, shared_kind = kSharedRead;
    TransferPlan plan = {};     // what the transfer moves in all
    uint64_t alone = 0;         // cycles that it would take without other transfers
    uint64_t shared_bytes = 0;  // still to move after the part that L2 serves: first what other cores read too,
    uint64_t last_bytes = 0;    // then the rest, over HBM
};

// Arrivals of all cores at one point; it opens when the last one is there.
struct Gathering {
    uint32_t arrived = 0;
    uint64_t latest = 0;
    uint32_t latest_core = kNobody;

    bool arrive(uint64_t time, uint32_t core, uint32_t expected) {
        if (latest_core == kNobody || time > latest) latest_core = core;
        latest = std::max(latest, time);
        return ++arrived == expected;
    }
};

uint32_t at_once(const ChipModel &chip, const Groups &groups) { return blocks_at_once(groups, chip.limits.cores_aic, chip.limits.cores_aiv); }

class Replay {
public:
    Replay(const ChipModel &chip, const LaunchTrace &trace, L2 &l2, LaunchTimeline *timeline)
        : chip_(chip),
          trace_(trace),
          l2_(l2),
          timeline_(timeline),
          bandwidth_(chip, timeline ? &traffic_ : nullptr),
          shared_(chip.same_address_cycles),
          crosses_(trace.cores.size()),
          cores_(trace.cores.size()),
          recorders_(timeline ? trace.cores.size() : 0) {
        groups_.kind = trace.core_kind;
        groups_.blocks = static_cast<uint32_t>(trace.cores.size()) / groups_.members();
    }

    LaunchTiming run() {
        const uint32_t first_wave = std::min(blocks(), std::max(1u, at_once(chip_, groups_)));
        timing_.cores = first_wave * groups_.members();
        if (groups_.is_mixed()) timing_.cube.cores = first_wave;
        while (started_ < first_wave) start_block(0);
        while (step()) continue;
        if (ended_ != blocks()) throw std::runtime_error(deadlock());
        timing_.cycles = std::max(last_end_, chip_.launch_minimum);
        timing_.kernel_cycles = last_end_ - std::min(last_end_, chip_.launch_base);
        add_time_outside_blocks();
        if (timeline_) {
            timeline_->core_kind = trace_.core_kind;
            timeline_->cycles = timing_.cycles;
            traffic_.move_into(*timeline_);
        }
        return timing_;
    }

private:
    uint32_t blocks() const { return groups_.blocks; }

    void start_block(uint64_t core_free) {
        const uint32_t block = started_++;
        const uint64_t handed_out = chip_.launch_base + block * chip_.launch_per_block;
        const uint64_t start = std::max(core_free, handed_out);
        const uint32_t first = block * groups_.members();
        for (uint32_t core = first; core < first + groups_.members(); ++core) {
            before_blocks_ += start - core_free;
            cores_[core] = std::make_unique<CoreRun>(chip_, trace_.cores[core], CoreRun::Place{crosses_, core, recorder_of(core, start)}, start);
        }
        for (uint32_t core = first; core < first + groups_.members(); ++core) advance(core);
    }

    SliceRecorder *recorder_of(uint32_t core, uint64_t start) {
        BlockTimeline *recorded = timeline_ ? timeline_->of(core) : nullptr;
        if (recorded) recorders_[core] = std::make_unique<SliceRecorder>(*recorded, trace_.cores[core], start);
        return recorded ? recorders_[core].get() : nullptr;
    }

    // The earlier of the next event and the next end of a flow; false when there is neither.
    bool step() {
        const uint64_t next_event = events_.empty() ? kNever : events_.top().time;
        if (bandwidth_.next_end() == kNever && next_event == kNever) return false;
        if (bandwidth_.next_end() <= next_event)
            end_flows(bandwidth_.next_end());
        else
            handle_event();
        return true;
    }

    void handle_event() {
        const Event event = events_.top();
        events_.pop();
        if (event.kind == Request::Kind::Transfer)
            start_transfer(event);
        else
            end_core(event);
    }

    void end_core(const Event &event) {
        const CoreRun &ended = *cores_[event.core];
        ended.add_to(timing_);
        in_blocks_ += ended.lifetime();
        if (groups_.is_mixed() && groups_.is_cube(event.core)) {
            ended.add_to(timing_.cube);
            in_cube_ += ended.lifetime();
        }
        cores_[event.core].reset();
        last_end_ = std::max(last_end_, event.time);
        const uint32_t first = groups_.block_of(event.core) * groups_.members();
        for (uint32_t core = first; core < first + groups_.members(); ++core)
            if (cores_[core]) return;
        ++ended_;
        if (started_ < blocks()) start_block(event.time);
    }

    // Every pipe of a core waits before the core's first block, and after its last.
    void add_time_outside_blocks() {
        add_outside(timing_, before_blocks_, in_blocks_);
        add_outside(timing_.cube, timing_.cube.cores ? before_blocks_ / groups_.members() : 0, in_cube_);
    }

    void add_outside(PipeTiming &timing, uint64_t before, uint64_t within) const {
        for (uint64_t *waits : timing.wait) {
            waits[kWaitLaunch] = before;
            waits[kWaitTail] = timing.cores * timing_.cycles - within - before;
        }
    }

    // ---- transfers

    void start_transfer(const Event &event) {
        const TraceEntry &entry = trace_.cores[event.core][event.entry];
        const bool is_read = entry.kind == TraceKind::GmRead, is_cube = groups_.is_cube(event.core);
        const TransferPlan plan = plan_transfer(entry, {event.time, event.core}, l2_, shared_);
        (is_read ? timing_.gm_read_bytes : timing_.gm_written_bytes) += static_cast<uint64_t>(entry.blocks) * entry.block_bytes;
        timing_.hbm_bytes += plan.hbm_bytes + plan.write_back_bytes;
        timing_.l2_bytes += plan.l2_bytes;
        if (plan.write_back_bytes != 0) bandwidth_.start(event.time, kHbmWrite, plan.write_back_bytes, new_flow({}));
        Flow flow;
        flow.core = event.core;
        flow.pipe = event.pipe;
        const FlowKind l2_kind = !is_read ? kL2Write : is_cube ? kL2ReadL1 : kL2Read;
        flow.last_kind = !is_read ? kHbmWrite : is_cube ? kHbmReadL1 : kHbmRead;
        flow.shared_kind = is_cube ? kSharedReadL1 : kSharedRead;
        flow.alone = alone_cycles(plan, l2_kind, flow.last_kind);
        flow.plan = plan;
        if (timeline_ && is_read) traffic_.add_load(event.time, plan.l2_bytes, plan.l2_bytes + plan.hbm_bytes);
        flow.last_bytes = plan.hbm_bytes - plan.shared_bytes;
        flow.shared_bytes = plan.shared_bytes;
        if (plan.l2_bytes != 0)
            bandwidth_.start(event.time, l2_kind, plan.l2_bytes, new_flow(flow));
        else
            start_last_part(event.time, new_flow(flow));
    }

    uint64_t alone_cycles(const TransferPlan &plan, FlowKind l2, FlowKind hbm) const {
        return cycles_at(plan.l2_bytes, bandwidth_.alone(l2)) + cycles_at(plan.hbm_bytes, bandwidth_.alone(hbm));
    }

    static uint64_t cycles_at(uint64_t bytes, Rate rate) { return ((bytes << kRateBits) + rate - 1) / rate; }

    void start_last_part(uint64_t now, uint32_t index) {
        Flow &flow = flows_[index];
        const bool is_shared = flow.shared_bytes != 0;
        const uint64_t bytes = std::exchange(is_shared ? flow.shared_bytes : flow.last_bytes, 0);
        bandwidth_.start(now, is_shared ? flow.shared_kind : flow.last_kind, bytes, index);
    }

    void end_flows(uint64_t now) {
        ending_.clear();
        bandwidth_.take_ended(now, ending_);
        for (const uint32_t index : ending_) {
            if (flows_[index].shared_bytes + flows_[index].last_bytes != 0)
                start_last_part(now, index);
            else
                end_flow(now, index);
        }
    }

    void end_flow(uint64_t now, uint32_t index) {
        const Flow flow = flows_[index];
        free_flows_.push_back(index);
        if (flow.core == kNobody) return;
        cores_[flow.core]->end_transfer(flow.pipe, now, flow.alone, flow.plan);
        advance(flow.core);
    }

    uint32_t new_flow(const Flow &flow) {
        if (free_flows_.empty()) {
            flows_.push_back(flow);
            return static_cast<uint32_t>(flows_.size() - 1);
        }
        const uint32_t index = free_flows_.back();
        free_flows_.pop_back();
        flows_[index] = flow;
        return index;
    }

    // ---- what cores ask for

    void advance(uint32_t first) {
        ready_.push_back(first);
        while (!ready_.empty()) {
            const uint32_t core = ready_.back();
            ready_.pop_back();
            std::vector<Request> requests;
            cores_[core]->advance(requests);
            for (const Request &request : requests) take(core, request);
        }
    }

    void take(uint32_t core, const Request &request) {
        switch (request.kind) {
            case Request::Kind::Transfer:
            case Request::Kind::End:
                events_.push({request.time, request.kind, core, request.pipe, request.entry});
                break;
            case Request::Kind::SyncAll:
                arrive_sync_all(core, request);
                break;
            case Request::Kind::CrossSet:
                arrive_cross(core, request);
                break;
        }
    }

    void arrive_sync_all(uint32_t arriving, const Request &request) {
        const uint32_t point = std::min<uint32_t>(request.event, kSyncOfAll);
        Gathering &sync = syncs_[point];
        if (!sync.arrive(request.time, arriving, expected_at(groups_, point))) return;
        const uint64_t release = sync.latest + chip_.sync_all;
        const uint32_t latest = sync.latest_core;
        sync = {};
        for (uint32_t core = 0; core < groups_.cores(); ++core) {
            if (!takes_part(groups_, core, point)) continue;
            cores_[core]->release(release, latest);
            ready_.push_back(core);
        }
    }

    void arrive_cross(uint32_t core, const Request &request) {
        if (request.soft_flag) {
            crosses_.set_soft(request.soft_flag, request.time);
            return wake_all();
        }
        const CrossParties parties = parties_of(groups_, request.mode, core);
        const uint32_t turn = cross_turns_[{core, request.mode, request.event}]++;
        std::vector<Gathering> &gatherings = cross_gatherings_[{request.mode, parties.group, request.event}];
        if (gatherings.size() <= turn) gatherings.resize(turn + 1);
        if (!gatherings[turn].arrive(request.time, core, parties.senders)) return;
        const uint64_t reached = gatherings[turn].latest + (request.mode == kAllOfKind ? chip_.sync_all : chip_.cross_flag);
        for (const uint32_t receiver : parties.receivers) {
            crosses_.flags[receiver][request.event].push_back(reached);
            if (cores_[receiver] && !cores_[receiver]->is_ended()) ready_.push_back(receiver);
        }
    }

    void wake_all() {
        for (uint32_t other = 0; other < groups_.cores(); ++other)
            if (cores_[other] && !cores_[other]->is_ended()) ready_.push_back(other);
    }

    std::string deadlock() const {
        const bool is_at_sync = std::any_of(std::begin(syncs_), std::end(syncs_), [](const Gathering &sync) { return sync.arrived != 0; });
        if (is_at_sync && started_ < blocks())
            return "deadlock: SyncAll needs all " + std::to_string(blocks()) + " blocks at once, the chip runs " + std::to_string(started_ - ended_) +
                   " at a time";
        for (uint32_t core = 0; core < groups_.cores(); ++core)
            if (cores_[core] && !cores_[core]->is_ended())
                return "deadlock: " + (groups_.is_mixed() ? groups_.name(core) : "block " + std::to_string(core)) + " waits for ever for " +
                       cores_[core]->waits_for();
        return "deadlock: no block can go on";
    }

    const ChipModel &chip_;
    const LaunchTrace &trace_;
    L2 &l2_;
    LaunchTimeline *timeline_;
    TrafficRecorder traffic_;
    Bandwidth bandwidth_;
    SharedReads shared_;
    CrossReleases crosses_;
    Groups groups_;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<Gathering>> cross_gatherings_;  // [mode, group, event][n]
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> cross_turns_;                     // sets so far by core, mode and event
    std::vector<std::unique_ptr<CoreRun>> cores_;
    std::vector<std::unique_ptr<SliceRecorder>> recorders_;  // of recorded blocks
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::vector<Flow> flows_;
    std::vector<uint32_t> free_flows_, ending_, ready_;
    Gathering syncs_[kSyncPoints];
    LaunchTiming timing_;
    uint64_t last_end_ = 0;
    uint64_t in_blocks_ = 0;      // summed over cores
    uint64_t in_cube_ = 0;        // of that, by the cube cores of a mixed launch
    uint64_t before_blocks_ = 0;  // summed over cores
    uint32_t started_ = 0, ended_ = 0;
};

}  // namespace

std::shared_ptr<MemoryState> cold_memory(const ChipModel &chip) { return std::make_shared<MemoryState>(chip); }

LaunchTiming replay(const ChipModel &chip, const LaunchTrace &trace, MemoryState &memory, LaunchTimeline *timeline) {
    return Replay(chip, trace, memory.l2, timeline).run();
}

// Addresses are not known here: every byte is read from HBM and written to it, the L2 stays as it is.
uint64_t copy_cycles(const ChipModel &chip, uint64_t bytes, MemoryState &) {
    const uint64_t moved = (((2 * bytes) << kRateBits) + chip.hbm_total_cap - 1) / chip.hbm_total_cap;
    return std::max(chip.launch_minimum, chip.launch_base + moved);
}

}  // namespace vnpu
