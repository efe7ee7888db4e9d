/*
 * Stands between the kernels of the rig and the engine: writes down the records of a launch, and leaves some out of the next or lets them come late.
 *
 * Problem: a defect for every flag, barrier and queue call of every kernel would be thousands of builds.
 * Approach: the rig is linked with --wrap for the two calls of device code. A record is known by its core and its number there, which do not change from one
 * launch to the next; a kernel without its third barrier is the kernel whose record with that number never arrives. An instruction that comes late is held
 * back until its pipe's next flag or barrier has gone: the flag was set too early.
 * Limits: one rig at a time; questions are written down and can't be left out, as the kernel needs their answers.
 */
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core.h"

extern "C" {
void __real_vnpu_submit(const vnpu_record *record);
uint64_t __real_vnpu_fetch(const vnpu_record *record);
}

namespace {

using Number = std::pair<uint32_t, uint32_t>;  // core, number of the record there

struct Logged {
    uint32_t core, number;
    vnpu_record record;
};

struct Injector {
    bool is_on = false;
    std::map<uint32_t, uint32_t> next;  // number of a core's next record
    std::set<Number> dropped, late;
    std::map<uint32_t, std::vector<Logged>> held;  // by core
    std::vector<Logged> log;                       // in the order in which the engine got them
};

Injector injector;

// The number of the record on its core. A launch that turns out to be of another kind starts anew with the record that says so, and so do the numbers.
Logged numbered(const vnpu_record &record) {
    const uint32_t core = vnpu::running->index;
    if (record.opcode == VNPU_OP_TASK_TYPE) injector.next[core] = 0;
    return {core, injector.next[core]++, record};
}

void pass(const Logged &one) {
    injector.log.push_back(one);
    __real_vnpu_submit(&one.record);  // not the copy in the log, which may move while the core waits for another
}

bool releases(const vnpu_record &sync, const vnpu_record &work) {
    if (sync.opcode == VNPU_OP_BARRIER) return sync.p[0] == VNPU_PIPE_ALL || sync.p[0] == work.pipe;
    return sync.opcode == VNPU_OP_SET_FLAG && sync.p[0] == work.pipe;
}

// What was waiting for this flag or barrier goes now, too late.
void release_held(const Logged &sync) {
    std::vector<Logged> waiting = std::move(injector.held[sync.core]);
    injector.held[sync.core].clear();
    for (const Logged &work : waiting)
        if (releases(sync.record, work.record))
            pass(work);
        else
            injector.held[sync.core].push_back(work);
}

void submit(const vnpu_record &record) {
    const Logged one = numbered(record);
    if (injector.dropped.count({one.core, one.number})) return;
    if (injector.late.count({one.core, one.number})) return injector.held[one.core].push_back(one);
    pass(one);
    release_held(one);
}

}  // namespace

extern "C" {

void __wrap_vnpu_submit(const vnpu_record *record) {
    if (injector.is_on && vnpu::running) return submit(*record);
    __real_vnpu_submit(record);
}

uint64_t __wrap_vnpu_fetch(const vnpu_record *record) {
    if (injector.is_on && vnpu::running) injector.log.push_back(numbered(*record));
    return __real_vnpu_fetch(record);
}

// The launches from now on are written down; the `count` records that `places` names by pairs of core and number are left out or come late.
void rig_inject(const uint32_t *places, uint32_t count, int are_late) {
    injector = Injector{};
    injector.is_on = true;
    for (uint32_t at = 0; at < count; ++at) (are_late ? injector.late : injector.dropped).insert({places[2 * at], places[2 * at + 1]});
}

void rig_inject_nothing() { injector = Injector{}; }

// What has been written down, in the order in which the engine got it.
uint32_t rig_logged(const void **log) {
    *log = injector.log.data();
    return static_cast<uint32_t>(injector.log.size());
}
}
