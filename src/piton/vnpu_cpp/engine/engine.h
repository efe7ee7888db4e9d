/*
 * The engine: executes records, checks them, keeps on-chip memory, and appends the trace.
 * One Engine serves one device process; vnpu_submit and vnpu_fetch reach the running core through it.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "memory.h"
#include "timeline.h"
#include "timing.h"

namespace vnpu {

// One violation or observation. `cause` and `kind` are the strings of piton.core.verdict.Cause and piton.core.finding.FindingKind.
struct Diagnostic {
    bool is_finding = false;
    std::string cause;  // for a violation
    std::string kind;   // for a finding
    std::string message;
    std::string file;
    uint32_t line = 0;
    int64_t core = -1;
    std::string instruction;  // API name, such as DataCopyPad
    std::vector<std::pair<std::string, int64_t>> numbers;
    uint64_t occurrences = 1;
    std::vector<uint64_t> code;  // when no record gives the place: the calls on the stack, addresses inside the calling instructions
};

struct EngineOptions {
    bool auto_sync = true;
    bool is_pessimistic = false;                 // accuracy.h
    bool timing_only = false;                    // skip data and checks, keep the trace
    uint64_t budget_cycles = 10'000'000'000ull;  // per core, estimated in program order; scalar code counts by basic blocks
    uint32_t max_diagnostics = 32;
    TimelineOptions timeline;
};

struct LaunchReport {
    bool is_cut = false;  // ended early by a violation that leaves nothing to go on with, or by the budget
    uint64_t instructions = 0;
    LaunchTiming timing;                       // zero when cut
    std::vector<Diagnostic> diagnostics;       // merged by (cause, file, line, instruction), first occurrence kept
    std::shared_ptr<LaunchTimeline> timeline;  // null unless asked for, and when cut
};

class Engine {
public:
    Engine(std::shared_ptr<const ChipModel> chip, DeviceMemory &memory);
    ~Engine();
    void configure(const EngineOptions &options);
    void cold_start();  // new case: L2 cold
    LaunchReport launch(const vnpu_kernel &kernel, const void *arguments, uint32_t blocks);
    uint64_t copy(uint64_t bytes);  // cycles of a device-to-device copy

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Kernels registered by the device libraries loaded so far; null when the name is unknown.
const vnpu_kernel *find_kernel(const std::string &name);
std::vector<std::string> kernel_names();
// The kernel for a core of that kind, on the current fibre. Throws what the kernel throws.
void run_kernel(const vnpu_kernel &kernel, bool is_cube, const void *arguments);

}  // namespace vnpu
