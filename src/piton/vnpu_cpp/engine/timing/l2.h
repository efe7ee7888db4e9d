/*
 * The L2 cache between the cores and HBM.
 *
 * Problem: an output that fits L2 costs no HBM traffic before the kernel ends, a streamed input that allocates pushes it out; cache hints decide by 29 %.
 * Approach: write-allocate, write-back, reads allocate unless hinted, least recently used page goes first. Pages of 4 KiB with a valid and a dirty bit per
 * 128-byte line, so that a stream costs one lookup per page.
 * Limits: fully associative; replacement by page; a line written in part counts as whole; data counts as present as soon as its transfer has started.
 */
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace vnpu {

constexpr uint64_t kLineBytes = 128;              // published counters of the DataCopy example: 1208 MB of misses are 9.4 million lines
constexpr uint64_t kPageBytes = 32 * kLineBytes;  // granule of our replacement, not a hardware figure

struct L2Traffic {
    uint64_t hit_bytes = 0;      // whole lines found in L2
    uint64_t miss_bytes = 0;     // whole lines that HBM has to serve
    uint64_t evicted_bytes = 0;  // dirty lines that have to go to HBM to make room
};

class L2 {
public:
    explicit L2(uint64_t bytes);
    void read(uint64_t addr, uint64_t bytes, bool is_bypass, L2Traffic &traffic);
    // A bypassing write leaves no copy behind: lines it covers are dropped, `miss_bytes` go to HBM.
    void write(uint64_t addr, uint64_t bytes, bool is_bypass, L2Traffic &traffic);

private:
    struct Page {
        uint64_t number = 0;
        uint32_t newer = 0, older = 0;
        uint32_t valid = 0, dirty = 0;  // bit per line
    };

    template <typename Visit>
    static void for_pages(uint64_t addr, uint64_t bytes, Visit visit);
    uint32_t find(uint64_t number) const;  // 0: absent
    uint32_t find_or_allocate(uint64_t number, L2Traffic &traffic);
    uint32_t free_slot(L2Traffic &traffic);
    void unlink(uint32_t slot);
    void link_newest(uint32_t slot);

    std::vector<Page> pages_;  // slot 0 is the ends of the age list
    std::unordered_map<uint64_t, uint32_t> slots_;
    uint32_t used_ = 0;
};

}  // namespace vnpu
