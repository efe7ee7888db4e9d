/*
 * Tensors of queues that have been freed, to say so when somebody still uses them.
 *
 * Problem: after FreeTensor the next AllocTensor may hand the buffer out and a copy may overwrite it. Where that happens the race is found; in a kernel of one
 * tile it does not, so that the mistake is only seen when the tiles become more.
 * Approach: the notes of InitBuffer, AllocTensor and FreeTensor say which bytes are whose; an access to freed ones is a finding.
 * Limits: program order, unified buffer only; a buffer that was never handed out is not freed.
 */
#pragma once

#include <cstdint>
#include <map>

#include "diagnostics.h"

namespace vnpu {

class FreedTensors {
public:
    struct Freed {
        uint64_t end = 0;
        Place place;  // of the FreeTensor
    };
    void know(uint32_t handle, uint64_t begin, uint64_t end);  // whatever was freed there is somebody else's now
    void acquire(uint32_t handle);
    void release(uint32_t handle, const Place &place);
    const Freed *find(uint64_t begin, uint64_t end) const;  // null when none of these bytes are freed
    void clear();

private:
    struct Bytes {
        uint64_t begin, end;
    };
    void forget(const Bytes &bytes);

    std::map<uint32_t, Bytes> buffers_;  // by handle
    std::map<uint64_t, Freed> freed_;    // by first byte, apart from each other
};

}  // namespace vnpu
