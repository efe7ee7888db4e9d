/*
 * The scalar unit's data cache: 64-byte lines of global memory per core, write back, not coherent with copies or other cores.
 *
 * Problem: a SetValue reaches memory when its line is cleaned and not before, and a GetValue sees the line as it was loaded: kernels that forget
 * DataCacheCleanAndInvalid compute with old values, and only sometimes.
 * Approach: lines are kept as on the chip. A read of a byte that memory no longer holds, a line whose clean bytes
 * have changed in memory when it is written back, and results that never leave the cache are reported; data behave as on the chip.
 * Limits: direct mapped, as the timing model's (the chip's associativity is not published); a dirty line that is pushed out reaches memory. Results still in
 * the cache when the kernel ends are lost: that they are written is documented nowhere. Raw `__gm__` pointers bypass the cache.
 */
#pragma once

#include <array>
#include <cstdint>
#include <map>

namespace vnpu {

constexpr uint64_t kCacheLine = 64;
constexpr uint64_t kCacheLines = 512;  // 32 KiB: documentation page on the hardware limits of NPU architecture 2201

struct CacheLine {
    uint64_t address = 0;
    uint64_t dirty = 0;  // one bit per byte
    std::array<uint8_t, kCacheLine> bytes{};
};

class DataCache {
public:
    // The line that holds `address`, or null.
    CacheLine *find(uint64_t address);
    // The line that would have to leave for the one of `address`, or null.
    CacheLine *in_the_way(uint64_t address);
    // The line of `address`, filled from the 64 bytes of memory at its start. Nothing may be in the way.
    CacheLine &load(uint64_t address, const uint8_t *memory);
    void drop(uint64_t address);
    void clear() { lines_.clear(); }
    const std::map<uint64_t, CacheLine> &lines() const { return lines_; }  // by set

private:
    std::map<uint64_t, CacheLine> lines_;
};

}  // namespace vnpu
