/*
 * How many bytes move when: a histogram over time whose bins widen as the launch goes on, so that its size is bounded.
 */
#pragma once

#include "../timeline.h"
#include "bandwidth.h"

namespace vnpu {

class TrafficRecorder {
public:
    // `moved` bytes << kRateBits of a kind of flow, evenly from `begin` to `end`.
    void add(FlowKind kind, uint64_t begin, uint64_t end, uint64_t moved);
    void add_load(uint64_t time, uint64_t hit_bytes, uint64_t bytes);
    void move_into(LaunchTimeline &timeline);

private:
    struct Bin {
        uint64_t moved[kFlowKinds] = {};  // bytes << kRateBits
        uint64_t hit_bytes = 0, load_bytes = 0;
    };
    Bin &at(uint64_t time);
    void widen();

    uint64_t bin_cycles_ = 64;
    std::vector<Bin> bins_;
};

}  // namespace vnpu
