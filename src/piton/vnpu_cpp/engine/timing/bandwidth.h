/*
 * Shared bandwidth: how fast the transfers in flight move, and when the next one has moved its bytes.
 *
 * Problem: all cores share HBM and L2; a rate changes whenever a transfer starts or ends, and there may be a million of them.
 * Approach: a few kinds of flow; all flows of a kind move at one rate (one core's rate, or its share of the caps when that is less), so one running total of
 * bytes per flow and kind ("progress") tells when each ends: a flow that starts at progress p ends at p + its bytes. A change costs O(log n).
 * Limits: equal shares; the slack that a slow kind leaves is given to the other kinds, never to single flows.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <queue>
#include <utility>
#include <vector>

#include "chip.h"

namespace vnpu {

// kSharedRead: past L2, of what another core has just read. The last three are loads of cube cores into L1, which have rates of their own.
enum FlowKind : uint8_t { kHbmRead, kHbmWrite, kL2Read, kL2Write, kSharedRead, kHbmReadL1, kL2ReadL1, kSharedReadL1, kFlowKinds };

constexpr uint64_t kNever = ~0ull;

class TrafficRecorder;  // traffic.h

class Bandwidth {
public:
    // `recorder` may be null.
    Bandwidth(const ChipModel &chip, TrafficRecorder *recorder) : chip_(chip), recorder_(recorder) {}
    // `now` never decreases from call to call.
    void start(uint64_t now, FlowKind kind, uint64_t bytes, uint32_t flow);
    Rate alone(FlowKind kind) const;                 // of a transfer that is the only one
    uint64_t next_end() const { return next_end_; }  // kNever when nothing moves
    void take_ended(uint64_t now, std::vector<uint32_t> &flows);

private:
    struct Kind {
        Rate rate = 0;
        uint64_t progress = 0;  // bytes << kRateBits that each flow has moved since the kind was last idle
        std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>, std::greater<>> ends;  // progress at the end, flow
    };

    void advance(uint64_t now);
    void settle();  // rates and next_end_ after a change
    void share_hbm();
    void share(std::initializer_list<FlowKind> kinds, Rate cap);
    void want(FlowKind kind, Rate one_core);
    Rate moving(std::initializer_list<FlowKind> kinds) const;
    void fit(std::initializer_list<FlowKind> kinds, Rate cap);
    Rate rate_among(FlowKind kind, size_t readers) const;  // of one core by itself while so many read
    size_t count(FlowKind kind) const { return kinds_[kind].ends.size(); }

    const ChipModel &chip_;
    TrafficRecorder *recorder_;
    Kind kinds_[kFlowKinds];
    uint64_t now_ = 0;
    uint64_t next_end_ = kNever;
};

}  // namespace vnpu
