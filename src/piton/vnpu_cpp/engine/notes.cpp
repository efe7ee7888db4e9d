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

std::string spot(uint64_t file, uint64_t line) {
    const std::string name = file ? reinterpret_cast<const char *>(file) : "";
    return "InitBuffer at " + name + ":" + std::to_string(line);
}

// "UB bytes 0 to 1023", and the same as numbers.
std::string memory_text(const vnpu_operand &memory, const std::string &name, Numbers &numbers) {
    const auto from = static_cast<int64_t>(memory.addr), to = from + static_cast<int64_t>(memory.limit) - 1;
    numbers.insert(numbers.end(), {{name + "_from_byte", from}, {name + "_to_byte", to}});
    return std::string(memory.space == VNPU_SPACE_L1 ? "L1" : "UB") + " bytes " + std::to_string(from) + " to " + std::to_string(to);
}

bool is_without_buffers(const vnpu_record &record) { return record.p[2] == 0; }

// "; the queue has 2 buffers, UB bytes 0 to 1023 (InitBuffer at a.cpp:12)"
std::string queue_text(const vnpu_record &record, Numbers &numbers) {
    const uint32_t buffers = record.p[2];
    if (is_without_buffers(record)) return "; the queue has no buffers (InitBuffer missing?)";
    numbers.emplace_back("queue_buffers", buffers);
    const std::string memory = memory_text(record.src1, "queue", numbers);
    return "; the queue has " + std::to_string(buffers) + (buffers == 1 ? " buffer, " : " buffers, ") + memory + " (" + spot(record.mask[0], record.p[3]) + ")";
}

std::string strange_text(const vnpu_record &record) {
    switch (record.p[1]) {
        case VNPU_TENSOR_OF_NO_QUEUE:
            return "which belongs to no queue: it is of a TBuf, or made from an address";
        case VNPU_TENSOR_OF_ANOTHER_QUEUE:
            return "which belongs to another queue (" + spot(record.mask[1], record.scalar) + ")";
        case VNPU_TENSOR_FREED:
            return "which has been freed: AllocTensor has to hand it out first";
        default:
            return "which is in the queue already (EnQue twice?)";
    }
}

// What a call of a queue was given, why that is wrong, and what the queue has.
Fault queue_fault(const vnpu_record &record, const char *cause, const std::string &wrong, Numbers numbers = {}) {
    std::string given;
    if (record.dst.space != VNPU_SPACE_NONE)
        given = record.dst.limit ? " was given the tensor at " + memory_text(record.dst, "tensor", numbers) : " was given a tensor without memory";
    const std::string text = api_name(place_of(record)) + given + wrong;
    const std::string queue = queue_text(record, numbers);
    return {is_without_buffers(record) ? "queue_misuse" : cause, text + queue, std::move(numbers)};
}

Fault overflow_of(const vnpu_record &record) {
    const int64_t used = static_cast<int64_t>(record.scalar), available = record.p[1];
    const auto space = static_cast<uint8_t>(record.p[2]);
    const bool is_of_cube = space > VNPU_SPACE_UB;
    const char *cause = !is_of_cube ? "ub_overflow" : space == VNPU_SPACE_L1 ? "l1_overflow" : "l0_overflow";
    const std::string title = memory_title(space);
    const std::string what = api_name(place_of(record)) + " asks for " + bytes_text(used) + " in all; ";
    const std::string there = available != 0 ? title + " has " + std::to_string(available)
                              : is_of_cube   ? "a vector core does not have " + title + ": declare the kernel __cube__"
                                             : "a cube core has no unified buffer";
    return {cause, what + there, {{"used_bytes", used}, {"available_bytes", available}}};
}

Fault scratch_overlap(const vnpu_record &record) {
    Numbers numbers;
    const std::string scratch = memory_text(record.src1, "scratch", numbers), tensor = memory_text(record.dst, "tensor", numbers);
    return {"bad_overlap",
            api_name(place_of(record)) + " was given scratch memory, " + scratch + ", that overlaps its tensor, " + tensor +
                ": intermediate results would destroy it; use a buffer of its own",
            std::move(numbers)};
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
            return queue_fault(record, "deadlock", is_without_buffers(record) ? "" : " waits for ever: every buffer is in use (FreeTensor missing?)",
                               {{"buffers", a}});
        case VNPU_FAULT_QUEUE_FULL:
            return queue_fault(record, "queue_misuse", ", but as many tensors are queued as its depth of " + std::to_string(a) + " allows", {{"depth", a}});
        case VNPU_FAULT_NOTHING_QUEUED:
            return queue_fault(record, "deadlock", " waits for ever: nothing was enqueued (EnQue missing?)");
        case VNPU_FAULT_DOUBLE_FREE:
            return queue_fault(record, "queue_misuse", ", which is free already");
        case VNPU_FAULT_FOREIGN_TENSOR:
            return queue_fault(record, "queue_misuse", ", " + strange_text(record));
        case VNPU_FAULT_SCRATCH:
            return scratch_overlap(record);
        case VNPU_FAULT_NO_MEMORY:
            return {"queue_misuse", "the TBuf has no memory: InitBuffer was not called for it", {}};
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
    core.freed.know(record.p[0], record.dst.addr, end);
    if (end <= core.ub.size()) return;
    core.fail(record, "ub_overflow",
              "InitBuffer gives out UB up to byte " + std::to_string(end) + "; the unified buffer has " + bytes_text(static_cast<int64_t>(core.ub.size())),
              {{"used_bytes", static_cast<int64_t>(end)}, {"available_bytes", static_cast<int64_t>(core.ub.size())}});
}

// AllocTensor and FreeTensor. Order comes from the flags that these classes issue.
void buffer_use(Core &core, const vnpu_record &record) {
    if (core.notes) core.notes->note_use(record);
    record.opcode == VNPU_OP_BUFFER_ACQUIRE ? core.freed.acquire(record.p[0]) : core.freed.release(record.p[0], place_of(record));
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
    core.freed.clear();
    if (core.notes) core.notes->note_use(record);
    core.append(cost_of(core.launch.chip, record, 0, 0));
}

}  // namespace vnpu
