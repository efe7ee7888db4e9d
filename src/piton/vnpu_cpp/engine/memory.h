/*
 * Device (global) memory: allocations inside one arena of device addresses.
 *
 * Problem: kernels compute with device addresses; every access has to fall into one live allocation, every output byte has to be traced to a store of the
 * kernel, and the host may never see the bytes.
 * Approach: the arena is a sparse memfd that the parent and the device process share. The device process maps it twice: at kArenaBase without write
 * permission (so that a raw `__gm__` pointer reads right and a raw store faults), and elsewhere with write permission for the engine. Allocations are
 * 512-byte aligned with an unmapped-by-table gap between them. Each allocation keeps the set of byte ranges that were ever written, and by whom.
 */
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interval.h"

namespace vnpu {

constexpr uint64_t kArenaBase = 0x200000000000ull;
constexpr uint64_t kArenaBytes = 1ull << 36;  // 64 GiB of addresses, sparse
constexpr uint64_t kAllocationAlign = 512;
constexpr uint64_t kGuardBytes = 4096;  // never part of an allocation

enum class Owner : uint8_t { Parent, Host };

struct Allocation {
    uint64_t address = 0;
    uint64_t bytes = 0;
    Owner owner = Owner::Host;
    bool is_mutable = true;    // false: an input; a kernel store into it is an error
    bool timing_only = false;  // no data behind it
    // Ranges count from the start of the allocation.
    IntervalSet defined;  // byte ranges that hold data (parent upload, host copy, kernel store)
    IntervalSet stored;   // byte ranges written by a simulated store of a kernel
};

class DeviceMemory {
public:
    // Maps `memfd` (kArenaBytes long); throws std::runtime_error when the mapping fails.
    explicit DeviceMemory(int memfd);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory &) = delete;
    DeviceMemory &operator=(const DeviceMemory &) = delete;

    // Lowest free address first, so that addresses are the same on every run. 0 when the arena is full. Zero bytes get a unique address too.
    uint64_t allocate(uint64_t bytes, Owner owner, bool is_mutable);
    bool release(uint64_t address);                      // false: no such allocation
    void reset();                                        // free everything and give the pages back
    Allocation *find(uint64_t address, uint64_t bytes);  // the live allocation that contains the whole range, or null
    Allocation *nearest(uint64_t address);               // for messages: the allocation at or before the address
    uint8_t *writable(uint64_t address);                 // engine's own mapping
    const uint8_t *readable(uint64_t address) const;

private:
    int memfd_;
    uint8_t *base_ = nullptr;   // read-only, at kArenaBase
    uint8_t *alias_ = nullptr;  // read-write
    std::map<uint64_t, Allocation> live_;
};

}  // namespace vnpu
