/*
 * Static data of the device library: put back as it was loaded after every launch.
 *
 * Problem: global and static variables of device code would live on from one launch to the next, which no chip offers: a kernel could keep what it computed,
 * and answer the next call with it.
 * Approach: the library's writable segments are copied when it has been loaded, and compared with the copy and put back after every launch. Variables that
 * every core has for itself (block_locals.h) begin anew by themselves and do not count. Used in whichever process runs device code. Limits: what device code
 * keeps elsewhere (memory that it allocates or finds) stays, but nothing points there any more. Device code that shares the engine's process can find the copy.
 */
#pragma once

#include <cstdint>
#include <vector>

namespace vnpu {

class StaticData {
public:
    void keep(void *library);  // as dlopen returned it, with its kernels registered
    uint64_t put_back();       // how many bytes were not as kept

private:
    struct Part {
        uint8_t *place;
        std::vector<uint8_t> kept;
    };
    void keep_range(uint8_t *begin, uint8_t *end);
    std::vector<Part> parts_;
};

}  // namespace vnpu
