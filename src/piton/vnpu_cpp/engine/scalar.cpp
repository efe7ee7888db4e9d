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
#include <vector>

#include "access.h"
#include "other_cores.h"
#include "past_cache.h"

namespace vnpu {

uint32_t value_bytes(Core &core, const vnpu_record &record) {
    const uint32_t bytes = record.p[0];
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        core.fail(record, "bad_parameter", "a scalar access of " + std::to_string(bytes) + " bytes", {{"bytes", bytes}});
    return bytes;
}

namespace {

constexpr uint32_t kForDebugging = 1;  // p[1] of SCALAR_LOAD

// A touch by the scalar unit, ordered like any other and charged.
void touch(Core &core, const vnpu_record &record, const Touch &bytes) {
    vnpu_record on_s = record;
    on_s.pipe = VNPU_PIPE_S;
    order_accesses(core, on_s, {bytes});
    core.append(cost_of(core.launch.chip, on_s, 1, 1));
}

void report_undefined_gm(Core &core, const vnpu_record &record, const Allocation &source, uint64_t address, uint64_t bytes) {
    const uint64_t begin = address - source.address;
    if (source.defined.covers(begin, begin + bytes) || core.dirty.covers(address, address + bytes) || !core.moves_data() ||
        core.launch.reporter.has(place_of(record), "undefined_data"))
        return;
    core.report(record, "undefined_data", "GetValue reads global memory at " + hex(address) + " that nobody has written",
                {{"address", static_cast<int64_t>(address)}});
}

void check_line(Core &core, const vnpu_record &record, uint64_t address) {
    const uint64_t line = address / kCacheLine * kCacheLine;
    SharedRange other{};
    CoreMap &lines = core.launch.shared.scalar_lines;
    if (lines.other(line, line + kCacheLine, core.acquaintance, other) && !core.launch.reporter.has(place_of(record), "missing_sync"))
        core.report(record, "missing_sync",
                    describe(place_of(record)) + " on core " + std::to_string(core.index) + " stores into the 64-byte cache line at " + hex(line) + ", which " +
                        describe(core.launch.places.at(other.place)) +
                        " on another core also stores into: whole lines are written back, so one core's value is lost",
                    {{"address", static_cast<int64_t>(address)}, {"cache_line", static_cast<int64_t>(line)}});
    if (core.launch.shared.writers.other(line, line + kCacheLine, core.acquaintance, other) && !core.launch.reporter.has(place_of(record), "missing_sync"))
        core.report(record, "missing_sync",
                    describe(place_of(record)) + " on core " + std::to_string(core.index) + " stores into the 64-byte cache line at " + hex(line) +
                        ", into which " + describe(core.launch.places.at(other.place)) +
                        " on another core stores: the whole line is written back, with what it held before",
                    {{"address", static_cast<int64_t>(address)}, {"cache_line", static_cast<int64_t>(line)}});
    lines.add(line, line + kCacheLine, shared_access(core, VNPU_PIPE_S, core.clocks.issued(VNPU_PIPE_S), core.launch.places.index(place_of(record))));
}

// ---- the cache ----
void report_clobbered(Core &core, const vnpu_record &record, const CacheLine &line, uint64_t address) {
    if (core.launch.reporter.has(place_of(record), "missing_sync")) return;
    core.report(record, "missing_sync",
                describe(place_of(record)) + " writes back the whole 64-byte cache line at " + hex(line.address) + ", also byte " + hex(address) +
                    ", which was changed in memory after the line was loaded: that change is lost; keep SetValue and copies in separate lines, or clean before",
                {{"address", static_cast<int64_t>(address)}, {"cache_line", static_cast<int64_t>(line.address)}});
}

// A byte that the line holds clean goes back too: it undoes what others wrote there.
void restore_byte(Core &core, const vnpu_record &record, const CacheLine &line, uint64_t at) {
    const uint64_t address = line.address + at;
    if (*core.launch.memory.readable(address) == line.bytes[at]) return;
    const Allocation *target = core.launch.memory.find(address, 1);
    if (!target || !target->is_mutable) return;
    report_clobbered(core, record, line, address);
    *core.launch.memory.writable(address) = line.bytes[at];
}

void write_byte(Core &core, CacheLine &line, uint64_t at) {
    const uint64_t address = line.address + at;
    Allocation *target = core.launch.memory.find(address, 1);
    if (!target) return;  // freed under the kernel's feet: nothing to write to
    core.launch.has_stored = true;
    target->stored.add(address - target->address, address - target->address + 1);
    target->defined.add(address - target->address, address - target->address + 1);
    *core.launch.memory.writable(address) = line.bytes[at];
    line.dirty &= ~(1ull << at);
    core.dirty.remove(address, address + 1);
    core.launch.dirty.remove(address, address + 1);
}

// The dirty bytes from `first` on, in order with what other pipes do to them.
void order_write_back(Core &core, const vnpu_record &record, const CacheLine &line, uint64_t first) {
    vnpu_record on_s = record;
    on_s.pipe = VNPU_PIPE_S;
    std::vector<Touch> touches;
    for (uint64_t at = first; at < kCacheLine; ++at) {
        const uint64_t address = line.address + at;
        if (line.dirty >> at & 1) append_touch(touches, {VNPU_SPACE_GM, true, address, address + 1, line.bytes.data() + at});
    }
    order_accesses(core, on_s, touches);
}

// Bytes from `first` on. A line that is clean there is not written.
bool write_back(Core &core, const vnpu_record &record, CacheLine &line, uint64_t first) {
    if (!(line.dirty >> first)) return false;
    order_write_back(core, record, line, first);
    for (uint64_t at = first; at < kCacheLine; ++at) line.dirty >> at & 1 ? write_byte(core, line, at) : restore_byte(core, record, line, at);
    return true;
}

CacheLine &line_of(Core &core, const vnpu_record &record, uint64_t address) {
    if (CacheLine *line = core.cache.find(address)) return *line;
    if (CacheLine *old = core.cache.in_the_way(address)) write_back(core, record, *old, 0);
    return core.cache.load(address, core.launch.memory.readable(address / kCacheLine * kCacheLine));
}

void report_stale(Core &core, const vnpu_record &record, uint64_t address) {
    if (core.launch.reporter.has(place_of(record), "missing_sync")) return;
    core.report(record, "missing_sync",
                describe(place_of(record)) + " reads GM byte " + hex(address) +
                    " from the scalar unit's data cache, where its line was loaded before memory changed; DataCacheCleanAndInvalid has to come before the read",
                {{"address", static_cast<int64_t>(address)}, {"cache_line", static_cast<int64_t>(address / kCacheLine * kCacheLine)}});
}

uint64_t read_cached(Core &core, const vnpu_record &record, uint64_t address, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t byte = 0; byte < bytes; ++byte) {
        const CacheLine &line = line_of(core, record, address + byte);
        const uint64_t at = (address + byte) % kCacheLine;
        const bool is_stale = !(line.dirty >> at & 1) && line.bytes[at] != *core.launch.memory.readable(address + byte);
        if (is_stale) report_stale(core, record, address + byte);
        value |= static_cast<uint64_t>(line.bytes[at]) << (8 * byte);
    }
    return value;
}

void write_cached(Core &core, const vnpu_record &record, uint64_t address, uint32_t bytes) {
    for (uint32_t byte = 0; byte < bytes; ++byte) {
        CacheLine &line = line_of(core, record, address + byte);
        const uint64_t at = (address + byte) % kCacheLine;
        line.bytes[at] = static_cast<uint8_t>(record.scalar >> (8 * byte));
        line.dirty |= 1ull << at;
    }
}

void store_gm(Core &core, const vnpu_record &record, uint32_t bytes) {
    const uint64_t address = record.dst.addr;
    const Allocation &target = check_gm(core, record, address, bytes, true);
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
    if (!target.timing_only) write_cached(core, record, address, bytes);
}

// Timing-only: what a kernel has computed is not there, and its flow may hang on it.
void note_unknown(Core &core, const vnpu_record &record) {
    if (core.launch.reporter.has(place_of(record), "other")) return;
    core.note(record, "other",
              api_name(place_of(record)) +
                  " reads what the kernel has computed, which a timing-only run leaves out: if its flow depends on the value, the time is wrong");
}

uint64_t load_gm(Core &core, const vnpu_record &record, uint32_t bytes) {
    const uint64_t address = record.src0.addr;
    const Allocation &source = check_gm(core, record, address, bytes, false);
    Touch read{VNPU_SPACE_GM, false, address, address + bytes};
    read.is_look = !source.timing_only && look_again(core, record, address, bytes);
    report_undefined_gm(core, record, source, address, bytes);
    touch(core, record, read);
    if (!core.moves_data() && source.stored.touches(address - source.address, address - source.address + bytes)) note_unknown(core, record);
    return source.timing_only ? 0 : read_cached(core, record, address, bytes);
}

}  // namespace

namespace {

// What no scalar unit can read, for DumpTensor.
uint64_t load_for_debugging(Core &core, const vnpu_record &record, uint32_t bytes) {
    const uint64_t begin = record.src0.addr;
    check_on_chip(core, record, record.src0, bytes, false, bytes);
    touch(core, record, {record.src0.space, false, begin, begin + bytes});
    if (core.moves_data()) report_undefined(core, record, begin, begin + bytes, "DumpTensor", record.src0.space);
    uint64_t value = 0;
    std::memcpy(&value, on_chip(core, record.src0.space).bytes.data() + begin, bytes);
    return value;
}

}  // namespace

uint64_t scalar_load(Core &core, const vnpu_record &record) {
    const uint32_t bytes = value_bytes(core, record);
    if (record.src0.space == VNPU_SPACE_GM) return load_gm(core, record, bytes);
    if (record.src0.space != VNPU_SPACE_UB && record.p[1] == kForDebugging) return load_for_debugging(core, record, bytes);
    check_ub(core, record, record.src0, bytes, false, bytes);
    touch(core, record, {VNPU_SPACE_UB, false, record.src0.addr, record.src0.addr + bytes});
    core.moves_data() ? report_undefined(core, record, record.src0.addr, record.src0.addr + bytes, "the scalar unit") : note_unknown(core, record);
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

namespace {

// From the address to the end of its line; the part before it stays as it is.
uint32_t clean_line(Core &core, const vnpu_record &record, uint64_t address) {
    note_cleaned(core, address);
    CacheLine *line = core.cache.find(address);
    if (!line) return 0;
    const uint64_t first = address % kCacheLine;
    const bool is_written = write_back(core, record, *line, first);
    if (is_written) publish_line(core, record, line->address);
    if (first == 0) {
        core.cache.drop(address);
        return is_written;
    }
    std::memcpy(line->bytes.data() + first, core.launch.memory.readable(address), kCacheLine - first);
    return is_written;
}

uint32_t clean_all(Core &core, const vnpu_record &record) {
    std::vector<uint64_t> addresses;
    for (const auto &[set, line] : core.cache.lines()) addresses.push_back(line.address);
    uint32_t written = 0;
    for (const uint64_t address : addresses) written += clean_line(core, record, address);
    return written;
}

}  // namespace

void cache_clean(Core &core, const vnpu_record &record) {
    constexpr uint32_t kSingleLine = 0, kToUb = 1;  // CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_UB
    uint32_t written = 0;
    if (record.p[1] != kToUb && record.src0.space == VNPU_SPACE_GM)
        written = record.p[0] == kSingleLine ? clean_line(core, record, record.src0.addr) : clean_all(core, record);
    core.append(cost_of(core.launch.chip, record, written, written));
}

}  // namespace vnpu
