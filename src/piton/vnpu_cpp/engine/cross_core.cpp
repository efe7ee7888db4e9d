/* CrossCoreSetFlag and CrossCoreWaitFlag among the cores of a launch, SyncAll, and flags in global memory. */
#include "cross_core.h"

#include <algorithm>
#include <cstring>

#include "access.h"
#include "composite.h"
#include "past_cache.h"

namespace vnpu {

namespace {

constexpr uint32_t kFlagBytes = 32;      // of a flag in global memory
constexpr uint32_t kIsCounted = 1;       // p[0] of SOFT_SET: add to the value
constexpr uint32_t kIsConsuming = 1;     // p[0] of SOFT_WAIT: the value exactly, and back to 0
constexpr uint32_t kIsFromReset = 2;     // the flag counts from its reset on, whatever memory held before
constexpr uint32_t kIsCountedFresh = 3;  // p[0] of SOFT_SET: both
constexpr uint32_t kIsInBlock = 1;       // p[1] of either: among the cores of one block, which always run together

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
    const bool is_soft = record.opcode == VNPU_OP_SOFT_SET || record.opcode == VNPU_OP_SOFT_WAIT;
    if (is_soft && record.p[1] == kIsInBlock) return;
    if (launch.groups.blocks <= launch.blocks_at_once()) return;
    core.fail(record, "deadlock",
              api_name(place_of(record)) + " in a launch of " + std::to_string(launch.groups.blocks) + " blocks on " + std::to_string(launch.blocks_at_once()) +
                  " cores: blocks that have not started can't arrive, so all wait for ever",
              {{"blocks", launch.groups.blocks}, {"cores", launch.blocks_at_once()}});
}

}  // namespace

// Own work that `pipe` knows to be complete, and what this core has learnt of the others.
Vouch vouch_of(const Core &core, uint32_t pipe) {
    Vouch vouch = core.acquaintance.others;
    if (vouch.size() <= core.index) vouch.resize(core.index + 1);
    vouch[core.index] = core.clocks.completed_by_set(pipe);
    return vouch;
}

void merge(Vouch &into, const Vouch &from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t core = 0; core < from.size(); ++core)
        for (uint32_t pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe) into[core][pipe] = std::max(into[core][pipe], from[core][pipe]);
}

// What the wait tells: about the others, and that as much of the own work is complete as somebody waited for.
void learn(Core &core, const Vouch &vouch) {
    core.acquaintance.learn(vouch);
    if (core.index < vouch.size()) core.clocks.learn(VNPU_PIPE_S, vouch[core.index]);
}

namespace {

void wait_until(Core &core, const Waiting &waiting) {
    while (!can_go_on(core.launch, core, waiting)) {
        core.waiting = waiting;
        core.fibre->yield();
    }
    core.waiting = Waiting{};
}

// Within modes 0 and 1 a core's own program sets as often; in mode 2 a slow receiver alone makes the counter run over.
void check_counter(Core &core, const vnpu_record &record, uint32_t receiver, uint32_t id) {
    Launch &launch = core.launch;
    const uint32_t pending = launch.cross.counters[{receiver, id}].pending();
    if (pending <= kMaxCrossCount) return;
    const std::string times = "CrossCoreSetFlag: id " + std::to_string(id) + " is set " + std::to_string(pending) + " times more than ";
    const Numbers numbers = {{"flag_id", id}, {"pending", pending}};
    if (record.p[0] != kWithinBlock)
        launch.reporter.violation(place_of(record), receiver, "flag_misuse",
                                  times + launch.groups.name(receiver) + " has waited for it; its counter holds 0 to 15", numbers);
    else if (!launch.reporter.has(place_of(record), "other"))
        core.note(record, "other",
                  times + launch.groups.name(receiver) + " may have waited for it by then: " + launch.groups.name(core.index) +
                      " waits for nothing from there in between, and the counter holds 0 to 15; needed: a flag back, at least every 15 sets",
                  numbers);
}

// Cores can't meet in a kernel of these types: the page of CrossCoreSetFlag says that the hardware's scheduler is off there.
void note_scheduler(Core &core, const vnpu_record &record) {
    const std::optional<Place> &chosen = core.launch.without_scheduler;
    if (!chosen || core.launch.reporter.has(place_of(record), "other")) return;
    const std::string kind = core.is_cube() ? "AIC" : "AIV";
    core.note(record, "other",
              describe(place_of(record)) + " in a kernel of KERNEL_TYPE_" + kind + "_ONLY (" + describe(*chosen) +
                  "): the chip does not schedule cores of such a kernel together, so that they may wait for ever; needed: KERNEL_TYPE_MIX_" + kind + "_1_0",
              {{"earlier_line", chosen->line}});
}

void note_reserved(Core &core, const vnpu_record &record) {
    constexpr uint32_t kFirst = 11, kLast = 14;  // of SyncAll: documentation page of CrossCoreSetFlag
    const uint32_t given = record.p[2], id = given % kCrossFlags;
    if (given >= kCrossFlags)
        core.note(record, "reserved_event_id",
                  "flag id " + std::to_string(given) + " does not exist: the chip takes its low 4 bits, so that it is id " + std::to_string(id) +
                      "; needed: an id from 0 to 10, or 15",
                  {{"flag_id", given}});
    if (id >= kFirst && id <= kLast)
        core.note(record, "reserved_event_id", "flag id " + std::to_string(id) + " belongs to SyncAll; user code should use 0 to 10 or 15", {{"flag_id", id}});
}

void require_mode(Core &core, const vnpu_record &record, uint32_t mode) {
    const Groups &groups = core.launch.groups;
    const std::string start = "CrossCoreSetFlag in mode " + std::to_string(mode);
    if (mode > kWithinBlock) core.fail(record, "bad_parameter", start + "; the Ascend 910B has the modes 0, 1 and 2", {{"mode", mode}});
    if (mode == kWithinBlock && !groups.is_mixed())
        core.fail(record, "flag_misuse",
                  start +
                      " goes between a cube core and the vector cores of its block, and this launch has one kind of core; needed: a kernel declared "
                      "__mix__(1, 1) or __mix__(1, 2) (KERNEL_TYPE_MIX_AIC_1_1, KERNEL_TYPE_MIX_AIC_1_2)",
                  {{"mode", mode}});
    if (mode == kVectorsOfBlock && core.is_cube())
        core.fail(record, "flag_misuse", start + " on a cube core: it joins the vector cores of a block; mode 2 goes from a cube core to its vector cores",
                  {{"mode", mode}});
}

void deliver(Core &core, const vnpu_record &record, const CrossParties &parties, Vouch &&vouch) {
    Launch &launch = core.launch;
    const uint32_t id = record.p[2] % kCrossFlags;
    const auto delivery = std::make_shared<const Vouch>(std::move(vouch));
    ++launch.cross.stamp;
    for (const uint32_t receiver : parties.receivers) {
        CrossCounter &counter = launch.cross.counters[{receiver, id}];
        counter.deliveries.push_back(delivery);
        if (record.p[0] == kWithinBlock) counter.newest = place_of(record);
        check_counter(core, record, receiver, id);
    }
}

}  // namespace

bool can_go_on(const Launch &launch, const Core &core, const Waiting &waiting) {
    switch (waiting.kind) {
        case Waiting::Kind::Nothing:
            return true;
        case Waiting::Kind::SyncAll:
            return launch.cross.syncs[waiting.id].rounds > waiting.round;
        case Waiting::Kind::CrossFlag: {
            const auto counter = launch.cross.counters.find({core.index, waiting.id});
            return counter != launch.cross.counters.end() && counter->second.pending() != 0;
        }
        case Waiting::Kind::SoftFlag: {
            const auto flag = launch.cross.soft.find(waiting.address);
            const int32_t value = flag == launch.cross.soft.end() ? 0 : flag->second.value;
            return waiting.is_exact ? value == waiting.value : value >= waiting.value;
        }
        case Waiting::Kind::Word:
            return has_news(launch, waiting);
        default:
            return false;
    }
}

namespace {

// The last core has come: all that came before it is known to all. Where every core of the launch takes part, a new phase of the checks says so.
void complete_sync(Launch &launch, uint32_t point) {
    SyncPoint &sync = launch.cross.syncs[point];
    sync.newest = std::make_shared<const Vouch>(std::move(sync.vouch));
    sync.vouch.clear();
    sync.arrived = 0;
    ++sync.rounds;
    ++launch.cross.stamp;
    if (expected_at(launch.groups, point) == launch.groups.cores()) launch.shared.new_phase();
}

uint32_t sync_point_of(Core &core, const vnpu_record &record) {
    const Groups &groups = core.launch.groups;
    if (record.p[0] == 0) return core.is_cube() ? VNPU_CORE_AIC : VNPU_CORE_AIV;
    if (groups.kind == VNPU_CORE_AIV)
        core.fail(record, "deadlock",
                  "SyncAll<false> in a kernel for vector cores waits for cube cores, which do not run: it hangs; needed: SyncAll<true>() or SyncAll()");
    return kSyncOfAll;
}

}  // namespace

// p[0] 0: all cores of this core's kind; 1: all cores of the launch.
void sync_all(Core &core, const vnpu_record &record) {
    Launch &launch = core.launch;
    const uint32_t point = sync_point_of(core, record);
    require_all_running(core, record);
    note_scheduler(core, record);
    SyncPoint &sync = launch.cross.syncs[point];
    core.clocks.barrier(VNPU_PIPE_ALL);
    merge(sync.vouch, vouch_of(core, VNPU_PIPE_S));
    ++core.epoch;
    TraceEntry entry = cross_entry(TraceKind::SyncAll, record, VNPU_PIPE_ALL, 0);
    entry.event = static_cast<uint8_t>(point);
    core.append(entry);
    core.waiting.kind = Waiting::Kind::SyncAll;
    core.waiting.id = point;
    core.waiting.round = sync.rounds;
    core.last_wait = place_of(record);
    if (++sync.arrived == expected_at(launch.groups, point)) complete_sync(launch, point);
    core.fibre->yield();
    core.waiting = Waiting{};
    if (launch.groups.is_mixed()) learn(core, *sync.newest);
    core.acquaintance.stamp = launch.cross.stamp;
}

void cross_set(Core &core, const vnpu_record &record) {
    const uint32_t mode = record.p[0], pipe = record.p[1], id = record.p[2] % kCrossFlags;
    require_mode(core, record, mode);
    if (pipe == VNPU_PIPE_S || pipe >= VNPU_PIPE_COUNT)
        core.fail(record, "bad_parameter", "CrossCoreSetFlag takes one of the pipes V, MTE1, MTE2, MTE3, M and FIX", {{"pipe", pipe}});
    if (mode == kAllOfKind) require_all_running(core, record);
    note_reserved(core, record);
    note_scheduler(core, record);
    const CrossParties parties = parties_of(core.launch.groups, mode, core.index);
    std::vector<CrossRound> &rounds = core.launch.cross.rounds[{mode, parties.group, id}];
    const uint32_t turn = core.turns[{mode, id}]++;
    if (rounds.size() <= turn) rounds.resize(turn + 1);
    rounds[turn].senders = parties.senders;
    rounds[turn].newest = place_of(record);
    rounds[turn].core = core.index;
    if (mode != kWithinBlock) core.launch.cross.counters[{core.index, id}].newest = place_of(record);
    merge(rounds[turn].vouch, vouch_of(core, pipe));
    if (++rounds[turn].arrived == parties.senders) deliver(core, record, parties, std::move(rounds[turn].vouch));
    ++core.epoch;
    TraceEntry entry = cross_entry(TraceKind::CrossSet, record, static_cast<uint8_t>(pipe), static_cast<uint8_t>(id));
    entry.cross_mode = mode;
    core.append(entry);
}

void cross_wait(Core &core, const vnpu_record &record) {
    Waiting waiting;
    waiting.kind = Waiting::Kind::CrossFlag;
    waiting.id = record.p[2] % kCrossFlags;
    core.last_wait = place_of(record);
    wait_until(core, waiting);
    CrossCounter &counter = core.launch.cross.counters[{core.index, waiting.id}];
    learn(core, *counter.deliveries[counter.waits]);
    counter.deliveries[counter.waits++].reset();
    core.acquaintance.stamp = core.launch.cross.stamp;
    core.append(cross_entry(TraceKind::CrossWait, record, VNPU_PIPE_S, static_cast<uint8_t>(waiting.id)));
}

namespace {

// A flag that only some of its cores have set: nobody gets it, and the next kernel finds it half done.
void report_half_set(Launch &launch, const CrossState::Key &key, const CrossRound &round) {
    const auto &[mode, group, id] = key;
    launch.reporter.violation(round.newest, round.core, "flag_leak",
                              "the launch ends with flag " + std::to_string(id) + " of mode " + std::to_string(mode) + " set by " +
                                  std::to_string(round.arrived) + " of the " + std::to_string(round.senders) + " cores that have to, " +
                                  launch.groups.name(round.core) + " among them by " + describe(round.newest) +
                                  ": nobody receives it, and it disturbs the next kernel; needed: CrossCoreSetFlag by all of them, equally often",
                              {{"flag_id", id}, {"mode", mode}, {"sets", round.arrived}, {"senders", round.senders}});
    (void)group;
}

}  // namespace

// Deliveries that nobody took, and sets that never became one.
void report_left_cross_flags(Launch &launch) {
    for (const auto &[key, counter] : launch.cross.counters) {
        const auto &[receiver, id] = key;
        if (counter.pending() == 0) continue;
        const int64_t sets = static_cast<int64_t>(counter.deliveries.size());
        launch.reporter.violation(counter.newest, receiver, "flag_leak",
                                  launch.groups.name(receiver) + " ends with flag " + std::to_string(id) + " between the cores set " + std::to_string(sets) +
                                      " times, the last by " + describe(counter.newest) + ", and waited for " + std::to_string(counter.waits) +
                                      " times; the rest would release the next kernel's CrossCoreWaitFlag; needed: "
                                      "a CrossCoreWaitFlag for every CrossCoreSetFlag",
                                  {{"flag_id", id}, {"sets", sets}, {"waits", counter.waits}});
    }
    for (const auto &[key, rounds] : launch.cross.rounds)
        if (!rounds.empty() && rounds.back().arrived < rounds.back().senders) report_half_set(launch, key, rounds.back());
}

// How far the flag has come that the core waits for.
std::string progress_of_flag(const Launch &launch, const Core &core) {
    const Groups &groups = launch.groups;
    const bool is_cube = groups.is_cube(core.index);
    const uint32_t id = core.waiting.id, block = groups.block_of(core.index);
    const CrossState::Key keys[] = {{kAllOfKind, is_cube, id}, {kVectorsOfBlock, block, id}, {kWithinBlock, block * 2 + !is_cube, id}};
    for (const CrossState::Key &key : keys) {
        const auto rounds = launch.cross.rounds.find(key);
        if (rounds == launch.cross.rounds.end() || rounds->second.back().arrived == rounds->second.back().senders) continue;
        const CrossRound &round = rounds->second.back();
        return std::to_string(round.arrived) + " of " + std::to_string(round.senders) + " cores have set id " + std::to_string(id) + " this often (mode " +
               std::to_string(std::get<0>(key)) + ", the newest by " + groups.name(round.core) + " in " + describe(round.newest) +
               "); needed: CrossCoreSetFlag by every one of them before its CrossCoreWaitFlag";
    }
    return "nobody has set id " + std::to_string(id) + " for " + groups.name(core.index) +
           " this often; needed: CrossCoreSetFlag by the cores it waits for, in " + "the mode that reaches it";
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
    core.launch.has_stored = true;
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
    const bool is_counted = record.p[0] == kIsCounted || record.p[0] == kIsCountedFresh, is_reset = record.p[0] > kIsCounted;
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
