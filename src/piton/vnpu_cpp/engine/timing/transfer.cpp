#include "transfer.h"

#include <algorithm>

namespace vnpu {
namespace {

constexpr uint64_t kBurstBytes = 512;
constexpr uint64_t kSmallestBurst = 128;
constexpr uint64_t kWriteGranule = 32;  // the unified buffer's block; DMA writes are byte exact beyond it

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

uint64_t burst_of(uint64_t bytes) {
    if (bytes <= kSmallestBurst) return kSmallestBurst;
    return bytes <= 2 * kSmallestBurst ? 2 * kSmallestBurst : kBurstBytes;
}

// Calls visit(address, bytes) for each stretch of GM without a gap.
template <typename Visit>
void for_blocks(const TraceEntry &entry, Visit visit) {
    if (entry.gm_gap == 0) return visit(entry.gm_addr, static_cast<uint64_t>(entry.blocks) * entry.block_bytes);
    uint64_t addr = entry.gm_addr;
    for (uint32_t block = 0; block < entry.blocks; ++block, addr += static_cast<uint64_t>(entry.block_bytes) + entry.gm_gap) visit(addr, entry.block_bytes);
}

// Of `moved` bytes in bursts, those that L2 serves: all where no line is missing, otherwise whole bursts only.
uint64_t hit_bytes(const L2Traffic &traffic, uint64_t moved) {
    return traffic.miss_bytes == 0 ? moved : std::min(moved, traffic.hit_bytes / kBurstBytes * kBurstBytes);
}

TransferPlan plan_read(const TraceEntry &entry, const Reader &reader, L2 &l2, SharedReads &shared) {
    const bool is_bypass = (entry.flags & kTraceL2Bypass) != 0;
    TransferPlan plan;
    for_blocks(entry, [&](uint64_t addr, uint64_t bytes) {
        L2Traffic traffic;
        l2.read(addr, bytes, is_bypass, traffic);
        const uint64_t moved = burst_bytes(addr, bytes), hits = hit_bytes(traffic, moved);
        plan.l2_bytes += hits;
        plan.hbm_bytes += moved - hits;
        plan.write_back_bytes += traffic.evicted_bytes;
        if (is_bypass && hits < moved) plan.shared_bytes += std::min(moved - hits, shared.read(addr, bytes, reader.block, reader.now));
    });
    return plan;
}

TransferPlan plan_write(const TraceEntry &entry, L2 &l2) {
    const bool is_bypass = (entry.flags & kTraceL2Bypass) != 0;
    L2Traffic traffic;
    uint64_t moved = 0;
    for_blocks(entry, [&](uint64_t addr, uint64_t bytes) {
        l2.write(addr, bytes, is_bypass, traffic);
        moved += round_up(bytes, kWriteGranule);
    });
    TransferPlan plan;
    plan.l2_bytes = is_bypass ? 0 : moved;
    plan.hbm_bytes = is_bypass ? moved : traffic.evicted_bytes;
    return plan;
}

}  // namespace

uint64_t burst_bytes(uint64_t addr, uint64_t bytes) {
    if (addr % kSmallestBurst == 0) return bytes / kBurstBytes * kBurstBytes + (bytes % kBurstBytes == 0 ? 0 : burst_of(bytes % kBurstBytes));
    const uint64_t burst = burst_of(bytes);
    return round_up(addr + bytes, burst) - addr / burst * burst;
}

const DmaCost &dma_of(const ChipModel &chip, const TraceEntry &entry) {
    if (entry.kind == TraceKind::GmWrite) return entry.pipe == VNPU_PIPE_FIX ? chip.fix : chip.mte3;
    return entry.flags & kTraceToL1 ? chip.mte2_l1 : chip.mte2;
}

uint64_t block_cycles(const DmaCost &dma, const TraceEntry &entry) {
    if (dma.l0c_rate) {
        const uint64_t bytes = static_cast<uint64_t>(entry.blocks) * entry.block_bytes * entry.l0c_per_byte;
        return ((bytes << kRateBits) + dma.l0c_rate - 1) / dma.l0c_rate;
    }
    const uint64_t each = dma.block_cycles + (entry.flags & kTraceL2Bypass ? dma.bypass_block_cycles : 0);
    return entry.blocks * each;
}

TransferPlan plan_transfer(const TraceEntry &entry, const Reader &reader, L2 &l2, SharedReads &shared) {
    return entry.kind == TraceKind::GmRead ? plan_read(entry, reader, l2, shared) : plan_write(entry, l2);
}

}  // namespace vnpu
