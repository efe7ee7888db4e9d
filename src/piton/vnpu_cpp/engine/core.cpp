#include "core.h"

#include <atomic>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace vnpu {

Core *running = nullptr;

namespace {

// On-chip memory starts as quiet NaNs (and -1): a kernel that uses what it never wrote sees it. Fixed, so that every run is the same.
constexpr int kPoison = 0xff;

// Program-order estimate of a copy's transfer, for the budget and GetSystemCycle only: 64 B per cycle, the order of the per-core rates of the chip tables.
constexpr uint64_t kBudgetBytesPerCycle = 64;

// The memories of a cube core.
struct CubeSpace {
    uint8_t space;
    const char *name;
    const char *title;
    uint64_t ChipLimits::*capacity;
};
constexpr CubeSpace kCubeSpaces[] = {
    {VNPU_SPACE_L1, "L1", "L1", &ChipLimits::l1_bytes},
    {VNPU_SPACE_L0A, "L0A", "L0A", &ChipLimits::l0a_bytes},
    {VNPU_SPACE_L0B, "L0B", "L0B", &ChipLimits::l0b_bytes},
    {VNPU_SPACE_L0C, "L0C", "L0C", &ChipLimits::l0c_bytes},
    {VNPU_SPACE_FB, "fixpipe buffer", "the fixpipe buffer", &ChipLimits::fb_bytes},
    {VNPU_SPACE_BT, "bias table", "the bias table", &ChipLimits::bt_bytes},
};

const CubeSpace *cube_space(uint8_t space) {
    for (const CubeSpace &cube : kCubeSpaces)
        if (cube.space == space) return &cube;
    return nullptr;
}

Notebook *notebook_of(Launch &launch, uint32_t index) {
    BlockTimeline *recorded = launch.timeline ? launch.timeline->of(index) : nullptr;
    return recorded ? &recorded->notes : nullptr;
}

}  // namespace

uint32_t Places::index(const Place &place) {
    const uint64_t rest = static_cast<uint64_t>(place.line) << 32 | static_cast<uint64_t>(place.opcode) << 8 | place.flags;
    const auto [known, is_new] = known_.try_emplace({place.file, rest}, static_cast<uint32_t>(all_.size()));
    if (is_new) all_.push_back(place);
    return known->second;
}

Launch::Launch(const EngineOptions &options_, const ChipModel &chip_, DeviceMemory &memory_)
    : options(options_), chip(chip_), limits(limits_of(chip_)), memory(memory_), reporter(options_.max_diagnostics) {
    static std::atomic<uint64_t> launches{0};
    serial = ++launches;
}

Launch::~Launch() {
    if (system_workspace != 0) memory.release(system_workspace);
}

uint64_t Launch::workspace_of_runtime() {
    constexpr uint64_t kBytes = 16u << 20;  // what GetLibApiWorkSpaceSize answers
    if (system_workspace == 0) system_workspace = memory.allocate(kBytes, Owner::Host, true);
    return system_workspace;
}

Core::Core(Launch &launch_, uint32_t index_, std::vector<uint8_t> ub_)
    : launch(launch_),
      index(index_),
      ub(std::move(ub_)),
      notes(notebook_of(launch_, index_)),
      budget_left(static_cast<int64_t>(launch_.options.budget_cycles)) {
    acquaintance.core = index;
    ub.resize(launch.limits.ub_bytes);
    std::memset(ub.data(), moves_data() ? kPoison : 0, ub.size());
    if (!moves_data()) return;
    undefined.reset(ub.size());
    std::fill(std::begin(compared.is_undefined), std::end(compared.is_undefined), true);
}

const char *memory_title(uint8_t space) {
    const CubeSpace *cube = cube_space(space);
    return cube ? cube->title : "the unified buffer";
}

OnChip on_chip(Core &core, uint8_t space) {
    const CubeSpace *cube = cube_space(space);
    if (!cube) return {"UB", "the unified buffer", core.ub, core.undefined, core.ub_map, core.ub_unordered};
    CubeMemory &memory = core.cube_memory[space];
    if (memory.bytes.empty()) {
        memory.bytes.assign(core.launch.limits.*cube->capacity, core.moves_data() ? kPoison : 0);
        if (core.moves_data()) memory.undefined.reset(memory.bytes.size());
    }
    return {cube->name, cube->title, memory.bytes, memory.undefined, memory.map, memory.unordered};
}

void Core::cut() {
    launch.is_cut = true;
    fibre->abandon();
}

void Core::fail(const vnpu_record &record, const std::string &cause, const std::string &message, Numbers numbers) {
    report(record, cause, message, std::move(numbers));
    cut();
}

void Core::report(const vnpu_record &record, const std::string &cause, const std::string &message, Numbers numbers) {
    launch.reporter.violation(place_of(record), index, cause, message, std::move(numbers));
}

void Core::note(const vnpu_record &record, const std::string &kind, const std::string &message, Numbers numbers) {
    launch.reporter.finding(place_of(record), index, kind, message, std::move(numbers));
}

uint64_t Core::code_blocks() const { return launch.options.budget_cycles - static_cast<uint64_t>(budget_left) - charged; }

void Core::append_work(uint64_t cycles) {
    TraceEntry code;
    code.pipe = VNPU_PIPE_S;
    code.issue_cycles = 0;
    code.code_cycles = static_cast<uint32_t>(cycles);
    code.line = last_place.line;
    trace.push_back(code);
    if (notes) notes->keep({});
}

uint32_t Core::price_code() {
    constexpr uint64_t kMost = 1u << 31;
    const uint64_t blocks = code_blocks();
    uint64_t cycles = (blocks - priced_blocks) * launch.limits.code_block_cycles;
    priced_blocks = blocks;
    for (; cycles > kMost; cycles -= kMost) append_work(kMost);
    return static_cast<uint32_t>(cycles);
}

void Core::append(const TraceEntry &given) {
    TraceEntry entry = given;
    entry.code_cycles = price_code();
    const bool is_copy = entry.kind == TraceKind::GmRead || entry.kind == TraceKind::GmWrite;
    const uint64_t transfer = is_copy ? static_cast<uint64_t>(entry.blocks) * entry.block_bytes / kBudgetBytesPerCycle : 0;
    const uint64_t cost = entry.cycles + entry.issue_cycles + transfer;
    budget_left -= static_cast<int64_t>(cost);
    charged += cost;
    clock.add(entry, entry.cycles + transfer, scalar_code());
    trace.push_back(entry);
    if (notes && record) notes->keep(*record);
}

}  // namespace vnpu
