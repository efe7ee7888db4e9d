/*
 * State of one launch and of each of its virtual cores. The one global of the engine is `running`: the core whose device code is on the stack now.
 */
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cross_core.h"
#include "data_cache.h"
#include "diagnostics.h"
#include "engine.h"
#include "fibre.h"
#include "freed.h"
#include "hazard.h"
#include "load_image.h"
#include "memory.h"
#include "on_chip_map.h"
#include "program_clock.h"
#include "shadow.h"
#include "shared.h"
#include "timing.h"
#include "unordered.h"

namespace vnpu {

// Source places seen in a launch, so that an access keeps a number.
class Places {
public:
    uint32_t index(const Place &place);
    const Place &at(uint32_t index) const { return all_[index]; }

private:
    std::vector<Place> all_;
    std::map<std::pair<const void *, uint64_t>, uint32_t> known_;
};

struct Core;

// The kind of core that a kernel says it runs on.
struct TaskType {
    uint32_t kind = VNPU_CORE_AIV;
    uint32_t rank = VNPU_TYPE_DEFAULT;  // enum vnpu_type_rank of who said so
};

struct Launch {
    Launch(const EngineOptions &options, const ChipModel &chip, DeviceMemory &memory);
    ~Launch();
    Launch(const Launch &) = delete;
    Launch &operator=(const Launch &) = delete;

    const EngineOptions options;
    const ChipModel &chip;
    const ChipLimits limits;
    DeviceMemory &memory;
    Reporter reporter;
    Places places;
    SharedAccesses shared;
    CrossState cross;
    const vnpu_kernel *kernel = nullptr;
    const void *arguments = nullptr;
    Groups groups;                       // the kind as declared (`__cube__`), or as the kernel says when it starts (KERNEL_TASK_TYPE_DEFAULT)
    std::optional<uint32_t> kind_rank;   // of who said so; nobody yet: vector cores, which a guess may change
    std::optional<TaskType> restart_as;  // the kernel says that it is of this kind, which has other cores: it starts anew with them
    uint64_t instructions = 0;
    uint64_t auto_syncs = 0;
    uint64_t printed_bytes = 0;
    bool has_stored = false;                 // something in global memory
    std::optional<Place> without_scheduler;  // of KERNEL_TASK_TYPE_DEFAULT with a type that cores can't meet in (KERNEL_TYPE_AIV_ONLY)
    Place first_auto_sync;
    bool is_cut = false;
    IntervalSet dirty;                         // GM bytes of scalar stores that still sit in some core's data cache
    std::shared_ptr<LaunchTimeline> timeline;  // null unless asked for
    std::exception_ptr engine_failure;         // ours, not the kernel's: thrown again outside device code

    uint64_t system_workspace = 0;  // what the runtime gives a kernel that nobody gave one; made when it is asked for
    uint64_t serial;                // of this launch in this process

    uint64_t workspace_of_runtime();
    uint32_t blocks_at_once() const { return vnpu::blocks_at_once(groups, limits.cores_aic, limits.cores_aiv); }
};

// The vector mask register and its mode.
struct MaskState {
    uint64_t bits[2] = {~0ull, ~0ull};
    bool is_counter = false;
    Place chosen, lost;  // of the call that set it, and of the call by count that put it back since; no line: there was none
};

// What copies to global memory do with the bytes that are there.
struct AtomicState {
    uint32_t mode = 0;  // enum of VNPU_OP_SET_ATOMIC: none, add, max, min
    uint8_t dtype = VNPU_DT_NONE;
    Place place;  // of the call that chose the mode
};

// The vector unit's compare register: bits of one repeat.
struct CompareRegister {
    uint8_t bytes[16] = {};
    bool is_undefined[16] = {};
};

// A memory of a cube core; a vector core has none of them. Empty until it is used.
struct CubeMemory {
    std::vector<uint8_t> bytes;
    UndefinedBytes undefined;
    OnChipMap map;
    UnorderedWrites unordered;
    IntervalSet spilt;  // written past the end of a tensor that was declared too small, where nothing lay
};

// What SetFixpipeNz2ndFlag, SetFixpipePreQuantFlag and SetFixPipeConfig set for DataCopy out of L0C.
struct FixRegisters {
    uint32_t matrices = 1, src_matrix = 0, dst_matrix = 0;  // number; fractals and elements from one to the next
    std::optional<uint64_t> parameter;                      // bits, for all columns
    std::optional<uint64_t> parameters;                     // byte in the fixpipe buffer of one per column
};

// Value and index that a maximum or minimum over several repeats leaves in a register.
struct BestOfRepeats {
    uint64_t bits = 0;
    uint64_t index = 0;
};

// Bit 48 of CTRL: 1 keeps infinities and NaNs of halves, 0 saturates them. The page of SetCtrlSpr gives 0 as the register's default; kernels start with 1
// since the runtime's default mode is the one with infinities (page of ReduceDataBlock).
constexpr uint64_t kCtrlKeepsInfinities = 1ull << 48;
constexpr uint64_t kCtrlAtStart = kCtrlKeepsInfinities;

struct PendingEvent {
    Prefix prefix;
    Place place;
};

// Key of an event: (source pipe, destination pipe, id).
inline uint32_t event_key(uint32_t from, uint32_t to, uint32_t id) { return from << 16 | to << 8 | id; }

struct Core {
    Core(Launch &launch, uint32_t index, std::vector<uint8_t> ub);

    Launch &launch;
    const uint32_t index;
    std::vector<uint8_t> ub;
    UndefinedBytes undefined;
    Clocks clocks;
    OnChipMap ub_map;
    UnorderedWrites ub_unordered;
    AccessMap gm_map;
    AccessMap gm_atomics;                      // atomic stores
    CubeMemory cube_memory[VNPU_SPACE_COUNT];  // by space
    IntervalSet buffers;                       // UB bytes that InitBuffer has given out
    DataCache cache;
    IntervalSet dirty;  // the part of launch.dirty that is this core's
    Place last_scalar_store;
    FreedTensors freed;
    std::map<uint32_t, std::vector<PendingEvent>> events;
    MaskState mask;
    AtomicState atomic;
    CompareRegister compared;
    uint64_t reduced_sum = 0;        // bits of the last ReduceSum by count
    BestOfRepeats best;              // of the last maximum or minimum over repeats
    uint64_t merged_counts = 0;      // elements that the last MrgSort took from its lists, 16 bits each
    uint16_t addresses[2][16] = {};  // source and destination of TransDataTo5HD, in blocks of 32 bytes
    ImageRegisters image;            // of LoadData as convolution
    FixRegisters fix;
    std::vector<uint8_t> sparse_places;  // that LoadDataWithSparse brought, a quarter of L0B: those of its byte a lie at a / 4; empty: none yet
    std::optional<uint64_t> deq_scale;   // a half, or what dequant.cpp says
    uint64_t ctrl = kCtrlAtStart;
    uint64_t sys_workspace = 0;
    bool asks_blocks = false, asks_ratio = false;  // it has called GetBlockNum, GetTaskRatio
    std::vector<uint64_t> pipes;                   // addresses of its TPipes, the newest last; never followed
    std::optional<uint64_t> pad_value;
    CoreTrace trace;
    Notebook *notes;                      // null when this block is not recorded
    const vnpu_record *record = nullptr;  // that is being executed
    int64_t budget_left;                  // cycles, in program order
    uint64_t charged = 0;                 // of the budget, by entries of the trace
    uint64_t priced_blocks = 0;           // of scalar code, by entries of the trace
    ProgramClock clock;
    Acquaintance acquaintance;                                // what it knows of other cores
    uint32_t epoch = 0;                                       // flags set for other cores so far
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> turns;  // sets so far, by mode and id
    Waiting waiting;                                          // what it stands at
    std::map<uint64_t, uint64_t> seen_words;                  // what it has read past its cache since its last such store, by address
    std::map<uint64_t, uint32_t> known_tokens;                // of the last store to it that it has read
    std::map<uint64_t, uint64_t> seen_flags;                  // what it has found in lines that it had cleaned just before, by address
    std::map<uint64_t, uint32_t> known_lines;                 // of the last write-back of the line that it has learned of, by address of the line
    std::map<uint64_t, uint64_t> cleaned;                     // lines that were cleaned and not loaded since, and the first byte that was
    std::shared_ptr<const Vouch> told;                        // of others, with the newest line that it wrote back
    Place last_wait;
    Place last_place;  // of the newest record, to say where a loop without end is
    Fibre *fibre = nullptr;
    uint32_t seat = 0;  // its number in a process of device code (remote/remote.h)

    // A violation that leaves nothing sensible to go on with: reported, then the launch is cut. Objects of device code on the stack are abandoned.
    [[noreturn]] void fail(const vnpu_record &record, const std::string &cause, const std::string &message, Numbers numbers = {});
    [[noreturn]] void cut();
    void report(const vnpu_record &record, const std::string &cause, const std::string &message, Numbers numbers = {});
    void note(const vnpu_record &record, const std::string &kind, const std::string &message, Numbers numbers = {});
    void append(const TraceEntry &entry);  // to the trace, charged to the budget
    uint64_t code_blocks() const;          // basic blocks of the kernel's own code so far: a cycle of the budget each
    uint64_t scalar_code() const { return code_blocks() * launch.limits.code_block_cycles; }  // cycles of S for them
    uint32_t price_code();              // cycles of S for the code since the last entry; what does not fit an entry gets entries of its own
    void append_work(uint64_t cycles);  // of S, for scalar code
    bool moves_data() const { return !launch.options.timing_only; }
    bool is_cube() const { return launch.groups.is_cube(index); }
};

extern Core *running;  // null outside device code

// One on-chip memory of a core: the unified buffer, or L1 and what is around the cube unit.
struct OnChip {
    const char *name;   // for messages
    const char *title;  // for messages
    std::vector<uint8_t> &bytes;
    UndefinedBytes &undefined;
    OnChipMap &map;
    UnorderedWrites &unordered;
};
OnChip on_chip(Core &core, uint8_t space);
const char *memory_title(uint8_t space);  // of an on-chip memory, for messages

// Execution of one record, by family.
void execute(Core &core, const vnpu_record &record);
uint64_t answer(Core &core, const vnpu_record &record);
[[noreturn]] void scalar_exhausted(Core &core, std::vector<uint64_t> calls);  // scalar code used up the budget; offsets or addresses of the calls on its stack
void run_vector(Core &core, const vnpu_record &record);
void run_cast_int4(Core &core, const vnpu_record &record);
void run_cast_dequant(Core &core, const vnpu_record &record);
void run_compare(Core &core, const vnpu_record &record);
void run_cmp_mask(Core &core, const vnpu_record &record);
void run_select(Core &core, const vnpu_record &record);
void run_reduce_all(Core &core, const vnpu_record &record);
void run_group_reduce(Core &core, const vnpu_record &record);
void run_brcb(Core &core, const vnpu_record &record);
void run_gather(Core &core, const vnpu_record &record);
void run_gather_blocks(Core &core, const vnpu_record &record);
uint64_t run_gather_mask(Core &core, const vnpu_record &record);
void run_create_vec_index(Core &core, const vnpu_record &record);
void run_sort32(Core &core, const vnpu_record &record);
void run_mrg_sort(Core &core, const vnpu_record &record);
void run_trans_5hd(Core &core, const vnpu_record &record);
void run_transpose(Core &core, const vnpu_record &record);
void set_addresses(Core &core, const vnpu_record &record);
void set_mask(MaskState &mask, const vnpu_record &record);
void print_text(Core &core, const vnpu_record &record);
void set_atomic(Core &core, const vnpu_record &record);
void run_copy(Core &core, const vnpu_record &record);
void run_nd2nz(Core &core, const vnpu_record &record);
void run_load_data(Core &core, const vnpu_record &record);
void run_load_sparse(Core &core, const vnpu_record &record);
void run_load_image(Core &core, const vnpu_record &record);
void run_bias_copy(Core &core, const vnpu_record &record);
void run_mmad(Core &core, const vnpu_record &record);
void run_fixpipe(Core &core, const vnpu_record &record);
void set_fix_register(Core &core, const vnpu_record &record);
void run_fill(Core &core, const vnpu_record &record);
uint64_t scalar_load(Core &core, const vnpu_record &record);
void scalar_store(Core &core, const vnpu_record &record);
void cache_clean(Core &core, const vnpu_record &record);
uint64_t load_past_cache(Core &core, const vnpu_record &record);
void store_past_cache(Core &core, const vnpu_record &record);
void set_flag(Core &core, const vnpu_record &record);
void wait_flag(Core &core, const vnpu_record &record);
void pipe_barrier(Core &core, const vnpu_record &record);
void sync_all(Core &core, const vnpu_record &record);
void cross_set(Core &core, const vnpu_record &record);
void cross_wait(Core &core, const vnpu_record &record);
void report_left_cross_flags(Launch &launch);
std::string progress_of_flag(const Launch &launch, const Core &core);
uint64_t soft_set(Core &core, const vnpu_record &record);
void soft_wait(Core &core, const vnpu_record &record);
bool can_go_on(const Launch &launch, const Core &core, const Waiting &waiting);
void buffer_init(Core &core, const vnpu_record &record);
void pipe_begin(Core &core, const vnpu_record &record);
void buffer_use(Core &core, const vnpu_record &record);
void pipe_end(Core &core, const vnpu_record &record);
void task_type(Core &core, const vnpu_record &record);
std::optional<TaskType> other_kind(const Launch &launch);  // to begin anew with, at the end of a launch
void note_surplus_blocks(Launch &launch);
[[noreturn]] void framework_fault(Core &core, const vnpu_record &record);
void end_of_program(Core &core);

}  // namespace vnpu
