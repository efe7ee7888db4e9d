/*
 * Which reads go to an address that another core has just read.
 *
 * Problem: requests that fall into one 512-byte range of global memory at the same time are served one after the other (public documentation, hardware
 * limits and the page on same-address access); 48 cores that walk through the same data take up to half as long again as 48 that do not.
 * Approach: a table of the ranges read last, by whom and when. A read counts as shared when another core has read its range less than a window ago; shared
 * reads have a common rate of their own (Bandwidth). The first core to come to a range is not slowed down.
 * Limits: loads past L2 only, since only those are measured; ranges fall out of the table when newer ones take their place.
 */
#pragma once

#include <cstdint>
#include <vector>

namespace vnpu {

class SharedReads {
public:
    explicit SharedReads(uint64_t window_cycles) : window_(window_cycles) {}
    // Bytes of [addr, addr + bytes) that another core read less than a window ago; remembers that `core` reads them `now`.
    uint64_t read(uint64_t addr, uint64_t bytes, uint32_t core, uint64_t now);

private:
    struct Range {
        uint64_t number = ~0ull;
        uint64_t time = 0;
        uint32_t core = 0;
    };
    bool is_shared(uint64_t number, uint32_t core, uint64_t now);

    const uint64_t window_;
    std::vector<Range> ranges_;  // by range number, the newest in its place; filled when first needed
};

}  // namespace vnpu
