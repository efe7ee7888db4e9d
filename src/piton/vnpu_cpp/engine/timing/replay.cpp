/*
 * The replay: all cores of a launch in time order.
 *
 * Problem: cores share HBM and L2, SyncAll joins them, and surplus blocks start when others end; all of that has to be the same on every host.
 * Approach: cores compute ahead by themselves (core_run.h); what they share is handled here, one event at a time, ordered by (cycle, kind, block, pipe).
 * Limits: blocks start one after the other as the task scheduler hands them out; a surplus block starts on the first core that ends.
 */
#include <algorithm>
#include <memory>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

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

constexpr uint32_t kCrossEvents = 16;
constexpr uint32_t kNobody = ~0u;

struct Event {
    uint64_t time = 0;
    Request::Kind kind = Request::Kind::End;
    uint32_t block = 0;
    uint8_t pipe = 0;
    uint32_t entry = 0;

    bool operator>(const Event &other) const { return key() > other.key(); }
    std::tuple<uint64_t, uint8_t, uint32_t, uint8_t> key() const { return {time, static_cast<uint8_t>(kind), block, pipe}; }
};

struct Flow {
    uint32_t block = kNobody;  // kNobody: a write-back that nothing waits for
    uint8_t pipe = 0;
    FlowKind last_kind = kHbmRead;
    TransferPlan plan = {};     // what the transfer moves in all
    uint64_t alone = 0;         // cycles that it would take without other transfers
    uint64_t shared_bytes = 0;  // still to move after the part that L2 serves: first what other cores read too,
    uint64_t last_bytes = 0;    // then the rest, over HBM
};

// Arrivals of all cores at one point; it opens when the last one is there.
struct Gathering {
    uint32_t arrived = 0;
    uint64_t latest = 0;
    uint32_t latest_block = kNobody;

    bool arrive(uint64_t time, uint32_t block, uint32_t expected) {
        if (latest_block == kNobody || time > latest) latest_block = block;
        latest = std::max(latest, time);
        return ++arrived == expected;
    }
};

uint32_t cores_for(const ChipModel &chip, uint32_t core_kind) { return core_kind == VNPU_CORE_AIV ? chip.limits.cores_aiv : chip.limits.cores_aic; }

class Replay {
public:
    Replay(const ChipModel &chip, const LaunchTrace &trace, L2 &l2, LaunchTimeline *timeline)
        : chip_(chip),
          trace_(trace),
          l2_(l2),
          timeline_(timeline),
          bandwidth_(chip, trace.core_kind != VNPU_CORE_AIV, timeline ? &traffic_ : nullptr),
          shared_(chip.same_address_cycles),
          crosses_(kCrossEvents),
          cross_gatherings_(kCrossEvents),
          cross_sets_(trace.cores.size(), std::vector<uint32_t>(kCrossEvents, 0)),
          cores_(trace.cores.size()),
          recorders_(timeline ? trace.cores.size() : 0) {}

    LaunchTiming run() {
        timing_.cores = static_cast<uint32_t>(std::min<size_t>(blocks(), std::max(1u, cores_for(chip_, trace_.core_kind))));
        while (started_ < timing_.cores) start_block(0);
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
    uint32_t blocks() const { return static_cast<uint32_t>(trace_.cores.size()); }

    void start_block(uint64_t core_free) {
        const uint32_t block = started_++;
        const uint64_t handed_out = chip_.launch_base + block * chip_.launch_per_block;
        const uint64_t start = std::max(core_free, handed_out);
        before_blocks_ += start - core_free;
        cores_[block] = std::make_unique<CoreRun>(chip_, trace_.cores[block], crosses_, start, recorder_of(block, start));
        advance(block);
    }

    SliceRecorder *recorder_of(uint32_t block, uint64_t start) {
        BlockTimeline *recorded = timeline_ ? timeline_->of(block) : nullptr;
        if (recorded) recorders_[block] = std::make_unique<SliceRecorder>(*recorded, trace_.cores[block], start);
        return recorded ? recorders_[block].get() : nullptr;
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
            end_block(event);
    }

    void end_block(const Event &event) {
        cores_[event.block]->add_to(timing_);
        in_blocks_ += cores_[event.block]->lifetime();
        cores_[event.block].reset();
        last_end_ = std::max(last_end_, event.time);
        ++ended_;
        if (started_ < blocks()) start_block(event.time);
    }

    // Every pipe of a core waits before the core's first block, and after its last.
    void add_time_outside_blocks() {
        const uint64_t after_blocks = timing_.cores * timing_.cycles - in_blocks_ - before_blocks_;
        for (uint64_t *waits : timing_.wait) {
            waits[kWaitLaunch] = before_blocks_;
            waits[kWaitTail] = after_blocks;
        }
    }

    // ---- transfers

    void start_transfer(const Event &event) {
        const TraceEntry &entry = trace_.cores[event.block][event.entry];
        const bool is_read = entry.kind == TraceKind::GmRead;
        const TransferPlan plan = plan_transfer(entry, {event.time, event.block}, l2_, shared_);
        (is_read ? timing_.gm_read_bytes : timing_.gm_written_bytes) += static_cast<uint64_t>(entry.blocks) * entry.block_bytes;
        timing_.hbm_bytes += plan.hbm_bytes + plan.write_back_bytes;
        timing_.l2_bytes += plan.l2_bytes;
        if (plan.write_back_bytes != 0) bandwidth_.start(event.time, kHbmWrite, plan.write_back_bytes, new_flow({}));
        Flow flow;
        flow.block = event.block;
        flow.pipe = event.pipe;
        flow.last_kind = is_read ? kHbmRead : kHbmWrite;
        flow.alone = alone_cycles(plan, is_read);
        flow.plan = plan;
        if (timeline_ && is_read) traffic_.add_load(event.time, plan.l2_bytes, plan.l2_bytes + plan.hbm_bytes);
        flow.last_bytes = plan.hbm_bytes - plan.shared_bytes;
        flow.shared_bytes = plan.shared_bytes;
        if (plan.l2_bytes != 0)
            bandwidth_.start(event.time, is_read ? kL2Read : kL2Write, plan.l2_bytes, new_flow(flow));
        else
            start_last_part(event.time, new_flow(flow));
    }

    uint64_t alone_cycles(const TransferPlan &plan, bool is_read) const {
        const Rate l2 = bandwidth_.alone(is_read ? kL2Read : kL2Write), hbm = bandwidth_.alone(is_read ? kHbmRead : kHbmWrite);
        return cycles_at(plan.l2_bytes, l2) + cycles_at(plan.hbm_bytes, hbm);
    }

    static uint64_t cycles_at(uint64_t bytes, Rate rate) { return ((bytes << kRateBits) + rate - 1) / rate; }

    void start_last_part(uint64_t now, uint32_t index) {
        Flow &flow = flows_[index];
        const bool is_shared = flow.shared_bytes != 0;
        const uint64_t bytes = std::exchange(is_shared ? flow.shared_bytes : flow.last_bytes, 0);
        bandwidth_.start(now, is_shared ? kSharedRead : flow.last_kind, bytes, index);
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
        if (flow.block == kNobody) return;
        cores_[flow.block]->end_transfer(flow.pipe, now, flow.alone, flow.plan);
        advance(flow.block);
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
            const uint32_t block = ready_.back();
            ready_.pop_back();
            std::vector<Request> requests;
            cores_[block]->advance(requests);
            for (const Request &request : requests) take(block, request);
        }
    }

    void take(uint32_t block, const Request &request) {
        switch (request.kind) {
            case Request::Kind::Transfer:
            case Request::Kind::End:
                events_.push({request.time, request.kind, block, request.pipe, request.entry});
                break;
            case Request::Kind::SyncAll:
                arrive_sync_all(request.time, block);
                break;
            case Request::Kind::CrossSet:
                arrive_cross(block, request);
                break;
        }
    }

    void arrive_sync_all(uint64_t time, uint32_t arriving) {
        if (!sync_all_.arrive(time, arriving, blocks())) return;
        const uint64_t release = sync_all_.latest + chip_.sync_all;
        const uint32_t latest = sync_all_.latest_block;
        sync_all_ = {};
        for (uint32_t block = 0; block < blocks(); ++block) {
            cores_[block]->release(release, latest);
            ready_.push_back(block);
        }
    }

    void arrive_cross(uint32_t block, const Request &request) {
        if (request.soft_flag) {
            crosses_.set_soft(request.soft_flag, request.time);
            return wake_all();
        }
        std::vector<Gathering> &gatherings = cross_gatherings_[request.event];
        const uint32_t turn = cross_sets_[block][request.event]++;
        if (turn == gatherings.size()) gatherings.emplace_back();
        if (!gatherings[turn].arrive(request.time, block, blocks())) return;
        crosses_.flags[request.event].push_back(gatherings[turn].latest);
        wake_all();
    }

    void wake_all() {
        for (uint32_t other = 0; other < blocks(); ++other)
            if (cores_[other] && !cores_[other]->is_ended()) ready_.push_back(other);
    }

    std::string deadlock() const {
        if (sync_all_.arrived != 0 && started_ < blocks())
            return "deadlock: SyncAll needs all " + std::to_string(blocks()) + " blocks at once, the chip runs " + std::to_string(started_ - ended_) +
                   " at a time";
        for (uint32_t block = 0; block < blocks(); ++block)
            if (cores_[block] && !cores_[block]->is_ended())
                return "deadlock: block " + std::to_string(block) + " waits for ever for " + cores_[block]->waits_for();
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
    std::vector<std::vector<Gathering>> cross_gatherings_;  // [event][n]
    std::vector<std::vector<uint32_t>> cross_sets_;         // [block][event]
    std::vector<std::unique_ptr<CoreRun>> cores_;
    std::vector<std::unique_ptr<SliceRecorder>> recorders_;  // of recorded blocks
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::vector<Flow> flows_;
    std::vector<uint32_t> free_flows_, ending_, ready_;
    Gathering sync_all_;
    LaunchTiming timing_;
    uint64_t last_end_ = 0;
    uint64_t in_blocks_ = 0;      // summed over blocks
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
