#include "shared_reads.h"

#include <algorithm>

namespace vnpu {
namespace {

constexpr uint64_t kRangeBytes = 512;
constexpr uint64_t kRanges = 1u << 16;  // 32 MiB of addresses: many times what 48 cores have in flight

}  // namespace

uint64_t SharedReads::read(uint64_t addr, uint64_t bytes, uint32_t core, uint64_t now) {
    if (ranges_.empty()) ranges_.resize(kRanges);
    uint64_t shared = 0;
    for (uint64_t at = addr, end = addr + bytes; at < end;) {
        const uint64_t next = std::min(end, (at / kRangeBytes + 1) * kRangeBytes);
        if (is_shared(at / kRangeBytes, core, now)) shared += next - at;
        at = next;
    }
    return shared;
}

bool SharedReads::is_shared(uint64_t number, uint32_t core, uint64_t now) {
    Range &range = ranges_[number % kRanges];
    const bool result = range.number == number && range.core != core && now - range.time <= window_;
    range = {number, now, core};
    return result;
}

}  // namespace vnpu
