/* From a record to what it does; the two functions device code calls. */
#include "access.h"
#include "core.h"
#include "frames.h"

namespace vnpu {

namespace {

[[noreturn]] void refuse(Core &core, const vnpu_record &record) {
    core.fail(record, "unsupported_api", api_name(place_of(record)) + " is not supported by the virtual NPU", {{"opcode", record.opcode}});
}

bool is_vector(uint16_t opcode) { return opcode >= VNPU_OP_ADD && opcode <= VNPU_OP_DUPLICATE; }

// Register writes cost time and touch no memory; the hardware orders them.
void charge(Core &core, const vnpu_record &record) { core.append(cost_of(core.launch.chip, record, 0, 0)); }

void set_register(Core &core, const vnpu_record &record) {
    switch (record.opcode) {
        case VNPU_OP_SET_MASK:
        case VNPU_OP_SET_MASK_MODE:
            set_mask(core.mask, record);
            break;
        case VNPU_OP_SET_PAD_VALUE:
            core.pad_value = record.scalar;
            break;
        case VNPU_OP_SET_DEQ_SCALE:
            core.deq_scale = record.scalar;
            break;
        case VNPU_OP_SET_CTRL:
            core.ctrl = record.scalar;
            break;
        case VNPU_OP_SET_ADDRESSES:
            set_addresses(core, record);
            break;
        case VNPU_OP_SET_SYS_WORKSPACE:
            core.sys_workspace = record.scalar;
            break;
        case VNPU_OP_SET_IMAGE:
            set_image_register(core, record);
            break;
        case VNPU_OP_SET_FIXPIPE:
            set_fix_register(core, record);
            break;
        default:
            set_atomic(core, record);
    }
    charge(core, record);
}

uint64_t capacity(const Core &core, uint32_t space) {
    const ChipLimits &limits = core.launch.limits;
    switch (space) {
        case VNPU_SPACE_UB:
            return core.is_cube() ? 0 : limits.ub_bytes;
        case VNPU_SPACE_L1:
            return core.is_cube() ? limits.l1_bytes : 0;
        case VNPU_SPACE_L0A:
            return core.is_cube() ? limits.l0a_bytes : 0;
        case VNPU_SPACE_L0B:
            return core.is_cube() ? limits.l0b_bytes : 0;
        case VNPU_SPACE_L0C:
            return core.is_cube() ? limits.l0c_bytes : 0;
        case VNPU_SPACE_BT:
            return core.is_cube() ? limits.bt_bytes : 0;
        case VNPU_SPACE_FB:
            return core.is_cube() ? limits.fb_bytes : 0;
        default:
            return 0;
    }
}

// Ticks of the chip's system counter, from the core's clock in program order: the replay comes later and never feeds back.
uint64_t system_cycle(const Core &core) {
    const ChipLimits &limits = core.launch.limits;
    const uint64_t now = core.clock.now(core.scalar_code());
    return static_cast<uint64_t>(static_cast<unsigned __int128>(now) * limits.system_cycle_hz / limits.clock_hz);
}

}  // namespace

void execute(Core &core, const vnpu_record &record) {
    check_pipe(core, record);
    if (is_vector(record.opcode)) return run_vector(core, record);
    switch (record.opcode) {
        case VNPU_OP_COMPARE:
            return run_compare(core, record);
        case VNPU_OP_GET_CMP_MASK:
        case VNPU_OP_SET_CMP_MASK:
            return run_cmp_mask(core, record);
        case VNPU_OP_GATHER_BLOCKS:
            return run_gather_blocks(core, record);
        case VNPU_OP_SELECT:
            return run_select(core, record);
        case VNPU_OP_REDUCE_SUM:
        case VNPU_OP_REDUCE_MAX:
        case VNPU_OP_REDUCE_MIN:
            return run_reduce_all(core, record);
        case VNPU_OP_WHOLE_REDUCE_SUM:
        case VNPU_OP_WHOLE_REDUCE_MAX:
        case VNPU_OP_WHOLE_REDUCE_MIN:
        case VNPU_OP_BLOCK_REDUCE_SUM:
        case VNPU_OP_BLOCK_REDUCE_MAX:
        case VNPU_OP_BLOCK_REDUCE_MIN:
        case VNPU_OP_PAIR_REDUCE_SUM:
            return run_group_reduce(core, record);
        case VNPU_OP_BRCB:
            return run_brcb(core, record);
        case VNPU_OP_GATHER:
            return run_gather(core, record);
        case VNPU_OP_CREATE_VEC_INDEX:
            return run_create_vec_index(core, record);
        case VNPU_OP_SORT32:
            return run_sort32(core, record);
        case VNPU_OP_MRG_SORT:
            return run_mrg_sort(core, record);
        case VNPU_OP_TRANS_5HD:
            return run_trans_5hd(core, record);
        case VNPU_OP_TRANSPOSE:
            return run_transpose(core, record);
        case VNPU_OP_DATA_COPY:
        case VNPU_OP_DATA_COPY_PAD:
            return run_copy(core, record);
        case VNPU_OP_DATA_COPY_ND2NZ:
            return run_nd2nz(core, record);
        case VNPU_OP_LOAD_DATA:
        case VNPU_OP_LOAD_DATA_TRANSPOSE:
            return run_load_data(core, record);
        case VNPU_OP_LOAD_SPARSE:
            return run_load_sparse(core, record);
        case VNPU_OP_LOAD_IMAGE:
            return run_load_image(core, record);
        case VNPU_OP_MMAD:
            return run_mmad(core, record);
        case VNPU_OP_FILL:
            return run_fill(core, record);
        case VNPU_OP_FIXPIPE:
            return run_fixpipe(core, record);
        case VNPU_OP_SCALAR_STORE:
            return scalar_store(core, record);
        case VNPU_OP_PAST_CACHE_STORE:
            return store_past_cache(core, record);
        case VNPU_OP_CACHE_CLEAN:
            return cache_clean(core, record);
        case VNPU_OP_SET_FLAG:
            return set_flag(core, record);
        case VNPU_OP_WAIT_FLAG:
            return wait_flag(core, record);
        case VNPU_OP_BARRIER:
            return pipe_barrier(core, record);
        case VNPU_OP_SYNC_ALL:
            return sync_all(core, record);
        case VNPU_OP_CROSS_SET:
            return cross_set(core, record);
        case VNPU_OP_CROSS_WAIT:
            return cross_wait(core, record);
        case VNPU_OP_SOFT_WAIT:
            return soft_wait(core, record);
        case VNPU_OP_SET_MASK:
        case VNPU_OP_SET_MASK_MODE:
        case VNPU_OP_SET_ATOMIC:
        case VNPU_OP_SET_PAD_VALUE:
        case VNPU_OP_SET_DEQ_SCALE:
        case VNPU_OP_SET_CTRL:
        case VNPU_OP_SET_ADDRESSES:
        case VNPU_OP_SET_SYS_WORKSPACE:
        case VNPU_OP_SET_IMAGE:
        case VNPU_OP_SET_FIXPIPE:
            return set_register(core, record);
        case VNPU_OP_PRINT:
            return print_text(core, record);
        case VNPU_OP_BUFFER_INIT:
            return buffer_init(core, record);
        case VNPU_OP_PIPE_BEGIN:
            return pipe_begin(core, record);
        case VNPU_OP_PIPE_END:
            return pipe_end(core, record);
        case VNPU_OP_TASK_TYPE:
            return task_type(core, record);
        case VNPU_OP_BUFFER_ACQUIRE:
        case VNPU_OP_BUFFER_RELEASE:
            return buffer_use(core, record);
        case VNPU_OP_FAULT:
            framework_fault(core, record);
        default:
            refuse(core, record);
    }
}

uint64_t answer(Core &core, const vnpu_record &record) {
    check_pipe(core, record);
    switch (record.opcode) {
        case VNPU_OP_SCALAR_LOAD:
            return scalar_load(core, record);
        case VNPU_OP_PAST_CACHE_LOAD:
            return load_past_cache(core, record);
        case VNPU_OP_GATHER_MASK:
            return run_gather_mask(core, record);
        case VNPU_OP_GET_BLOCK_IDX:
            return core.launch.groups.number(core.index);
        case VNPU_OP_GET_BLOCK_NUM:
            core.asks_blocks = true;
            return core.launch.groups.blocks;
        case VNPU_OP_GET_SUB_BLOCK_IDX:
            return core.launch.groups.sub_block(core.index);
        case VNPU_OP_GET_TASK_RATIO:
            core.asks_ratio = true;
            return core.launch.groups.ratio(core.index);
        case VNPU_OP_GET_SYSTEM_CYCLE:
            return system_cycle(core);
        case VNPU_OP_GET_REDUCE_SUM:
            return core.reduced_sum;
        case VNPU_OP_SOFT_SET:
            return soft_set(core, record);
        case VNPU_OP_GET_PIPE:
            return core.pipes.empty() ? 0 : core.pipes.back();
        case VNPU_OP_GET_CORE_KIND:
            if (record.p[0] == 2) return core.launch.serial;
            if (record.p[0] == 1) return core.launch.groups.kind;
            return core.is_cube() ? VNPU_CORE_AIC : VNPU_CORE_AIV;
        case VNPU_OP_GET_REDUCE_BEST:
            return record.p[0] == 0 ? core.best.bits : core.best.index;
        case VNPU_OP_GET_MRG_RESULT:
            return core.merged_counts;
        case VNPU_OP_GET_CTRL:
            return core.ctrl;
        case VNPU_OP_GET_SYS_WORKSPACE:
            return core.sys_workspace != 0 ? core.sys_workspace : core.launch.workspace_of_runtime();
        case VNPU_OP_GET_CAPACITY:
            return capacity(core, record.p[0]);
        default:
            refuse(core, record);
    }
}

namespace {

// `place` is that of the record that used up the budget; without one, scalar code did, and `calls`, those on its stack, say where it stands.
[[noreturn]] void exhausted(Core &core, const Place &place, std::vector<uint64_t> calls) {
    const auto budget = static_cast<int64_t>(core.launch.options.budget_cycles), used = budget - core.budget_left;
    const std::string last = core.last_place.line ? "; the last instruction before was " + describe(core.last_place) : "";
    const std::string message = "core " + std::to_string(core.index) + " was still running after its budget of " + std::to_string(budget) +
                                " cycles; a loop whose condition never changes is the usual reason" + (place.line ? "" : last);
    const Numbers numbers = {{"used_cycles", used}, {"budget_cycles", budget}, {"instructions", static_cast<int64_t>(core.trace.size())}};
    core.launch.reporter.violation(place, core.index, "device_budget", message, numbers, std::move(calls));
    core.cut();
}

void finish(Core &core, const vnpu_record &record) {
    ++core.launch.instructions;
    core.last_place = place_of(record);
    if (core.budget_left < 0) exhausted(core, core.last_place, core.last_place.line ? std::vector<uint64_t>{} : calls_on_stack());
}

// A failure of the engine must not pass through device code, which could catch it or be blamed for it.
template <class Job>
void guarded(Core &core, Job &&job) {
    try {
        job();
    } catch (...) {  // any kind: it is kept and thrown again by Engine::launch
        core.launch.engine_failure = std::current_exception();
        core.cut();
    }
}

}  // namespace

void scalar_exhausted(Core &core, std::vector<uint64_t> calls) {
    core.budget_left = -1;  // the budget ends with the first block beyond it
    exhausted(core, Place{}, std::move(calls));
}

}  // namespace vnpu

extern "C" void vnpu_submit(const vnpu_record *record) {
    vnpu::Core *core = vnpu::running;
    if (!core) return;  // a static object of the device library made an API call while it was loaded: there is no core to run it
    core->record = record;
    vnpu::guarded(*core, [&] {
        vnpu::execute(*core, *record);
        vnpu::finish(*core, *record);
    });
}

extern "C" uint64_t vnpu_fetch(const vnpu_record *record) {
    vnpu::Core *core = vnpu::running;
    if (!core) return 0;
    uint64_t value = 0;
    core->record = record;
    vnpu::guarded(*core, [&] {
        value = vnpu::answer(*core, *record);
        vnpu::finish(*core, *record);
    });
    return value;
}

// Called by the compiler's coverage instrumentation at every basic block of device code: a scalar loop without records must end too. One cycle each, the
// least a block can take.
extern "C" __attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc() {
    vnpu::Core *core = vnpu::running;
    if (core && --core->budget_left < 0) vnpu::exhausted(*core, vnpu::Place{}, vnpu::calls_on_stack());
}
