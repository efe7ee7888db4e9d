/* What the framework classes (TPipe, TQue) tell the engine: buffers and misuse they found by themselves. */
#include <algorithm>

#include "core.h"

namespace vnpu {

namespace {

std::string bytes_text(int64_t bytes) { return std::to_string(bytes) + " bytes"; }

struct Fault {
    const char *cause;
    std::string message;
    Numbers numbers;
};

std::string bad_argument(const vnpu_record &record) {
    static constexpr const char *kModes[] = {"CAST_NONE", "CAST_RINT", "CAST_FLOOR", "CAST_CEIL", "CAST_ROUND", "CAST_TRUNC", "CAST_ODD", "CAST_HYBRID"};
    const std::string api = api_name(place_of(record)), value = std::to_string(static_cast<int64_t>(record.scalar));
    const auto low = static_cast<int64_t>(record.mask[0]), high = static_cast<int64_t>(record.mask[1]);
    if (api == "Cast" && record.p[1] == 2 && record.scalar < sizeof(kModes) / sizeof(kModes[0]))
        return std::string("Cast: the chip has no RoundMode::") + kModes[record.scalar] + " for this pair of types";
    const std::string range = low < high ? "the documented range is " + std::to_string(low) + " to " + std::to_string(high) : "outside the documented range";
    return api + ": argument " + std::to_string(record.p[1]) + " (counted from 0) is " + value + ", " + range;
}

Fault overflow_of(const vnpu_record &record) {
    const int64_t used = static_cast<int64_t>(record.scalar), available = record.p[1];
    const bool is_l1 = record.p[2] == VNPU_SPACE_L1;
    const std::string what = api_name(place_of(record)) + " asks for " + bytes_text(used) + " in all; ";
    const std::string there = available != 0 ? (is_l1 ? "L1 has " : "the unified buffer has ") + std::to_string(available)
                              : is_l1        ? "a vector core has no L1: declare the kernel __cube__"
                                             : "a cube core has no unified buffer";
    return {is_l1 ? "l1_overflow" : "ub_overflow", what + there, {{"used_bytes", used}, {"available_bytes", available}}};
}

Fault fault_of(const vnpu_record &record) {
    const int64_t a = record.p[1], b = record.p[2];
    const auto scalar = static_cast<int64_t>(record.scalar);
    switch (record.p[0]) {
        case VNPU_FAULT_UB_OVERFLOW:
            return overflow_of(record);
        case VNPU_FAULT_BUFFER_LIMIT:
            return {"buffer_limit",
                    "InitBuffer asks for " + std::to_string(a) + " buffers in all; a kernel has " + std::to_string(b),
                    {{"buffers", a}, {"limit", b}}};
        case VNPU_FAULT_QUEUE_EMPTY:
            return {"deadlock",
                    "AllocTensor waits for ever: all " + std::to_string(a) + " buffers of the queue are in use (FreeTensor missing?)",
                    {{"buffers", a}}};
        case VNPU_FAULT_QUEUE_FULL:
            return {"queue_misuse", "EnQue on a full queue: depth " + std::to_string(a) + " tensors are queued already", {{"depth", a}}};
        case VNPU_FAULT_NOTHING_QUEUED:
            return {"deadlock", "DeQue waits for ever: nothing was enqueued (EnQue missing?)", {}};
        case VNPU_FAULT_DOUBLE_FREE:
            return {"queue_misuse", "FreeTensor of a buffer that is free already", {}};
        case VNPU_FAULT_FOREIGN_TENSOR:
            return {"queue_misuse", "a tensor that does not belong to this queue", {}};
        case VNPU_FAULT_NO_EVENT_ID:
            return {"flag_misuse",
                    std::string("more than 8 events in flight from ") + pipe_name(record.p[1]) + " to " + pipe_name(record.p[2]),
                    {{"from", a}, {"to", b}}};
        case VNPU_FAULT_BAD_ARGUMENT:
            return {"bad_parameter", bad_argument(record), {{"argument", a}, {"value", scalar}}};
        case VNPU_FAULT_ASSERTION:
            return {"device_exception", std::string("the kernel's assertion failed: ") + reinterpret_cast<const char *>(record.src0.addr), {}};
        default:
            return {"protocol_violation", "an unknown fault number " + std::to_string(record.p[0]), {{"fault", record.p[0]}}};
    }
}

}  // namespace

void framework_fault(Core &core, const vnpu_record &record) {
    const Fault fault = fault_of(record);
    core.fail(record, fault.cause, fault.message, fault.numbers);
}

void buffer_init(Core &core, const vnpu_record &record) {
    if (record.dst.space != VNPU_SPACE_UB) return;  // of other memories nothing has to be known but their capacity, which TPipe checks
    if (core.notes) core.notes->note_use(record);
    const uint64_t end = record.dst.addr + record.dst.limit;
    core.buffers.add(record.dst.addr, end);
    if (end <= core.ub.size()) return;
    core.fail(record, "ub_overflow",
              "InitBuffer gives out UB up to byte " + std::to_string(end) + "; the unified buffer has " + bytes_text(static_cast<int64_t>(core.ub.size())),
              {{"used_bytes", static_cast<int64_t>(end)}, {"available_bytes", static_cast<int64_t>(core.ub.size())}});
}

// The kernel says on which cores it runs; one that is declared `__cube__` can't change that.
void task_type(Core &core, const vnpu_record &record) {
    Launch &launch = core.launch;
    if (launch.kernel->core_kind == VNPU_CORE_AIC && record.p[0] != VNPU_CORE_AIC)
        core.fail(record, "bad_parameter", "KERNEL_TASK_TYPE_DEFAULT names vector cores in a kernel that is declared __cube__", {{"core_kind", record.p[0]}});
    launch.core_kind = record.p[0];
}

namespace {

void forget_pipe(Core &core, const vnpu_record &record) {
    core.pipes.erase(std::remove(core.pipes.begin(), core.pipes.end(), record.scalar), core.pipes.end());
}

}  // namespace

void pipe_end(Core &core, const vnpu_record &record) { forget_pipe(core, record); }

// Constructed or Reset: addresses start again at 0.
void pipe_begin(Core &core, const vnpu_record &record) {
    forget_pipe(core, record);
    core.pipes.push_back(record.scalar);
    core.buffers.clear();
    if (core.notes) core.notes->note_use(record);
    core.append(cost_of(core.launch.chip, record, 0, 0));
}

}  // namespace vnpu
