#include "bandwidth.h"

#include <algorithm>

#include "traffic.h"

namespace vnpu {
namespace {

Rate one_core_rate(const std::vector<Rate> &by_count, size_t count) { return by_count[std::min(count, by_count.size() - 1)]; }

}  // namespace

void Bandwidth::start(uint64_t now, FlowKind kind, uint64_t bytes, uint32_t flow) {
    advance(now);
    kinds_[kind].ends.emplace(kinds_[kind].progress + (bytes << kRateBits), flow);
    settle();
}

void Bandwidth::take_ended(uint64_t now, std::vector<uint32_t> &flows) {
    advance(now);
    for (Kind &kind : kinds_)
        while (!kind.ends.empty() && kind.ends.top().first <= kind.progress) {
            flows.push_back(kind.ends.top().second);
            kind.ends.pop();
        }
    settle();
}

Rate Bandwidth::alone(FlowKind kind) const {
    if (kind == kL2Read) return l2_read_rate_;
    if (kind == kL2Write) return chip_.mte3.l2_rate;
    return kind == kHbmWrite ? chip_.hbm_write_rate[1] : read_rate_[1];
}

void Bandwidth::advance(uint64_t now) {
    for (uint8_t kind = 0; recorder_ && kind < kFlowKinds; ++kind)
        recorder_->add(static_cast<FlowKind>(kind), now_, now, kinds_[kind].rate * (now - now_) * count(static_cast<FlowKind>(kind)));
    for (Kind &kind : kinds_) kind.progress = kind.ends.empty() ? 0 : kind.progress + kind.rate * (now - now_);
    now_ = now;
}

void Bandwidth::settle() {
    share(kSharedRead, one_core_rate(read_rate_, count(kHbmRead) + count(kSharedRead)), chip_.same_address_cap);
    share_hbm();
    share(kL2Read, alone(kL2Read), chip_.l2_read_cap);
    share(kL2Write, alone(kL2Write), chip_.l2_write_cap);
    next_end_ = kNever;
    for (const Kind &kind : kinds_) {
        if (kind.ends.empty()) continue;
        const uint64_t left = kind.ends.top().first - std::min(kind.ends.top().first, kind.progress);
        next_end_ = std::min(next_end_, now_ + (left + kind.rate - 1) / kind.rate);
    }
}

// Reads and writes each want what their cores can move; together they get at most the common cap, in equal parts per flow, after shared reads have had theirs.
void Bandwidth::share_hbm() {
    const uint64_t reads = count(kHbmRead), writes = count(kHbmWrite), shared = count(kSharedRead);
    const Rate taken = shared * kinds_[kSharedRead].rate, read_cap = chip_.hbm_read_cap - taken, total_cap = chip_.hbm_total_cap - taken;
    Rate read = reads == 0 ? 0 : std::min(one_core_rate(read_rate_, reads + shared), read_cap / reads);
    Rate write = writes == 0 ? 0 : std::min(one_core_rate(chip_.hbm_write_rate, writes), total_cap / writes);
    if (read * reads + write * writes > total_cap) {
        const Rate share = total_cap / (reads + writes);
        if (read <= share)
            write = (total_cap - read * reads) / writes;
        else if (write <= share)
            read = (total_cap - write * writes) / reads;
        else
            read = write = share;
    }
    kinds_[kHbmRead].rate = std::max<Rate>(read, 1);
    kinds_[kHbmWrite].rate = std::max<Rate>(write, 1);
}

void Bandwidth::share(FlowKind kind, Rate one_core, Rate cap) {
    const uint64_t flows = count(kind);
    kinds_[kind].rate = std::max<Rate>(flows == 0 ? 1 : std::min(one_core, cap / flows), 1);
}

}  // namespace vnpu
