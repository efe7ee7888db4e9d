/* Flags, barriers, SyncAll: happens-before edges and their trace entries. */
#include "access.h"

namespace vnpu {

namespace {

constexpr uint32_t kEventIds = 8;       // per pipe pair
constexpr uint32_t kFirstReserved = 6;  // 6 and 7 belong to the framework

TraceEntry entry_of(TraceKind kind, const vnpu_record &record, uint32_t from, uint32_t to, uint32_t event) {
    TraceEntry entry;
    entry.kind = kind;
    entry.pipe = static_cast<uint8_t>(kind == TraceKind::WaitFlag ? to : from);
    entry.src_pipe = static_cast<uint8_t>(from);
    entry.dst_pipe = static_cast<uint8_t>(to);
    entry.event = static_cast<uint8_t>(event);
    entry.opcode = record.opcode;
    entry.line = record.line;
    return entry;
}

std::string event_name(uint32_t from, uint32_t to, uint32_t id) { return std::string(pipe_name(from)) + "_" + pipe_name(to) + " event " + std::to_string(id); }

void check_event(Core &core, const vnpu_record &record) {
    const uint32_t from = record.p[0], to = record.p[1], id = record.p[2];
    if (from >= VNPU_PIPE_COUNT || to >= VNPU_PIPE_COUNT)
        core.fail(record, "bad_parameter", "a flag between pipes that do not exist", {{"from", from}, {"to", to}});
    if (id >= kEventIds)
        core.fail(record, "bad_parameter", "event id " + std::to_string(id) + " of " + event_name(from, to, id) + "; a pipe pair has the ids 0 to 7",
                  {{"event_id", id}});
    if (id < kFirstReserved || (record.flags & VNPU_F_QUEUE)) return;
    core.note(record, "reserved_event_id", "event id " + std::to_string(id) + " is kept for the framework; user code should use 0 to 5", {{"event_id", id}});
}

}  // namespace

void set_flag(Core &core, const vnpu_record &record) {
    check_event(core, record);
    const uint32_t from = record.p[0], to = record.p[1], id = record.p[2];
    std::vector<PendingEvent> &pending = core.events[event_key(from, to, id)];
    if (!pending.empty())
        core.report(record, "flag_misuse",
                    describe(place_of(record)) + " sets " + event_name(from, to, id) + " again before a WaitFlag took the set by " +
                        describe(pending.back().place) + "; needed: a WaitFlag between the two, or another id for one of them",
                    {{"event_id", id}, {"earlier_line", pending.back().place.line}});
    pending.push_back({core.clocks.completed_by_set(from), place_of(record)});
    core.append(entry_of(TraceKind::SetFlag, record, from, to, id));
}

void wait_flag(Core &core, const vnpu_record &record) {
    check_event(core, record);
    const uint32_t from = record.p[0], to = record.p[1], id = record.p[2];
    std::vector<PendingEvent> &pending = core.events[event_key(from, to, id)];
    if (pending.empty())
        core.fail(
            record, "deadlock",
            describe(place_of(record)) + " waits for " + event_name(from, to, id) +
                ", which no SetFlag before it in program order sets: the core waits for ever (a SetFlag that comes later in program order is not supported)",
            {{"event_id", id}});
    core.clocks.learn(to, pending.front().prefix);
    pending.erase(pending.begin());
    core.append(entry_of(TraceKind::WaitFlag, record, from, to, id));
}

void pipe_barrier(Core &core, const vnpu_record &record) {
    const uint32_t pipe = record.p[0];
    if (pipe == VNPU_PIPE_S || pipe > VNPU_PIPE_ALL)
        core.fail(record, "bad_parameter", std::string("PipeBarrier<PIPE_") + pipe_name(pipe) + "> does not exist", {{"pipe", pipe}});
    core.clocks.barrier(pipe);
    core.append(entry_of(TraceKind::Barrier, record, pipe, pipe, 0));
}

// Bytes that two unordered writes have left behind and that nobody has read.
void note_unordered(Core &core, const OnChip &memory) {
    for (const auto &[begin, write] : memory.unordered.all()) {
        const Place &later = core.launch.places.at(write.later);
        if (core.launch.reporter.has(later, "other")) continue;
        core.launch.reporter.finding(later, core.index, "other",
                                     describe(later) + " writes " + memory.name + " bytes " + std::to_string(begin) + ".." + std::to_string(write.end) +
                                         " that " + describe(core.launch.places.at(write.earlier)) +
                                         " wrote, and nothing orders the two: harmless as long as nobody reads the bytes, as here",
                                     {{"begin", static_cast<int64_t>(begin)}, {"end", static_cast<int64_t>(write.end)}});
    }
}

// The mode outlives the kernel: the next one's stores would be combined as well.
void note_atomic(Core &core) {
    if (core.atomic.mode == 0 || core.launch.reporter.has(core.atomic.place, "other")) return;
    core.launch.reporter.finding(core.atomic.place, core.index, "other",
                                 "the kernel ends with atomic stores on, chosen by " + describe(core.atomic.place) +
                                     "; the next kernel's stores would be combined with what is there; needed: SetAtomicNone behind the last atomic store",
                                 {{"mode", core.atomic.mode}});
}

// What would take a flag that is left over.
std::string leak_remedy(const Place &place, uint32_t from, uint32_t to, uint32_t id) {
    if (place.flags & VNPU_F_QUEUE) return "DeQue of every tensor that was enqueued, and FreeTensor of every one that was allocated";
    return std::string("WaitFlag<HardEvent::") + pipe_name(from) + "_" + pipe_name(to) + ">(" + std::to_string(id) + ") after it";
}

// Flags still set when the program ends would release the first matching wait of the next kernel on this core.
void end_of_program(Core &core) {
    if (const uint32_t rest = core.price_code()) core.append_work(rest);
    const uint8_t first = core.is_cube() ? VNPU_SPACE_L1 : VNPU_SPACE_UB, last = core.is_cube() ? VNPU_SPACE_FB : VNPU_SPACE_UB;
    for (uint8_t space = first; space <= last; ++space) note_unordered(core, on_chip(core, space));
    for (const auto &[key, pending] : core.events) {
        if (pending.empty()) continue;
        const Place &place = pending.back().place;
        const uint32_t from = key >> 16, to = key >> 8 & 0xff, id = key & 0xff;
        core.launch.reporter.violation(place, core.index, "flag_leak",
                                       "the kernel ends with " + event_name(from, to, id) + " set by " + describe(place) +
                                           " and never waited for; it would disturb the next kernel on this core; needed: " + leak_remedy(place, from, to, id),
                                       {{"event_id", id}, {"sets", static_cast<int64_t>(pending.size())}});
    }
    note_atomic(core);
    if (core.dirty.ranges().empty() || !core.moves_data()) return;
    core.launch.reporter.violation(
        core.last_scalar_store, core.index, "missing_sync",
        "the kernel ends with " + std::to_string(core.dirty.bytes()) +
            " bytes of SetValue in the scalar unit's data cache, which never reach global memory: DataCacheCleanAndInvalid is missing",
        {{"bytes", static_cast<int64_t>(core.dirty.bytes())}});
    for (const auto &[begin, end] : core.dirty.ranges()) core.launch.dirty.remove(begin, end);
}

}  // namespace vnpu
