#include "access.h"

#include <algorithm>
#include <cstring>

#include "access_text.h"
#include "composite.h"
#include "other_cores.h"

namespace vnpu {

namespace {

std::string api(const vnpu_record &record) { return api_name(place_of(record)); }

}  // namespace

void check_pipe(Core &core, const vnpu_record &record) {
    if (record.pipe >= VNPU_PIPE_COUNT && record.opcode != VNPU_OP_BARRIER)
        core.fail(record, "protocol_violation", "a record for pipe " + std::to_string(record.pipe) + ", which does not exist");
}

void append_touch(std::vector<Touch> &touches, const Touch &touch) {
    if (touch.begin >= touch.end) return;
    if (!touches.empty()) {
        Touch &last = touches.back();
        const bool same_kind = last.space == touch.space && last.is_write == touch.is_write && last.is_atomic == touch.is_atomic;
        const bool same_data = last.data == nullptr ? touch.data == nullptr : touch.data == last.data + (last.end - last.begin);
        if (same_kind && last.end == touch.begin && same_data) {
            last.end = touch.end;
            return;
        }
    }
    touches.push_back(touch);
}

namespace {

// Vector cores have the unified buffer, cube cores have L1 and what follows it (Ascend 910B: the two kinds are apart).
void check_has_memory(Core &core, const vnpu_record &record, uint8_t space) {
    if (space < VNPU_SPACE_UB || space > VNPU_SPACE_FB)
        core.fail(record, "unsupported_api", api(record) + " with an operand in this memory is not supported by the virtual NPU");
    if (core.is_cube() == (space != VNPU_SPACE_UB)) return;
    core.fail(record, "unsupported_api",
              api(record) + " uses " + on_chip(core, space).title + ", which a " + (core.is_cube() ? "cube" : "vector") +
                  " core does not have: this kernel is " +
                  (core.is_cube() ? "a cube kernel (__cube__ or KERNEL_TYPE_AIC_ONLY)"
                                  : "a vector kernel; declare it __cube__, or say KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY) first"));
}

}  // namespace

namespace {

// Says what is wrong with the access, if anything is. The words are made here alone: every operand of every instruction is checked.
void refuse_access(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write, uint64_t alignment) {
    const OnChip memory = on_chip(core, operand.space);
    const std::string name = memory.name, what = api(record) + " " + verb(is_write) + " ";
    const auto address = static_cast<int64_t>(operand.addr), length = static_cast<int64_t>(bytes);
    if (operand.addr % alignment)
        core.fail(record, "misaligned",
                  what + name + " from byte " + std::to_string(operand.addr) + ", which is not a multiple of " + std::to_string(alignment),
                  {{"address", address}, {"alignment_bytes", static_cast<int64_t>(alignment)}});
    if (operand.limit != 0xffffffffu && bytes > operand.limit)
        core.fail(record, "out_of_bounds",
                  what + std::to_string(bytes - operand.limit) + " bytes past the end of its tensor: " + std::to_string(bytes) + " bytes from " + name +
                      " byte " + std::to_string(operand.addr) + ", where the tensor has " + std::to_string(operand.limit),
                  {{"address", address}, {"bytes", length}, {"tensor_bytes", operand.limit}});
    const uint64_t capacity = memory.bytes.size();
    core.fail(record, "out_of_bounds",
              what + std::to_string(operand.addr + bytes - capacity) + " bytes past the end of " + memory.title + " (" + std::to_string(capacity) + " bytes)",
              {{"address", address}, {"bytes", length}, {"capacity_bytes", static_cast<int64_t>(capacity)}});
}

bool is_all_undefined(const UndefinedBytes &undefined, const IntervalSet &spilt, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at)
        if (!undefined.any(at, at + 1) && !spilt.covers(at, at + 1)) return false;
    return true;
}

// Memory around the cube unit is not shared out: a tensor there has the size that it was declared with, and whole fractals are loaded, multiplied and stored
// whatever that says. Where nobody has put anything behind it, nothing is lost; what is put there later is no part of it any more.
bool spills_into_nothing(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write) {
    if (operand.space < VNPU_SPACE_L0A || operand.space > VNPU_SPACE_L0C) return false;
    if (!core.moves_data()) return true;  // what lies there can't be told
    IntervalSet &spilt = core.cube_memory[operand.space].spilt;
    const uint64_t begin = operand.addr + operand.limit, end = operand.addr + bytes;
    if (is_write) spilt.remove(operand.addr, begin);
    if (!is_all_undefined(on_chip(core, operand.space).undefined, spilt, begin, end)) return false;
    if (is_write) spilt.add(begin, end);
    if (core.launch.reporter.has(place_of(record), "other")) return true;
    core.note(record, "other",
              describe(place_of(record)) + " " + verb(is_write) + " " + std::to_string(end - begin) + " bytes past the end of its tensor, which starts at " +
                  on_chip(core, operand.space).name + " byte " + std::to_string(operand.addr) + " and was declared with " + std::to_string(operand.limit) +
                  ": nothing lies there in this launch, so that nothing is lost; needed: a tensor of " + std::to_string(bytes) + " bytes, whole fractals",
              {{"bytes", static_cast<int64_t>(bytes)}, {"tensor_bytes", operand.limit}});
    return true;
}

}  // namespace

void check_on_chip(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write, uint64_t alignment) {
    check_has_memory(core, record, operand.space);
    const uint64_t capacity = on_chip(core, operand.space).bytes.size();
    const bool fits = operand.addr <= capacity && bytes <= capacity - operand.addr && operand.addr % alignment == 0;
    const bool is_inside = operand.limit == 0xffffffffu || bytes <= operand.limit;
    const bool is_of_cube = operand.space >= VNPU_SPACE_L0A && operand.space <= VNPU_SPACE_L0C;
    if (fits && is_inside && is_write && is_of_cube) core.cube_memory[operand.space].spilt.remove(operand.addr, operand.addr + bytes);
    if (fits && (is_inside || spills_into_nothing(core, record, operand, bytes, is_write))) return;
    refuse_access(core, record, operand, bytes, is_write, alignment);
}

void check_ub(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write, uint64_t alignment) {
    if (operand.space != VNPU_SPACE_UB)
        core.fail(record, "unsupported_api", api(record) + " with an operand outside the unified buffer is not supported by the virtual NPU");
    check_on_chip(core, record, operand, bytes, is_write, alignment);
}

Allocation &check_gm(Core &core, const vnpu_record &record, uint64_t address, uint64_t bytes, bool is_write) {
    Allocation *found = core.launch.memory.find(address, bytes);
    if (found) return *found;
    const Allocation *near = core.launch.memory.nearest(address);
    const std::string what = api(record) + " " + verb(is_write) + " " + std::to_string(bytes) + " bytes of global memory at " + hex(address);
    if (!near)
        core.fail(record, "out_of_bounds", what + ", below every allocation" + count_hint(core),
                  {{"address", static_cast<int64_t>(address)}, {"bytes", static_cast<int64_t>(bytes)}});
    const uint64_t end = near->address + near->bytes;
    core.fail(record, "out_of_bounds",
              what + ", " + std::to_string(address + bytes - end) + " bytes past the end of the allocation " + hex(near->address) + " + " +
                  std::to_string(near->bytes) + count_hint(core),
              {{"address", static_cast<int64_t>(address)},
               {"bytes", static_cast<int64_t>(bytes)},
               {"allocation_address", static_cast<int64_t>(near->address)},
               {"allocation_bytes", static_cast<int64_t>(near->bytes)},
               {"bytes_past_end", static_cast<int64_t>(address + bytes - end)}});
}

void report_undefined(Core &core, const vnpu_record &record, uint64_t begin, uint64_t end, const char *where, uint8_t space) {
    const OnChip memory = on_chip(core, space);
    const uint64_t first = memory.undefined.first(begin, end);
    if (first >= end || core.launch.reporter.has(place_of(record), "undefined_data")) return;
    core.report(record, "undefined_data",
                std::string(memory.name) + " byte " + std::to_string(first) + " was never given a value and reaches " + where + " through " + api(record) +
                    "; copy or Duplicate into it first, or leave it out of the count",
                {{"address", static_cast<int64_t>(first)}, {"begin", static_cast<int64_t>(begin)}, {"end", static_cast<int64_t>(end)}});
}

namespace {

// Whether the compiler's auto-sync orders `from` before `to` where it sees a dependence (on a vector core, after the table of the vendor's page on
// synchronisation inside a core): within V, and everything with the scalar unit. Global memory is left out, and so are cube cores, whose L1 neither reaches.
bool is_compiler_ordered(uint8_t from, uint8_t to) {
    if (from == VNPU_PIPE_S || to == VNPU_PIPE_S) return true;
    return from == VNPU_PIPE_V && to == VNPU_PIPE_V;
}

constexpr uint8_t kAutoSyncEvent = 7;  // the id that the framework keeps for this

TraceEntry sync_entry(TraceKind kind, uint8_t from, uint8_t to, uint8_t flags, const vnpu_record &record) {
    TraceEntry entry;
    entry.kind = kind;
    entry.pipe = kind == TraceKind::WaitFlag ? to : from;
    entry.src_pipe = from;
    entry.dst_pipe = to;
    entry.event = kAutoSyncEvent;
    entry.flags = flags;
    entry.line = record.line;
    entry.opcode = kind == TraceKind::Barrier ? VNPU_OP_BARRIER : kind == TraceKind::SetFlag ? VNPU_OP_SET_FLAG : VNPU_OP_WAIT_FLAG;
    return entry;
}

void order_pipes(Core &core, const vnpu_record &record, uint8_t from, uint8_t to, uint8_t flags) {
    if (from == to) {
        core.append(sync_entry(TraceKind::Barrier, from, to, flags, record));
        core.clocks.barrier(from);
        return;
    }
    core.append(sync_entry(TraceKind::SetFlag, from, to, flags, record));
    core.append(sync_entry(TraceKind::WaitFlag, from, to, flags, record));
    core.clocks.learn(to, core.clocks.completed_by_set(from));
}

void insert_auto_sync(Core &core, const vnpu_record &record, uint8_t from, uint8_t to) {
    if (core.launch.auto_syncs++ == 0) core.launch.first_auto_sync = place_of(record);
    order_pipes(core, record, from, to, kTraceAutoSync);
}

// What would order the two.
std::string remedy(uint8_t from, uint8_t to, bool is_gm) {
    const std::string a = pipe_name(from), b = pipe_name(to);
    if (from == to) return "PipeBarrier<PIPE_" + a + ">() between them";
    std::string text = "SetFlag/WaitFlag<HardEvent::" + a + "_" + b + "> between them";
    const bool is_queue_edge = !is_gm && from != VNPU_PIPE_S && to != VNPU_PIPE_S;
    return is_queue_edge ? text + ", or EnQue/DeQue (AllocTensor/FreeTensor) of the queue that owns the buffer" : text;
}

// The later of two accesses that nothing orders.
struct Race {
    Place later;
    uint8_t later_pipe;
    bool is_write, is_gm;
    const char *memory;
};

void report_race(Core &core, const Race &race, const Conflict &conflict, const std::string &what_then = "") {
    if (core.launch.reporter.has(race.later, "missing_sync")) return;
    const Place &earlier = core.launch.places.at(conflict.access.place);
    const std::string message = describe(race.later) + " (" + pipe_name(race.later_pipe) + ") " + verb(race.is_write) + " " +
                                bytes_text(race.memory, conflict.begin, conflict.end, race.is_gm) + " that " + describe(earlier) + " (" +
                                pipe_name(conflict.pipe) + ") " + past_verb(conflict.was_write) + ", and nothing orders the two" + what_then +
                                "; needed: " + remedy(conflict.pipe, race.later_pipe, race.is_gm);
    core.launch.reporter.violation(race.later, core.index, "missing_sync", message,
                                   {{"begin", static_cast<int64_t>(conflict.begin)},
                                    {"end", static_cast<int64_t>(conflict.end)},
                                    {"overlap_bytes", static_cast<int64_t>(conflict.end - conflict.begin)},
                                    {"earlier_line", earlier.line},
                                    {"earlier_pipe", conflict.pipe},
                                    {"later_pipe", race.later_pipe}});
}

Race race_of(Core &core, const vnpu_record &record, const Touch &touch) {
    const bool is_gm = touch.space == VNPU_SPACE_GM;
    return {place_of(record), record.pipe, touch.is_write, is_gm, is_gm ? "GM" : on_chip(core, touch.space).name};
}

// Bytes that two unordered writes have left behind reach an instruction.
void check_unordered(Core &core, const vnpu_record &record, const Touch &touch) {
    const OnChip memory = on_chip(core, touch.space);
    if (touch.is_write) return memory.unordered.clear(touch.begin, touch.end);
    const UnorderedWrite *found = memory.unordered.find(touch.begin, touch.end);
    if (found == nullptr) return;
    const Conflict conflict{found->begin, found->end, found->pipe, true, {1, found->earlier}};
    const Race race{core.launch.places.at(found->later), found->pipe, true, false, memory.name};
    report_race(core, race, conflict, ", while " + describe(place_of(record)) + " reads them");
}

// Whether the second write can wait to be reported until somebody reads the bytes.
bool is_only_written(const vnpu_record &record, const Touch &touch, const Conflict &conflict) {
    return touch.space != VNPU_SPACE_GM && touch.is_write && conflict.was_write && conflict.pipe == record.pipe;
}

// `is_reported`: one report per instruction says enough.
void settle(Core &core, const vnpu_record &record, const Touch &touch, const Conflict &conflict, bool &is_reported) {
    // An edge inserted for an earlier conflict of this instruction may already cover this one.
    if (core.clocks.is_ordered(record.pipe, conflict.pipe, conflict.access.number)) return;
    const bool is_gm = touch.space == VNPU_SPACE_GM;
    if (!is_gm && core.launch.options.auto_sync && is_compiler_ordered(conflict.pipe, record.pipe))
        return insert_auto_sync(core, record, conflict.pipe, record.pipe);
    if (is_gm && conflict.was_write && touch.is_write && stores_equal_bytes(core, touch, conflict.begin, conflict.end))
        return note_equal_overlap(core, record, conflict.begin, conflict.end, core.launch.places.at(conflict.access.place));
    if (!core.moves_data() || is_reported) return;
    if (is_only_written(record, touch, conflict)) {
        const uint32_t later = core.launch.places.index(place_of(record));
        return on_chip(core, touch.space).unordered.add({conflict.begin, conflict.end, conflict.access.place, later, record.pipe});
    }
    is_reported = true;
    report_race(core, race_of(core, record, touch), conflict);
}

}  // namespace

void hidden_barrier(Core &core, const vnpu_record &record, uint8_t pipe) { order_pipes(core, record, pipe, pipe, 0); }

void hidden_flag(Core &core, const vnpu_record &record, uint8_t from, uint8_t to) { order_pipes(core, record, from, to, 0); }

void order_accesses(Core &core, const vnpu_record &record, const std::vector<Touch> &touches) {
    const uint8_t pipe = record.pipe;
    const bool has_other_cores = core.launch.groups.cores() > 1;
    // Without data nothing about global memory is reported, and no auto-sync covers it, so no trace entry depends on it.
    const auto is_watched = [&](const Touch &touch) { return touch.space != VNPU_SPACE_GM || core.moves_data(); };
    const auto map_of = [&](const Touch &touch) -> AccessMap & {
        if (touch.is_atomic) return core.gm_atomics;
        return touch.space == VNPU_SPACE_GM ? core.gm_map : on_chip(core, touch.space).map;
    };
    bool is_reported = false;
    const auto check = [&](AccessMap &map, const Touch &touch) {
        map.conflicts(touch.begin, touch.end, pipe, touch.is_write, core.clocks,
                      [&](const Conflict &conflict) { settle(core, record, touch, conflict, is_reported); });
    };
    for (const Touch &touch : touches) {
        if (!is_watched(touch)) continue;
        const bool is_gm = touch.space == VNPU_SPACE_GM;
        if (!is_gm) check_unordered(core, record, touch);
        if (!is_gm) note_freed(core, record, touch);
        check(is_gm ? core.gm_map : on_chip(core, touch.space).map, touch);
        if (is_gm && !touch.is_atomic) check(core.gm_atomics, touch);  // atomic accesses do not race with one another
        if (touch.space == VNPU_SPACE_GM && has_other_cores) check_other_cores(core, record, touch);
    }
    const Access access{core.clocks.issue(pipe), core.launch.places.index(place_of(record))};
    // Reads first: a write of the same bytes by the same instruction is what later accesses have to wait for.
    for (const Touch &touch : touches)
        if (is_watched(touch) && !touch.is_write) map_of(touch).read(touch.begin, touch.end, pipe, access);
    for (const Touch &touch : touches)
        if (is_watched(touch) && touch.is_write) map_of(touch).write(touch.begin, touch.end, pipe, access);
    for (const Touch &touch : touches)
        if (is_watched(touch) && touch.space == VNPU_SPACE_GM && has_other_cores && !touch.is_look)
            remember_shared(core, touch, shared_access(core, pipe, access.number, access.place));
    core.gm_map.forget_known(core.clocks);
    core.gm_atomics.forget_known(core.clocks);
}

}  // namespace vnpu
