/*
 * On-chip bytes that one pipe has written twice with nothing between to order the two.
 *
 * Problem: a pipe starts its instructions in order but may finish them in any, so that a load onto the bytes of an earlier one leaves either's. That is a
 * fault when somebody looks at the bytes; loads that nobody looks at (to warm L2, to measure) do it all the time.
 * Approach: remember such bytes with both places. A read of them is reported, at the later write; a write that is ordered makes them sound again.
 * Limits: writes of one pipe. Between pipes, and in global memory, the second write is reported at once.
 */
#pragma once

#include <cstdint>
#include <map>

namespace vnpu {

struct UnorderedWrite {
    uint64_t begin = 0, end = 0;
    uint32_t earlier = 0, later = 0;  // source places
    uint8_t pipe = 0;
};

class UnorderedWrites {
public:
    void add(const UnorderedWrite &write);
    void clear(uint64_t begin, uint64_t end);
    const UnorderedWrite *find(uint64_t begin, uint64_t end) const;  // the first that touches [begin, end), or null
    const std::map<uint64_t, UnorderedWrite> &all() const { return writes_; }

private:
    void split(uint64_t at);

    std::map<uint64_t, UnorderedWrite> writes_;  // by begin, apart from each other
};

}  // namespace vnpu
