#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <stdexcept>

#ifndef MAP_FIXED_NOREPLACE  // older C libraries; kernels that do not know it treat the address as a hint, which is checked below
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace vnpu {

namespace {

uint8_t *map_arena(void *wanted, int protection, int memfd) {
    const int flags = MAP_SHARED | MAP_NORESERVE | (wanted ? MAP_FIXED_NOREPLACE : 0);
    void *at = mmap(wanted, kArenaBytes, protection, flags, memfd, 0);
    if (at == MAP_FAILED) throw std::runtime_error(std::string("cannot map the device memory arena: ") + std::strerror(errno));
    if (wanted && at != wanted) {
        munmap(at, kArenaBytes);
        throw std::runtime_error("cannot map the device memory arena: its address range is taken");
    }
    return static_cast<uint8_t *>(at);
}

uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// Addresses an allocation keeps for itself: an empty one owns a byte, so that no other gets its address.
uint64_t end_of(const Allocation &allocation) { return allocation.address + std::max<uint64_t>(allocation.bytes, 1); }

void give_back_pages(int memfd, uint64_t offset, uint64_t bytes) {
    if (fallocate(memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0)
        throw std::runtime_error(std::string("cannot give device memory back: ") + std::strerror(errno));
}

}  // namespace

DeviceMemory::DeviceMemory(int memfd) : memfd_(memfd) {
    base_ = map_arena(reinterpret_cast<void *>(kArenaBase), PROT_READ, memfd);
    alias_ = map_arena(nullptr, PROT_READ | PROT_WRITE, memfd);
}

DeviceMemory::~DeviceMemory() {
    if (alias_) munmap(alias_, kArenaBytes);
    if (base_) munmap(base_, kArenaBytes);
}

uint64_t DeviceMemory::allocate(uint64_t bytes, Owner owner, bool is_mutable) {
    if (bytes > kArenaBytes) return 0;
    const uint64_t span = std::max<uint64_t>(bytes, 1);
    uint64_t address = kArenaBase + kGuardBytes;  // address 0 of the arena stays unused: off-by-one before the first tensor is caught too
    for (const auto &[start, allocation] : live_) {
        if (address + span + kGuardBytes <= start) break;
        address = align_up(end_of(allocation) + kGuardBytes, kAllocationAlign);
    }
    if (address + span + kGuardBytes > kArenaBase + kArenaBytes) return 0;
    Allocation made;
    made.address = address;
    made.bytes = bytes;
    made.owner = owner;
    made.is_mutable = is_mutable;
    live_.emplace(address, std::move(made));
    return address;
}

bool DeviceMemory::release(uint64_t address) {
    const auto found = live_.find(address);
    if (found == live_.end()) return false;
    // The guard keeps two allocations off one page, so whole pages can go; a later allocation here starts as zeros on every run.
    const uint64_t page = 4096;
    const uint64_t first = (address - kArenaBase) / page * page;
    give_back_pages(memfd_, first, align_up(end_of(found->second) - kArenaBase, page) - first);
    live_.erase(found);
    return true;
}

void DeviceMemory::reset() {
    live_.clear();
    give_back_pages(memfd_, 0, kArenaBytes);
}

Allocation *DeviceMemory::nearest(uint64_t address) {
    const auto next = live_.upper_bound(address);
    return next == live_.begin() ? nullptr : &std::prev(next)->second;
}

Allocation *DeviceMemory::find(uint64_t address, uint64_t bytes) {
    Allocation *at = nearest(address);
    const bool inside = at && address - at->address <= at->bytes && bytes <= at->bytes - (address - at->address);
    return inside ? at : nullptr;
}

uint8_t *DeviceMemory::writable(uint64_t address) { return alias_ + (address - kArenaBase); }

const uint8_t *DeviceMemory::readable(uint64_t address) const { return base_ + (address - kArenaBase); }

}  // namespace vnpu
