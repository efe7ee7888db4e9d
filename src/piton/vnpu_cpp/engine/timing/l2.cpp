#include "l2.h"

#include <algorithm>

namespace vnpu {
namespace {

uint64_t bytes_of(uint32_t mask) { return static_cast<uint64_t>(__builtin_popcount(mask)) * kLineBytes; }

uint32_t mask_of(uint64_t first_byte, uint64_t last_byte) {
    const uint64_t first = first_byte % kPageBytes / kLineBytes, last = last_byte % kPageBytes / kLineBytes;
    return (~0u << first) & (~0u >> (31 - last));
}

}  // namespace

L2::L2(uint64_t bytes) : pages_(std::max<uint64_t>(1, bytes / kPageBytes) + 1) { slots_.reserve(pages_.size()); }

// Calls visit(page number, line mask) for every page of the range.
template <typename Visit>
void L2::for_pages(uint64_t addr, uint64_t bytes, Visit visit) {
    const uint64_t last = addr + bytes - 1;
    for (uint64_t number = addr / kPageBytes; bytes != 0 && number <= last / kPageBytes; ++number)
        visit(number, mask_of(std::max(addr, number * kPageBytes), std::min(last, number * kPageBytes + kPageBytes - 1)));
}

void L2::read(uint64_t addr, uint64_t bytes, bool is_bypass, L2Traffic &traffic) {
    for_pages(addr, bytes, [&](uint64_t number, uint32_t mask) {
        const uint32_t slot = is_bypass ? find(number) : find_or_allocate(number, traffic);
        const uint32_t hits = slot == 0 ? 0 : pages_[slot].valid & mask;
        traffic.hit_bytes += bytes_of(hits);
        traffic.miss_bytes += bytes_of(mask & ~hits);
        if (!is_bypass) pages_[slot].valid |= mask;
    });
}

void L2::write(uint64_t addr, uint64_t bytes, bool is_bypass, L2Traffic &traffic) {
    for_pages(addr, bytes, [&](uint64_t number, uint32_t mask) {
        const uint32_t slot = is_bypass ? find(number) : find_or_allocate(number, traffic);
        Page &page = pages_[slot];
        if (!is_bypass) {
            page.valid |= mask;
            page.dirty |= mask;
            traffic.hit_bytes += bytes_of(mask);
            return;
        }
        traffic.miss_bytes += bytes_of(mask);
        if (slot == 0) return;
        page.valid &= ~mask;
        page.dirty &= ~mask;
    });
}

uint32_t L2::find(uint64_t number) const {
    const auto found = slots_.find(number);
    return found == slots_.end() ? 0 : found->second;
}

uint32_t L2::find_or_allocate(uint64_t number, L2Traffic &traffic) {
    uint32_t slot = find(number);
    if (slot != 0) {
        unlink(slot);
    } else {
        slot = free_slot(traffic);
        pages_[slot] = Page{};
        pages_[slot].number = number;
        slots_.emplace(number, slot);
    }
    link_newest(slot);
    return slot;
}

uint32_t L2::free_slot(L2Traffic &traffic) {
    if (used_ + 1 < pages_.size()) return ++used_;
    const uint32_t oldest = pages_[0].newer;
    traffic.evicted_bytes += bytes_of(pages_[oldest].dirty);
    slots_.erase(pages_[oldest].number);
    unlink(oldest);
    return oldest;
}

// Slot 0 closes the list to a ring: its `newer` is the oldest page, its `older` the newest.
void L2::unlink(uint32_t slot) {
    const Page &page = pages_[slot];
    pages_[page.older].newer = page.newer;
    pages_[page.newer].older = page.older;
}

void L2::link_newest(uint32_t slot) {
    const uint32_t newest = pages_[0].older;
    pages_[slot].older = newest;
    pages_[slot].newer = 0;
    pages_[newest].newer = slot;
    pages_[0].older = slot;
}

}  // namespace vnpu
