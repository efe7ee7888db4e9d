#include "traffic.h"

#include <algorithm>

namespace vnpu {
namespace {

constexpr size_t kMostBins = 1024;

// Loads into L1 and into the unified buffer are one figure.
constexpr FlowKind kShownAs[kFlowKinds] = {kHbmRead, kHbmWrite, kL2Read, kL2Write, kSharedRead, kHbmRead, kL2Read, kSharedRead};

}  // namespace

void TrafficRecorder::add(FlowKind kind, uint64_t begin, uint64_t end, uint64_t moved) {
    if (begin >= end || moved == 0) return;
    at(end - 1);  // so that the bins are as wide as they will be
    uint64_t left = moved;
    for (uint64_t from = begin; from < end;) {
        const uint64_t until = std::min(end, (from / bin_cycles_ + 1) * bin_cycles_);
        const auto part = until == end ? left : static_cast<uint64_t>(static_cast<unsigned __int128>(moved) * (until - from) / (end - begin));
        at(from).moved[kShownAs[kind]] += part;
        left -= part;
        from = until;
    }
}

void TrafficRecorder::add_load(uint64_t time, uint64_t hit_bytes, uint64_t bytes) {
    Bin &bin = at(time);
    bin.hit_bytes += hit_bytes;
    bin.load_bytes += bytes;
}

void TrafficRecorder::move_into(LaunchTimeline &timeline) {
    timeline.bin_cycles = bin_cycles_;
    for (const Bin &bin : bins_) {
        TrafficBin out;
        static_assert(std::tuple_size<decltype(out.moved)>::value == kHbmReadL1, "one figure per kind of flow, whatever the core");
        for (uint32_t kind = 0; kind < kHbmReadL1; ++kind) out.moved[kind] = bin.moved[kind] >> kRateBits;
        out.hit_bytes = bin.hit_bytes;
        out.load_bytes = bin.load_bytes;
        timeline.traffic.push_back(out);
    }
}

TrafficRecorder::Bin &TrafficRecorder::at(uint64_t time) {
    while (time / bin_cycles_ >= kMostBins) widen();
    const size_t index = time / bin_cycles_;
    if (index >= bins_.size()) bins_.resize(index + 1);
    return bins_[index];
}

void TrafficRecorder::widen() {
    bin_cycles_ *= 2;
    for (size_t index = 0; index < bins_.size(); ++index) {
        Bin &into = bins_[index / 2];
        if (index % 2 == 0) {
            into = bins_[index];
            continue;
        }
        for (uint32_t kind = 0; kind < kFlowKinds; ++kind) into.moved[kind] += bins_[index].moved[kind];
        into.hit_bytes += bins_[index].hit_bytes;
        into.load_bytes += bins_[index].load_bytes;
    }
    bins_.resize((bins_.size() + 1) / 2);
}

}  // namespace vnpu
