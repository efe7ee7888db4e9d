#include "bandwidth.h"

#include <algorithm>
#include <array>

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
    if (kind == kL2Read) return chip_.mte2.l2_rate;
    if (kind == kL2ReadL1) return chip_.mte2_l1.l2_rate;
    if (kind == kL2Write) return chip_.mte3.l2_rate;
    return rate_among(kind, 1);
}

Rate Bandwidth::rate_among(FlowKind kind, size_t cores) const {
    if (kind == kHbmWrite) return one_core_rate(chip_.hbm_write_rate, cores);
    return one_core_rate(kind == kHbmReadL1 || kind == kSharedReadL1 ? chip_.hbm_read_rate_l1 : chip_.hbm_read_rate, cores);
}

void Bandwidth::advance(uint64_t now) {
    for (uint8_t kind = 0; recorder_ && kind < kFlowKinds; ++kind)
        recorder_->add(static_cast<FlowKind>(kind), now_, now, kinds_[kind].rate * (now - now_) * count(static_cast<FlowKind>(kind)));
    for (Kind &kind : kinds_) kind.progress = kind.ends.empty() ? 0 : kind.progress + kind.rate * (now - now_);
    now_ = now;
}

void Bandwidth::settle() {
    share_hbm();
    share({kL2Read, kL2ReadL1}, chip_.l2_read_cap);
    share({kL2Write}, chip_.l2_write_cap);
    next_end_ = kNever;
    for (const Kind &kind : kinds_) {
        if (kind.ends.empty()) continue;
        const uint64_t left = kind.ends.top().first - std::min(kind.ends.top().first, kind.progress);
        next_end_ = std::min(next_end_, now_ + (left + kind.rate - 1) / kind.rate);
    }
}

// Reads and writes each want what their cores can move; together they get at most the common cap, in equal parts per flow, after shared reads have had theirs.
void Bandwidth::share_hbm() {
    const size_t readers = count(kHbmRead) + count(kSharedRead) + count(kHbmReadL1) + count(kSharedReadL1);
    for (const FlowKind kind : {kHbmRead, kSharedRead, kHbmReadL1, kSharedReadL1}) want(kind, rate_among(kind, readers));
    want(kHbmWrite, rate_among(kHbmWrite, count(kHbmWrite)));
    fit({kSharedRead, kSharedReadL1}, chip_.same_address_cap);
    const Rate taken = moving({kSharedRead, kSharedReadL1});
    fit({kHbmRead, kHbmReadL1}, chip_.hbm_read_cap - taken);
    fit({kHbmRead, kHbmReadL1, kHbmWrite}, chip_.hbm_total_cap - taken);
    for (const FlowKind kind : {kHbmRead, kSharedRead, kHbmReadL1, kSharedReadL1, kHbmWrite}) kinds_[kind].rate = std::max<Rate>(kinds_[kind].rate, 1);
}

void Bandwidth::share(std::initializer_list<FlowKind> kinds, Rate cap) {
    for (const FlowKind kind : kinds) want(kind, alone(kind));
    fit(kinds, cap);
    for (const FlowKind kind : kinds) kinds_[kind].rate = std::max<Rate>(kinds_[kind].rate, 1);
}

void Bandwidth::want(FlowKind kind, Rate one_core) { kinds_[kind].rate = count(kind) == 0 ? 0 : one_core; }

// What the kinds move together, bytes per cycle.
Rate Bandwidth::moving(std::initializer_list<FlowKind> kinds) const {
    Rate sum = 0;
    for (const FlowKind kind : kinds) sum += kinds_[kind].rate * count(kind);
    return sum;
}

// Down to the cap: kinds that want less than an equal share per flow keep what they want, the others divide the rest equally.
void Bandwidth::fit(std::initializer_list<FlowKind> kinds, Rate cap) {
    if (moving(kinds) <= cap) return;
    std::array<bool, kFlowKinds> is_content{};
    uint64_t flows = 0;
    for (const FlowKind kind : kinds) flows += count(kind);
    const auto takes_less = [&](FlowKind kind) { return !is_content[kind] && count(kind) != 0 && kinds_[kind].rate <= cap / flows; };
    for (auto kind = kinds.begin(); kind != kinds.end();) {
        if (!takes_less(*kind)) {
            ++kind;
            continue;
        }
        is_content[*kind] = true;
        cap -= kinds_[*kind].rate * count(*kind);
        flows -= count(*kind);
        kind = kinds.begin();  // the share of the others has grown
    }
    for (const FlowKind kind : kinds)
        if (!is_content[kind] && count(kind) != 0) kinds_[kind].rate = cap / flows;
}

}  // namespace vnpu
