/*
 * GetValue, SetValue and the scalar unit's data cache.
 *
 * The unified buffer is seen directly. Global memory is seen through a write-back cache of 64-byte lines per core: a SetValue stays in it until
 * DataCacheCleanAndInvalid, and two cores that store into one line clobber each other even on different bytes.
 * Limits: the cache is not simulated as memory (a load always sees the newest bytes). What goes wrong with stores is reported instead; a GetValue that would
 * have found a stale line, because no DataCacheCleanAndInvalid came between a store by DMA and it, is not.
 */
#include <algorithm>
#include <cstring>

#include "access.h"

namespace vnpu {

namespace {

constexpr uint64_t kCacheLine = 64;

uint32_t value_bytes(Core &core, const vnpu_record &record) {
    const uint32_t bytes = record.p[0];
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        core.fail(record, "bad_parameter", "a scalar access of " + std::to_string(bytes) + " bytes", {{"bytes", bytes}});
    return bytes;
}

// A touch by the scalar unit, ordered like any other and charged.
void touch(Core &core, const vnpu_record &record, const Touch &bytes) {
    vnpu_record on_s = record;
    on_s.pipe = VNPU_PIPE_S;
    order_accesses(core, on_s, {bytes});
    core.append(cost_of(core.launch.chip, on_s, 1, 1));
}

void report_undefined_gm(Core &core, const vnpu_record &record, const Allocation &source, uint64_t address, uint64_t bytes) {
    const uint64_t begin = address - source.address;
    if (source.defined.covers(begin, begin + bytes) || !core.moves_data() || core.launch.reporter.has(place_of(record), "undefined_data")) return;
    core.report(record, "undefined_data", "GetValue reads global memory at " + hex(address) + " that nobody has written",
                {{"address", static_cast<int64_t>(address)}});
}

void check_line(Core &core, const vnpu_record &record, uint64_t address) {
    const uint64_t line = address / kCacheLine * kCacheLine;
    SharedRange other{};
    CoreMap &lines = core.launch.shared.scalar_lines;
    if (lines.other(line, line + kCacheLine, core.index, other) && !core.launch.reporter.has(place_of(record), "missing_sync"))
        core.report(record, "missing_sync",
                    describe(place_of(record)) + " on core " + std::to_string(core.index) + " stores into the 64-byte cache line at " + hex(line) + ", which " +
                        describe(core.launch.places.at(other.place)) +
                        " on another core also stores into: whole lines are written back, so one core's value is lost",
                    {{"address", static_cast<int64_t>(address)}, {"cache_line", static_cast<int64_t>(line)}});
    lines.add(line, line + kCacheLine, core.index, core.launch.places.index(place_of(record)));
}

void store_gm(Core &core, const vnpu_record &record, uint32_t bytes) {
    const uint64_t address = record.dst.addr;
    Allocation &target = check_gm(core, record, address, bytes, true);
    if (!target.is_mutable) {
        core.report(record, "input_modified", "SetValue stores into an input at " + hex(address) + "; inputs are read-only",
                    {{"address", static_cast<int64_t>(address)}});
        return;
    }
    touch(core, record, {VNPU_SPACE_GM, true, address, address + bytes, reinterpret_cast<const uint8_t *>(&record.scalar)});
    check_line(core, record, address);
    core.dirty.add(address, address + bytes);
    core.launch.dirty.add(address, address + bytes);
    core.last_scalar_store = place_of(record);
    if (!core.moves_data()) return;
    const uint64_t begin = address - target.address;
    target.stored.add(begin, begin + bytes);
    target.defined.add(begin, begin + bytes);
    std::memcpy(core.launch.memory.writable(address), &record.scalar, bytes);
}

uint64_t load_gm(Core &core, const vnpu_record &record, uint32_t bytes) {
    const uint64_t address = record.src0.addr;
    const Allocation &source = check_gm(core, record, address, bytes, false);
    report_undefined_gm(core, record, source, address, bytes);
    touch(core, record, {VNPU_SPACE_GM, false, address, address + bytes});
    uint64_t value = 0;
    std::memcpy(&value, core.launch.memory.readable(address), bytes);
    return value;
}

}  // namespace

uint64_t scalar_load(Core &core, const vnpu_record &record) {
    const uint32_t bytes = value_bytes(core, record);
    if (record.src0.space == VNPU_SPACE_GM) return load_gm(core, record, bytes);
    check_ub(core, record, record.src0, bytes, false, bytes);
    touch(core, record, {VNPU_SPACE_UB, false, record.src0.addr, record.src0.addr + bytes});
    if (core.moves_data()) report_undefined(core, record, record.src0.addr, record.src0.addr + bytes, "the scalar unit");
    uint64_t value = 0;
    std::memcpy(&value, core.ub.data() + record.src0.addr, bytes);
    return value;
}

void scalar_store(Core &core, const vnpu_record &record) {
    const uint32_t bytes = value_bytes(core, record);
    if (record.dst.space == VNPU_SPACE_GM) return store_gm(core, record, bytes);
    check_ub(core, record, record.dst, bytes, true, bytes);
    touch(core, record, {VNPU_SPACE_UB, true, record.dst.addr, record.dst.addr + bytes});
    std::memcpy(core.ub.data() + record.dst.addr, &record.scalar, bytes);
    if (core.moves_data()) core.undefined.clear(record.dst.addr, record.dst.addr + bytes);
}

void cache_clean(Core &core, const vnpu_record &record) {
    constexpr uint32_t kSingleLine = 0;  // CacheLine::SINGLE_CACHE_LINE: from the address to the next line border
    const uint64_t begin = record.src0.addr;
    const bool is_single = record.p[0] == kSingleLine;
    const IntervalSet cleaned = core.dirty;
    for (const auto &[first, last] : cleaned.ranges()) {
        const uint64_t from = is_single ? std::max(first, begin) : first;
        const uint64_t to = is_single ? std::min(last, begin / kCacheLine * kCacheLine + kCacheLine) : last;
        core.dirty.remove(from, to);
        core.launch.dirty.remove(from, to);
    }
    core.append(cost_of(core.launch.chip, record, 1, 1));
}

}  // namespace vnpu
