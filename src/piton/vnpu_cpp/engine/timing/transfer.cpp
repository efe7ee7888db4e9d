#include "transfer.h"

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

TransferPlan plan_read(const TraceEntry &entry, L2 &l2) {
    const bool is_bypass = (entry.flags & kTraceL2Bypass) != 0;
    L2Traffic traffic;
    uint64_t moved = 0;
    for_blocks(entry, [&](uint64_t addr, uint64_t bytes) {
        l2.read(addr, bytes, is_bypass, traffic);
        moved += burst_bytes(addr, bytes);
    });
    TransferPlan plan;
    const uint64_t touched = traffic.hit_bytes + traffic.miss_bytes;
    plan.l2_bytes = touched == 0 ? 0 : moved * traffic.hit_bytes / touched;
    plan.hbm_bytes = moved - plan.l2_bytes;
    plan.write_back_bytes = traffic.evicted_bytes;
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

TransferPlan plan_transfer(const TraceEntry &entry, L2 &l2) { return entry.kind == TraceKind::GmRead ? plan_read(entry, l2) : plan_write(entry, l2); }

}  // namespace vnpu
