/*
 * Which on-chip bytes hold nothing that was ever put there.
 *
 * Problem: kernels rightly compute over rounded-up counts and copy out exact lengths, so reading an undefined byte is no error; letting it reach global
 * memory, a branch, a mask or an index is. Undefinedness has to travel with the data.
 * Approach: one bit per byte, 1 = undefined, handled 64 at a time and several such words at once: asking about a dense 32 KiB operand takes less than the
 * instruction itself, and only an operand that is partly undefined is looked at byte by byte.
 */
#pragma once

#include <cstdint>
#include <vector>

namespace vnpu {

class UndefinedBytes {
public:
    void reset(uint64_t bytes);  // all of them undefined
    bool any(uint64_t begin, uint64_t end) const;
    uint64_t first(uint64_t begin, uint64_t end) const;  // first undefined byte of [begin, end), or `end`
    void set(uint64_t begin, uint64_t end);              // undefined
    void clear(uint64_t begin, uint64_t end);            // defined
    void copy(uint64_t to, uint64_t from, uint64_t bytes);

private:
    void fill_between(uint64_t head, uint64_t tail, uint64_t value);  // the words after `head` and before `tail`

    std::vector<uint64_t> words_;
};

}  // namespace vnpu
