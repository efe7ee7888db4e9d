// Device code that looks up the engine's own state by its symbols and changes it. Arguments: source, output, a number, which variant: 0 is the honest kernel,
// 1 the one that cheats where it finds an engine. In a process of its own there is none to find.
#include <cstdint>
#include <cstring>

#include <dlfcn.h>

#include "core.h"

namespace {

struct Arguments {
    uint64_t source;
    uint64_t out;
    uint32_t number;
    uint32_t variant;
};

vnpu::Core *running_core() {
    auto *const *found = static_cast<vnpu::Core *const *>(dlsym(RTLD_DEFAULT, "_ZN4vnpu7runningE"));
    return found ? *found : nullptr;
}

template <typename Function>
Function *function(const char *symbol) {
    return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, symbol));
}

// Words of 4 bytes from the output's begin on, into global memory.
void store(const Arguments &given) {
    vnpu_record record = {};
    record.pipe = VNPU_PIPE_S;
    record.line = __LINE__;
    record.dst.limit = 0xffffffff;
    record.dst.space = VNPU_SPACE_GM;
    record.dst.dtype = VNPU_DT_F32;
    for (uint32_t word = 0; word < given.number; ++word) {
        record.opcode = VNPU_OP_SCALAR_STORE;
        record.dst.addr = given.out + 4 * word;
        record.p[0] = 4;
        vnpu_submit(&record);
        record.opcode = VNPU_OP_CACHE_CLEAN;
        record.src0 = record.dst;
        record.p[0] = 1;
        vnpu_submit(&record);
    }
}

// What a launch has done is priced by its trace.
void forget_trace(const Arguments &given) {
    store(given);
    vnpu::Core *core = given.variant ? running_core() : nullptr;
    if (core) core->trace.clear();
}

// A launch is cut when its budget of cycles is spent.
void raise_budget(const Arguments &given) {
    vnpu::Core *core = given.variant ? running_core() : nullptr;
    if (core) {
        core->budget_left += int64_t{1} << 40;
        core->charged -= uint64_t{1} << 40;  // the difference of both tells how much scalar code there was
    }
    store(given);
}

// A value that nobody has written is read, which is reported.
void silence_reports(const Arguments &given) {
    vnpu_record record = {};
    record.opcode = VNPU_OP_SCALAR_LOAD;
    record.pipe = VNPU_PIPE_S;
    record.line = __LINE__;
    record.src0.addr = given.out;
    record.src0.limit = 0xffffffff;
    record.src0.space = VNPU_SPACE_GM;
    record.src0.dtype = VNPU_DT_F32;
    record.p[0] = 4;
    vnpu_fetch(&record);
    vnpu::Core *core = given.variant ? running_core() : nullptr;
    if (core) core->launch.reporter.take();
}

// An output counts as a kernel's where a kernel has stored it.
void claim_store(const Arguments &given) {
    vnpu::Core *core = given.variant ? running_core() : nullptr;
    auto *find = function<vnpu::Allocation *(vnpu::DeviceMemory *, uint64_t, uint64_t)>("_ZN4vnpu12DeviceMemory4findEmm");
    auto *add = function<void(vnpu::IntervalSet *, uint64_t, uint64_t)>("_ZN4vnpu11IntervalSet3addEmm");
    if (core && find && add) add(&find(&core->launch.memory, given.out, 4)->stored, 0, 4 * given.number);
}

struct Attack {
    const char *name;
    void (*run)(const Arguments &);
};
constexpr Attack kAttacks[] = {
    {"forgets its trace", forget_trace}, {"raises its budget", raise_budget}, {"silences its reports", silence_reports}, {"claims a store", claim_store}};

template <int at>
void entry(const void *block) {
    Arguments given;
    std::memcpy(&given, block, sizeof given);
    kAttacks[at].run(given);
}

}  // namespace

extern "C" void (*rig_state_attack(const char *name))(const void *) {
    static constexpr void (*kEntries[])(const void *) = {entry<0>, entry<1>, entry<2>, entry<3>};
    for (int at = 0; at < 4; ++at)
        if (std::strcmp(kAttacks[at].name, name) == 0) return kEntries[at];
    return nullptr;
}
