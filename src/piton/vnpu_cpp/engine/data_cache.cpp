#include "data_cache.h"

#include <cstring>

namespace vnpu {

namespace {

uint64_t set_of(uint64_t address) { return address / kCacheLine % kCacheLines; }
uint64_t start_of(uint64_t address) { return address / kCacheLine * kCacheLine; }

}  // namespace

CacheLine *DataCache::find(uint64_t address) {
    const auto line = lines_.find(set_of(address));
    return line != lines_.end() && line->second.address == start_of(address) ? &line->second : nullptr;
}

CacheLine *DataCache::in_the_way(uint64_t address) {
    const auto line = lines_.find(set_of(address));
    return line != lines_.end() && line->second.address != start_of(address) ? &line->second : nullptr;
}

CacheLine &DataCache::load(uint64_t address, const uint8_t *memory) {
    CacheLine &line = lines_[set_of(address)];
    line.address = start_of(address);
    line.dirty = 0;
    std::memcpy(line.bytes.data(), memory, kCacheLine);
    return line;
}

void DataCache::drop(uint64_t address) {
    if (find(address)) lines_.erase(set_of(address));
}

}  // namespace vnpu
