#include "timeline.h"

#include <algorithm>
#include <cstddef>

namespace vnpu {
namespace {

constexpr uint32_t kMostBlocks = 64;

}  // namespace

std::vector<uint32_t> recorded_blocks(const TimelineOptions &options, uint32_t blocks) {
    std::vector<uint32_t> result;
    for (uint32_t block = 0; block < blocks; ++block) {
        const bool is_named = std::find(options.blocks.begin(), options.blocks.end(), block) != options.blocks.end();
        const bool is_outer = block < kMostBlocks / 2 || block + kMostBlocks / 2 >= blocks;
        if (options.blocks.empty() ? is_outer : is_named) result.push_back(block);
    }
    return result;
}

void Notebook::keep(const vnpu_record &record) {
    const uint64_t entry = size_++;
    if (entry < head_)
        first_.push_back(record);
    else if (last_.size() < tail_)
        last_.push_back(record);
    else if (tail_ != 0)
        last_[(entry - head_) % tail_] = record;
}

std::vector<vnpu_record> Notebook::take_records() {
    if (size_ > head_ + tail_ && tail_ != 0) std::rotate(last_.begin(), last_.begin() + static_cast<ptrdiff_t>((size_ - head_) % tail_), last_.end());
    first_.insert(first_.end(), last_.begin(), last_.end());
    return std::move(first_);
}

void Notebook::note_use(const vnpu_record &record) {
    const uint32_t handle = record.p[0];
    if (record.opcode == VNPU_OP_PIPE_BEGIN) {
        buffer_bytes_.clear();
        use_ = {};
    } else if (record.opcode == VNPU_OP_BUFFER_INIT) {
        buffer_bytes_[handle] = record.dst.limit;
        use_.given_out += record.dst.limit;
    } else if (const auto found = buffer_bytes_.find(handle); found != buffer_bytes_.end()) {
        use_.in_use += record.opcode == VNPU_OP_BUFFER_ACQUIRE ? found->second : 0 - found->second;
    }
    use_.entry = size_;
    if (!uses_.empty() && uses_.back().entry == use_.entry) uses_.pop_back();
    uses_.push_back(use_);
    const uint64_t most = head_ + 2 * tail_;  // those between the kept entries go in batches
    if (uses_.size() > most + tail_) uses_.erase(uses_.begin() + static_cast<ptrdiff_t>(head_), uses_.begin() + static_cast<ptrdiff_t>(head_ + tail_));
}

std::vector<UbUse> Notebook::take_uses() {
    const Window kept = window();
    std::vector<UbUse> result;
    for (const UbUse &use : uses_)
        if (kept.has(use.entry) || use.entry == kept.size) result.push_back(use);
    return result;
}

BlockTimeline *LaunchTimeline::of(uint32_t block) {
    const auto found = std::lower_bound(blocks.begin(), blocks.end(), block, [](const BlockTimeline &item, uint32_t wanted) { return item.block < wanted; });
    return found != blocks.end() && found->block == block ? &*found : nullptr;
}

}  // namespace vnpu
