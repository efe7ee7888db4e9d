/* Launching: blocks as fibres one after another, in rounds between SyncAll; then the replay gives the time. */
#include <algorithm>
#include <exception>
#include <stdexcept>

#include "block_locals.h"
#include "core.h"

namespace vnpu {

struct Engine::State {
    std::shared_ptr<const ChipModel> chip;
    DeviceMemory &memory;
    EngineOptions options;
    std::shared_ptr<MemoryState> l2;
    std::vector<std::unique_ptr<Fibre>> idle_fibres;
    std::vector<std::vector<uint8_t>> idle_buffers;
};

namespace {

// A core that has started and not ended.
struct Block {
    Core *core;
    std::unique_ptr<Fibre> fibre;
    BlockLocals locals;
};

void violation(Launch &launch, int64_t core, const std::string &cause, const std::string &message, Numbers numbers = {}) {
    launch.reporter.violation(Place{}, core, cause, message, std::move(numbers));
}

// Body of a fibre. An exception must not cross it: there is nothing to unwind into on the other side.
void run_program(void *argument) {
    Core &core = *static_cast<Core *>(argument);
    try {
        run_kernel(*core.launch.kernel, core.is_cube(), core.launch.arguments);
        end_of_program(core);
    } catch (const std::exception &error) {
        violation(core.launch, core.index, "device_exception", std::string("the kernel threw an exception: ") + error.what());
        core.launch.is_cut = true;
    } catch (...) {  // whatever a kernel throws is its failure, not ours
        violation(core.launch, core.index, "device_exception", "the kernel threw something that is not a std::exception");
        core.launch.is_cut = true;
    }
}

bool is_launchable(Launch &launch) {
    const vnpu_kernel &kernel = *launch.kernel;
    if (kernel.abi_version != VNPU_ABI_VERSION) throw std::runtime_error("device library and engine have different ABI versions: rebuild the device library");
    if (kernel.core_kind > VNPU_CORE_MIX_1_2) throw std::runtime_error("device library names a kind of kernel that does not exist: rebuild it");
    if (launch.groups.blocks == 0) {
        violation(launch, -1, "bad_parameter", std::string("kernel ") + kernel.title + " launched with 0 blocks", {{"blocks", 0}});
        return false;
    }
    if (kernel.local_bytes <= kMostLocalBytes) return true;
    violation(launch, -1, "unsupported_api",
              "the variables that every core has for itself (__BLOCK_LOCAL__) take " + std::to_string(kernel.local_bytes) +
                  " bytes in this library, more than the " + std::to_string(kMostLocalBytes) + " that are supported; keep large data in the unified buffer",
              {{"bytes", kernel.local_bytes}});
    return false;
}

}  // namespace

void note_surplus_blocks(Launch &launch) {
    const Groups &groups = launch.groups;
    const uint32_t at_once = launch.blocks_at_once();
    if (groups.blocks <= at_once) return;
    const std::string places = groups.is_mixed() ? " pairs of a cube core and its vector cores" : " cores";
    launch.reporter.finding(Place{}, -1, "surplus_blocks",
                            std::to_string(groups.blocks) + " blocks on " + std::to_string(at_once) + places + ": they run in waves",
                            {{"blocks", groups.blocks}, {"cores", at_once}});
}

/* The scheduler of one launch. */
class Schedule {
public:
    Schedule(Launch &launch, LaunchTrace &trace, std::vector<std::unique_ptr<Fibre>> &fibres, std::vector<std::vector<uint8_t>> &buffers)
        : launch_(launch), trace_(trace), fibres_(fibres), buffers_(buffers) {}

    // Every block to its end, or until the launch is cut.
    void run() {
        trace_.cores.resize(launch_.groups.cores());
        for (uint32_t index = 0; index < launch_.groups.cores() && goes_on(); ++index) {
            start(index);
            if (launch_.groups.is_mixed() && (index + 1) % launch_.groups.members() == 0) finish_block();
        }
        while (!waiting_.empty() && goes_on())
            if (!advance_ready() && !release_readers()) deadlock();
        if (goes_on()) report_left_cross_flags(launch_);
    }

private:
    bool goes_on() const { return !launch_.is_cut && !launch_.restart_as; }

    void start(uint32_t index) {
        cores_.push_back(std::make_unique<Core>(launch_, index, take_buffer()));
        Block block{cores_.back().get(), take_fibre(), BlockLocals(*launch_.kernel)};
        block.core->fibre = block.fibre.get();
        block.fibre->start(run_program, block.core);
        advance(std::move(block));
        if (waiting_.empty()) cores_.clear();  // nobody will need it again: one core's state is enough for a launch without SyncAll
    }

    // The cores of a block mostly wait for each other only: what they hold is needed no more when they have ended, before the next block begins.
    void finish_block() {
        while (goes_on() && advance_ready()) continue;
        if (waiting_.empty()) cores_.clear();
    }

    void advance(Block block) {
        running = block.core;
        block.locals.enter();
        block.fibre->resume();
        block.locals.leave();
        running = nullptr;
        if (!block.fibre->is_done()) {
            waiting_.push_back(std::move(block));
            return;
        }
        if (ended_ == 0) first_end_ = {block.core->index, block.core->last_place};
        trace_.cores[block.core->index] = std::move(block.core->trace);
        buffers_.push_back(std::move(block.core->ub));
        fibres_.push_back(std::move(block.fibre));
        ++ended_;
    }

    // Cores that wait for another core which has done its part meanwhile; false when there is none.
    bool advance_ready() {
        std::vector<Block> blocks = std::move(waiting_);
        waiting_.clear();
        bool has_moved = false;
        for (Block &block : blocks) {
            const bool is_ready = goes_on() && can_go_on(launch_, *block.core, block.core->waiting);
            has_moved = has_moved || is_ready;
            is_ready ? advance(std::move(block)) : waiting_.push_back(std::move(block));
        }
        return has_moved;
    }

    // Cores that read a word again and again go on with what they have: their kernel may give up by itself.
    bool release_readers() {
        constexpr uint32_t kMostTries = 1000000;  // of all cores with nothing new for anybody: every one is kept in the trace
        if (launch_.cross.word_stores != stores_at_release_) tries_ = 0;
        stores_at_release_ = launch_.cross.word_stores;
        bool has_released = false;
        for (Block &block : waiting_) {
            if (block.core->waiting.kind != Waiting::Kind::Word) continue;
            block.core->waiting.is_released = has_released = true;
            ++tries_;
        }
        return has_released && tries_ <= kMostTries;
    }

    void deadlock() {
        // Somebody in a flag's wait says more than those at a SyncAll, which may be there for want of the former only.
        const auto at_flag =
            std::find_if(waiting_.begin(), waiting_.end(), [](const Block &block) { return block.core->waiting.kind != Waiting::Kind::SyncAll; });
        const Core &core = *(at_flag == waiting_.end() ? waiting_.front() : *at_flag).core;
        const uint32_t cores = launch_.groups.cores();
        launch_.reporter.violation(core.last_wait, core.index, "deadlock",
                                   describe(core.last_wait) + ": " + std::to_string(waiting_.size()) + " of " + std::to_string(cores) +
                                       (launch_.groups.is_mixed() ? " cores" : " blocks") + " wait for ever, " + launch_.groups.name(core.index) + " here" +
                                       why_for_ever(core) + whereabouts(core),
                                   {{"waiting", static_cast<int64_t>(waiting_.size())}, {"blocks", launch_.groups.blocks}});
        launch_.is_cut = true;
    }

    std::string why_for_ever(const Core &core) const {
        if (core.waiting.kind == Waiting::Kind::SyncAll)
            return core.waiting.id == kSyncOfAll || !launch_.groups.is_mixed()
                       ? "; the others ended without this SyncAll: every core has to call it, and equally often"
                       : "; not every core of this kind came to this SyncAll<true>; SyncAll<false> joins cube and vector cores";
        if (core.waiting.kind == Waiting::Kind::SoftFlag)
            return " for a flag in global memory that nobody sets any more; needed: the matching set (IBSet, NotifyNextBlock) on another core";
        if (core.waiting.kind == Waiting::Kind::Word)
            return " for another value at " + hex(core.waiting.address) +
                   ", which nobody stores any more; needed on another core: WriteGmByPassDCache, or "
                   "SetValue and DataCacheCleanAndInvalid";
        return " for a flag that no other core sets any more: " + progress_of_flag(launch_, core);
    }

    // What became of a core that the others wait for.
    std::string whereabouts(const Core &core) const {
        const Groups &groups = launch_.groups;
        if (ended_ > 0 && !groups.is_mixed()) return "; " + groups.name(first_end_.core) + " ended, its last call: " + describe(first_end_.last);
        for (const Block &block : waiting_)  // of the same block first: it is what a core of a mixed launch waits for
            if (is_partner(core, *block.core)) return waits_in(*block.core);
        for (const Block &block : waiting_)
            if (block.core->index != core.index) return waits_in(*block.core);
        if (ended_ > 0) return "; " + groups.name(first_end_.core) + " ended, its last call: " + describe(first_end_.last);
        return "";
    }

    bool is_partner(const Core &core, const Core &other) const {
        const Groups &groups = launch_.groups;
        return core.index != other.index && groups.block_of(core.index) == groups.block_of(other.index) &&
               groups.is_cube(core.index) != groups.is_cube(other.index);
    }

    std::string waits_in(const Core &core) const { return "; " + launch_.groups.name(core.index) + " waits in " + describe(core.last_wait); }

    // The first core that came to its end.
    struct End {
        uint32_t core = 0;
        Place last;
    };

    std::vector<uint8_t> take_buffer() {
        if (buffers_.empty()) return {};
        std::vector<uint8_t> buffer = std::move(buffers_.back());
        buffers_.pop_back();
        return buffer;
    }

    std::unique_ptr<Fibre> take_fibre() {
        if (fibres_.empty()) return std::make_unique<Fibre>();
        std::unique_ptr<Fibre> fibre = std::move(fibres_.back());
        fibres_.pop_back();
        return fibre;
    }

    Launch &launch_;
    LaunchTrace &trace_;
    std::vector<std::unique_ptr<Fibre>> &fibres_;
    std::vector<std::vector<uint8_t>> &buffers_;
    std::vector<std::unique_ptr<Core>> cores_;
    std::vector<Block> waiting_;
    uint32_t ended_ = 0;
    uint32_t tries_ = 0, stores_at_release_ = 0;  // in a row, without a store past the cache between
    End first_end_;
};

namespace {

// All cores of the blocks that are to be recorded; each keeps an equal part of the instructions.
std::shared_ptr<LaunchTimeline> new_timeline(const TimelineOptions &options, const Groups &groups) {
    if (!options.is_on) return nullptr;
    auto timeline = std::make_shared<LaunchTimeline>();
    const std::vector<uint32_t> recorded = recorded_blocks(options, groups.blocks);
    const uint32_t members = groups.members();
    for (size_t at = 0; at < recorded.size() * members; ++at) {
        timeline->blocks.emplace_back();
        timeline->blocks.back().block = recorded[at / members] * members + static_cast<uint32_t>(at % members);
        timeline->blocks.back().notes = Notebook(options.instructions / (recorded.size() * members));
    }
    return timeline;
}

void note_auto_sync(Launch &launch) {
    if (!launch.auto_syncs) return;
    launch.reporter.finding(
        launch.first_auto_sync, -1, "auto_sync_relied_on",
        std::to_string(launch.auto_syncs) + " dependences are ordered only by the compiler's auto-sync, which is on by default; the first is here",
        {{"count", static_cast<int64_t>(launch.auto_syncs)}});
}

// The replay stops where no core can go on: what execution in program order could not see, such as a flag that comes too late.
void replay_into(LaunchReport &report, Launch &launch, const LaunchTrace &trace, MemoryState &l2) {
    try {
        report.timing = replay(launch.chip, trace, l2, launch.timeline.get());
        report.timeline = launch.timeline;
    } catch (const std::runtime_error &error) {
        violation(launch, -1, "deadlock", error.what());
        launch.is_cut = true;
    }
}

LaunchReport report_of(Launch &launch, LaunchTrace &trace, MemoryState &l2) {
    trace.core_kind = launch.groups.kind;
    if (launch.groups.blocks != 0) note_surplus_blocks(launch);
    LaunchReport report;
    if (!launch.is_cut) replay_into(report, launch, trace, l2);
    note_auto_sync(launch);
    report.is_cut = launch.is_cut;
    report.instructions = launch.instructions;
    report.diagnostics = launch.reporter.take();
    return report;
}

}  // namespace

Engine::Engine(std::shared_ptr<const ChipModel> chip, DeviceMemory &memory) : state_(new State{std::move(chip), memory, {}, nullptr, {}, {}}) { cold_start(); }

Engine::~Engine() = default;

void Engine::configure(const EngineOptions &options) { state_->options = options; }

void Engine::cold_start() { state_->l2 = cold_memory(*state_->chip); }

namespace {

// The kernel and what it is launched with.
struct Job {
    const vnpu_kernel &kernel;
    const void *arguments;
    uint32_t blocks;
};

void prepare(Launch &launch, const Job &job, const std::optional<TaskType> &said) {
    launch.kernel = &job.kernel;
    launch.arguments = job.arguments;
    launch.groups = {said ? said->kind : job.kernel.core_kind, job.blocks};
    if (said) launch.kind_rank = said->rank;
    launch.timeline = new_timeline(launch.options.timeline, launch.groups);
}

}  // namespace

LaunchReport Engine::launch(const vnpu_kernel &kernel, const void *arguments, uint32_t blocks) {
    const Job job{kernel, arguments, blocks};
    std::optional<TaskType> said;  // by the kernel when it started
    for (;;) {
        Launch launch(state_->options, *state_->chip, state_->memory);
        prepare(launch, job, said);
        LaunchTrace trace;
        if (is_launchable(launch))
            Schedule(launch, trace, state_->idle_fibres, state_->idle_buffers).run();
        else
            launch.is_cut = true;
        if (launch.engine_failure) std::rethrow_exception(launch.engine_failure);
        said = launch.restart_as ? launch.restart_as : other_kind(launch);
        if (!said) return report_of(launch, trace, *state_->l2);
    }
}

uint64_t Engine::copy(uint64_t bytes) { return copy_cycles(*state_->chip, bytes, *state_->l2); }

}  // namespace vnpu
