/* CrossCoreSetFlag and CrossCoreWaitFlag among the cores of a launch, which are of one kind, and flags in global memory. */
#include "cross_core.h"

#include <cstring>

#include "access.h"
#include "composite.h"

namespace vnpu {

namespace {

constexpr uint32_t kAllCores = 0;     // mode: the other two are for kernels that use both kinds of core
constexpr uint32_t kFlagBytes = 32;   // of a flag in global memory
constexpr uint32_t kIsCounted = 1;    // p[0] of SOFT_SET: add to the value
constexpr uint32_t kIsConsuming = 1;  // p[0] of SOFT_WAIT: the value exactly, and back to 0
constexpr uint32_t kIsFromReset = 2;  // the flag counts from its reset on, whatever memory held before

TraceEntry cross_entry(TraceKind kind, const vnpu_record &record, uint8_t pipe, uint8_t event) {
    TraceEntry entry;
    entry.kind = kind;
    entry.pipe = pipe;
    entry.src_pipe = entry.dst_pipe = pipe;
    entry.event = event;
    entry.opcode = record.opcode;
    entry.line = record.line;
    return entry;
}

// Surplus blocks start when others have ended, so that they can't meet.
void require_all_running(Core &core, const vnpu_record &record) {
    const Launch &launch = core.launch;
    if (launch.blocks <= launch.cores()) return;
    core.fail(record, "deadlock",
              api_name(place_of(record)) + " in a launch of " + std::to_string(launch.blocks) + " blocks on " + std::to_string(launch.cores()) +
                  " cores: blocks that have not started can't arrive, so all wait for ever",
              {{"blocks", launch.blocks}, {"cores", launch.cores()}});
}

// Own work that `pipe` knows to be complete, and what this core has learnt of the others.
Vouch vouch_of(const Core &core, uint32_t pipe) {
    Vouch vouch = core.acquaintance.others;
    if (vouch.size() <= core.index) vouch.resize(core.index + 1);
    vouch[core.index] = core.clocks.completed_by_set(pipe);
    return vouch;
}

// What the wait tells: about the others, and that as much of the own work is complete as somebody waited for.
void learn(Core &core, const Vouch &vouch) {
    core.acquaintance.learn(vouch);
    if (core.index < vouch.size()) core.clocks.learn(VNPU_PIPE_S, vouch[core.index]);
}

void wait_until(Core &core, const Waiting &waiting) {
    while (!can_go_on(core.launch, core, waiting)) {
        core.waiting = waiting;
        core.fibre->yield();
    }
    core.waiting = Waiting{};
}

std::vector<Vouch> &round_of(CrossState &cross, uint32_t id, uint32_t round, uint32_t blocks) {
    while (cross.rounds[id].size() <= round) {
        cross.rounds[id].emplace_back(blocks);
        cross.arrived[id].push_back(0);
    }
    return cross.rounds[id][round];
}

void check_counter(Core &core, const vnpu_record &record, uint32_t id) {
    const uint32_t pending = core.cross_sets[id] - core.cross_waits[id];
    if (pending > kMaxCrossCount)
        core.report(record, "flag_misuse",
                    "CrossCoreSetFlag: id " + std::to_string(id) + " is set " + std::to_string(pending) +
                        " times more than this core has waited for it; its counter holds 0 to 15",
                    {{"flag_id", id}, {"pending", pending}});
}

void note_reserved(Core &core, const vnpu_record &record, uint32_t id) {
    constexpr uint32_t kFirst = 11, kLast = 14;  // of SyncAll: documentation page of CrossCoreSetFlag
    if (id >= kFirst && id <= kLast)
        core.note(record, "reserved_event_id", "flag id " + std::to_string(id) + " belongs to SyncAll; user code should use 0 to 10 or 15", {{"flag_id", id}});
}

}  // namespace

bool can_go_on(const Launch &launch, const Core &core, const Waiting &waiting) {
    switch (waiting.kind) {
        case Waiting::Kind::Nothing:
            return true;
        case Waiting::Kind::CrossFlag: {
            const std::vector<uint32_t> &arrived = launch.cross.arrived[waiting.id];
            const uint32_t round = core.cross_waits[waiting.id];
            return round < arrived.size() && arrived[round] == launch.blocks;
        }
        case Waiting::Kind::SoftFlag: {
            const auto flag = launch.cross.soft.find(waiting.address);
            const int32_t value = flag == launch.cross.soft.end() ? 0 : flag->second.value;
            return waiting.is_exact ? value == waiting.value : value >= waiting.value;
        }
        default:
            return false;
    }
}

void cross_set(Core &core, const vnpu_record &record) {
    const uint32_t pipe = record.p[1], id = record.p[2] % kCrossFlags;
    if (record.p[0] != kAllCores)
        core.fail(record, "unsupported_api",
                  "CrossCoreSetFlag in mode " + std::to_string(record.p[0]) +
                      " needs cube and vector cores in one kernel, which the virtual NPU does not run; mode 0 is supported",
                  {{"mode", record.p[0]}});
    if (pipe == VNPU_PIPE_S || pipe >= VNPU_PIPE_COUNT)
        core.fail(record, "bad_parameter", "CrossCoreSetFlag takes one of the pipes V, MTE1, MTE2, MTE3, M and FIX", {{"pipe", pipe}});
    require_all_running(core, record);
    note_reserved(core, record, id);
    CrossState &cross = core.launch.cross;
    const uint32_t round = core.cross_sets[id]++;
    core.last_cross_set[id] = place_of(record);
    round_of(cross, id, round, core.launch.blocks)[core.index] = vouch_of(core, pipe);
    if (++cross.arrived[id][round] == core.launch.blocks) ++cross.stamp;
    check_counter(core, record, id);
    ++core.epoch;
    core.append(cross_entry(TraceKind::CrossSet, record, static_cast<uint8_t>(pipe), static_cast<uint8_t>(id)));
}

void cross_wait(Core &core, const vnpu_record &record) {
    const uint32_t id = record.p[2] % kCrossFlags;
    require_all_running(core, record);
    Waiting waiting;
    waiting.kind = Waiting::Kind::CrossFlag;
    waiting.id = id;
    core.last_wait = place_of(record);
    wait_until(core, waiting);
    for (const Vouch &vouch : core.launch.cross.rounds[id][core.cross_waits[id]]) learn(core, vouch);
    ++core.cross_waits[id];
    core.acquaintance.stamp = core.launch.cross.stamp;
    core.append(cross_entry(TraceKind::CrossWait, record, VNPU_PIPE_S, static_cast<uint8_t>(id)));
}

// In mode 0 every core's counter goes up once when all have set, so that a core waits as often as it sets, or its counter keeps something.
void report_left_cross_flags(Core &core) {
    for (uint32_t id = 0; id < kCrossFlags; ++id) {
        if (core.cross_sets[id] <= core.cross_waits[id]) continue;
        const Place &place = core.last_cross_set[id];
        core.launch.reporter.violation(place, core.index, "flag_leak",
                                       "core " + std::to_string(core.index) + " ends with flag " + std::to_string(id) + " between the cores set " +
                                           std::to_string(core.cross_sets[id]) + " times, the last by " + describe(place) + ", and waited for " +
                                           std::to_string(core.cross_waits[id]) +
                                           " times; the rest would release the next kernel's CrossCoreWaitFlag; needed: "
                                           "a CrossCoreWaitFlag for every CrossCoreSetFlag",
                                       {{"flag_id", id}, {"sets", core.cross_sets[id]}, {"waits", core.cross_waits[id]}});
    }
}

namespace {

// The flag as global memory holds it when it is first used.
SoftFlag &flag_at(Core &core, const vnpu_record &record, uint64_t address) {
    std::map<uint64_t, SoftFlag> &flags = core.launch.cross.soft;
    const auto [flag, is_new] = flags.try_emplace(address);
    if (!is_new) return flag->second;
    const Allocation &memory = check_gm(core, record, address, kFlagBytes, true);
    const uint64_t begin = address - memory.address;
    if (!core.moves_data()) return flag->second;
    if (!memory.defined.covers(begin, begin + sizeof(int32_t)))
        core.report(record, "undefined_data",
                    api_name(place_of(record)) + " uses the flag at " + hex(address) + ", which nobody has set to 0; the workspace has to be cleared first",
                    {{"address", static_cast<int64_t>(address)}});
    else
        std::memcpy(&flag->second.value, core.launch.memory.readable(address), sizeof(int32_t));
    return flag->second;
}

void store_flag(Core &core, const vnpu_record &record, uint64_t address, int32_t value) {
    Allocation &memory = check_gm(core, record, address, kFlagBytes, true);
    if (!core.moves_data()) return;
    memory.stored.add(address - memory.address, address - memory.address + sizeof value);
    memory.defined.add(address - memory.address, address - memory.address + sizeof value);
    std::memcpy(core.launch.memory.writable(address), &value, sizeof value);
}

TraceEntry flag_copy(TraceKind kind, const vnpu_record &record, uint8_t pipe, uint64_t address) {
    TraceEntry entry = cross_entry(kind, record, pipe, 0);
    entry.blocks = 1;
    entry.block_bytes = kFlagBytes;
    entry.gm_addr = address;
    return entry;
}

TraceEntry soft_entry(TraceKind kind, const vnpu_record &record, uint8_t pipe, uint32_t token) {
    TraceEntry entry = cross_entry(kind, record, pipe, 0);
    entry.flags = kTraceSoftFlag;
    entry.blocks = token;
    return entry;
}

}  // namespace

// Everything before it is complete, then 32 bytes go out; returns the new value.
uint64_t soft_set(Core &core, const vnpu_record &record) {
    const uint64_t address = record.dst.addr;
    require_all_running(core, record);
    hidden_barrier(core, record, VNPU_PIPE_ALL);
    const bool is_counted = record.p[0] == kIsCounted, is_reset = record.p[0] > kIsCounted;
    SoftFlag &flag = is_reset ? core.launch.cross.soft[address] : flag_at(core, record, address);
    flag.value = (is_counted ? flag.value : 0) + static_cast<int32_t>(record.scalar);
    Vouch vouch = vouch_of(core, VNPU_PIPE_MTE3);
    Acquaintance all;
    all.learn(flag.vouch);
    all.learn(vouch);
    flag.vouch = all.others;
    flag.token = ++core.launch.cross.tokens;
    ++core.launch.cross.stamp;
    store_flag(core, record, address, flag.value);
    ++core.epoch;
    core.append(flag_copy(TraceKind::GmWrite, record, VNPU_PIPE_MTE3, address));
    core.append(soft_entry(TraceKind::CrossSet, record, VNPU_PIPE_MTE3, flag.token));
    return static_cast<uint32_t>(flag.value);
}

// Reads the flag again and again; the reads before the last one are not in the trace.
void soft_wait(Core &core, const vnpu_record &record) {
    require_all_running(core, record);
    if (record.p[0] != kIsFromReset) flag_at(core, record, record.src0.addr);
    Waiting waiting;
    waiting.kind = Waiting::Kind::SoftFlag;
    waiting.address = record.src0.addr;
    waiting.value = static_cast<int32_t>(record.scalar);
    waiting.is_exact = record.p[0] == kIsConsuming;
    core.last_wait = place_of(record);
    wait_until(core, waiting);
    SoftFlag &flag = core.launch.cross.soft[record.src0.addr];
    learn(core, flag.vouch);
    core.acquaintance.stamp = core.launch.cross.stamp;
    if (flag.token) core.append(soft_entry(TraceKind::CrossWait, record, VNPU_PIPE_S, flag.token));
    core.append(flag_copy(TraceKind::GmRead, record, VNPU_PIPE_MTE2, record.src0.addr));
    hidden_barrier(core, record, VNPU_PIPE_ALL);
    if (!waiting.is_exact) return;
    flag.value = 0;
    store_flag(core, record, record.src0.addr, 0);
    core.append(flag_copy(TraceKind::GmWrite, record, VNPU_PIPE_MTE3, record.src0.addr));
}

}  // namespace vnpu
