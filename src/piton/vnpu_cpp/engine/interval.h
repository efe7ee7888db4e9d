/* A set of disjoint half-open byte ranges, merged when they touch. */
#pragma once

#include <cstdint>
#include <map>

namespace vnpu {

class IntervalSet {
public:
    void add(uint64_t begin, uint64_t end);
    void remove(uint64_t begin, uint64_t end);
    void clear() { ranges_.clear(); }
    bool covers(uint64_t begin, uint64_t end) const;
    bool touches(uint64_t begin, uint64_t end) const;
    // First byte of [begin, end) that is not in the set; `end` when it is covered.
    uint64_t first_gap(uint64_t begin, uint64_t end) const;
    uint64_t bytes() const;
    const std::map<uint64_t, uint64_t> &ranges() const { return ranges_; }

private:
    std::map<uint64_t, uint64_t> ranges_;  // begin -> end
};

}  // namespace vnpu
