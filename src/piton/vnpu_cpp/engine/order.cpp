/*
 * Order between the accesses of one instruction and those before it: the maps say which conflict, this inserts what the compiler's auto-sync would, or reports.
 */
#include <optional>

#include "access.h"
#include "access_text.h"
#include "composite.h"
#include "other_cores.h"

namespace vnpu {

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
void check_unordered(Core &core, const vnpu_record &record, const Touch &touch, const OnChip &memory) {
    if (memory.unordered.all().empty()) return;
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

namespace {

// The accesses of one instruction, in an on-chip memory or in global memory, against those before it and for those behind it.
class Ordering {
public:
    Ordering(Core &core, const vnpu_record &record) : core_(core), record_(record), has_other_cores_(core.launch.groups.cores() > 1) {}

    // Without data nothing about global memory is reported, and no auto-sync covers it, so no trace entry depends on it.
    bool is_watched(const Touch &touch) const { return touch.space != VNPU_SPACE_GM || core_.moves_data(); }

    void check(const Touch &touch) {
        if (touch.space == VNPU_SPACE_GM) return check_gm(touch);
        const OnChip &memory = memory_of(touch.space);
        check_unordered(core_, record_, touch, memory);
        note_freed(core_, record_, touch);
        check_in(memory.map, touch);
    }

    void remember(const Touch &touch, const Access &access) {
        if (touch.space != VNPU_SPACE_GM) return put(memory_of(touch.space).map, touch, access);
        put(touch.is_atomic ? core_.gm_atomics : core_.gm_map, touch, access);
        if (has_other_cores_ && !touch.is_look) remember_shared(core_, touch, shared_access(core_, record_.pipe, access.number, access.place));
    }

private:
    void check_gm(const Touch &touch) {
        check_in(core_.gm_map, touch);
        if (!touch.is_atomic) check_in(core_.gm_atomics, touch);  // atomic accesses do not race with one another
        if (has_other_cores_) check_other_cores(core_, record_, touch);
    }

    template <class Map>
    void check_in(const Map &map, const Touch &touch) {
        map.conflicts(touch.begin, touch.end, record_.pipe, touch.is_write, core_.clocks,
                      [&](const Conflict &conflict) { settle(core_, record_, touch, conflict, is_reported_); });
    }

    template <class Map>
    void put(Map &map, const Touch &touch, const Access &access) {
        touch.is_write ? map.write(touch.begin, touch.end, record_.pipe, access) : map.read(touch.begin, touch.end, record_.pipe, access);
    }

    // Most instructions stay in one memory.
    const OnChip &memory_of(uint8_t space) {
        if (!memory_ || space_ != space) memory_.emplace(on_chip(core_, space));
        space_ = space;
        return *memory_;
    }

    Core &core_;
    const vnpu_record &record_;
    const bool has_other_cores_;
    bool is_reported_ = false;
    uint8_t space_ = VNPU_SPACE_NONE;
    std::optional<OnChip> memory_;
};

}  // namespace

void order_accesses(Core &core, const vnpu_record &record, const std::vector<Touch> &touches) {
    Ordering ordering(core, record);
    for (const Touch &touch : touches)
        if (ordering.is_watched(touch)) ordering.check(touch);
    const Access access{core.clocks.issue(record.pipe), core.launch.places.index(place_of(record))};
    // Reads first: a write of the same bytes by the same instruction is what later accesses have to wait for.
    for (const bool is_write : {false, true})
        for (const Touch &touch : touches)
            if (touch.is_write == is_write && ordering.is_watched(touch)) ordering.remember(touch, access);
    core.gm_map.forget_known(core.clocks);
    core.gm_atomics.forget_known(core.clocks);
}

}  // namespace vnpu
