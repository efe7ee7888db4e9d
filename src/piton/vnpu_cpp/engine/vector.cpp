/* One vector instruction: checks, order, arithmetic, undefined bytes, trace. */
#include <algorithm>
#include <cstring>

#include "access.h"
#include "accuracy.h"
#include "composite.h"
#include "vector_kernels.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

bool reads_destination(const vnpu_record &record) {
    return record.opcode == VNPU_OP_AXPY || (record.opcode >= VNPU_OP_FUSED_MUL_ADD && record.opcode <= VNPU_OP_MUL_ADD_DST);
}

VectorKernel kernel_of(Core &core, const vnpu_record &record) {
    const bool has_source = record.src0.space != VNPU_SPACE_NONE;
    const VectorKernel kernel = vector_kernel(record.opcode, record.dst.dtype, has_source ? record.src0.dtype : record.dst.dtype, record.p[3]);
    if (!kernel)
        core.fail(record, "unsupported_api",
                  api_name(place_of(record)) + " is not supported by the virtual NPU for this combination of dtypes" +
                      (record.opcode == VNPU_OP_CAST ? " and rounding mode" : ""),
                  {{"opcode", record.opcode}, {"dst_dtype", record.dst.dtype}, {"src_dtype", record.src0.dtype}});
    return kernel;
}

void check_operands(Core &core, const vnpu_record &record, const VectorPlan &plan) {
    for (uint32_t which = 0; which < kOperands; ++which)
        if (plan.bytes[which]) check_ub(core, record, operand(record, which), extent(plan, record, which), which == 0);
}

// The pieces of one operand; a piece that is the one before it once more (a stride of 0) adds nothing.
void append_runs(std::vector<Touch> &touches, const VectorPlan &plan, uint32_t which, bool is_write) {
    const Run *last = nullptr;
    for (const Run &run : plan.runs) {
        const bool is_again = last && last->at[which] == run.at[which] && last->count == run.count;
        if (!is_again) append_touch(touches, {VNPU_SPACE_UB, is_write, run.at[which], run.at[which] + run_bytes(plan, run, which)});
        last = &run;
    }
}

std::vector<Touch> touches_of(const vnpu_record &record, const VectorPlan &plan) {
    std::vector<Touch> touches;
    touches.reserve(plan.runs.size() * kOperands);
    for (uint32_t which = 0; which < kOperands; ++which)
        if (plan.bytes[which]) append_runs(touches, plan, which, which == 0);
    if (reads_destination(record)) append_runs(touches, plan, 0, false);
    return touches;
}

// Whether some byte between the first and the last one of an operand is undefined.
bool any_undefined(const UndefinedBytes &undefined, const VectorPlan &plan, uint32_t which) {
    uint64_t begin = ~0ull, end = 0;
    for (const Run &run : plan.runs) {
        begin = std::min(begin, run.at[which]);
        end = std::max(end, run.at[which] + run_bytes(plan, run, which));
    }
    return plan.bytes[which] && undefined.any(begin, end);
}

// Where all operands hold values, as they mostly do, no run need be looked at.
bool is_all_defined(const UndefinedBytes &undefined, const VectorPlan &plan) {
    return !any_undefined(undefined, plan, 0) && !any_undefined(undefined, plan, 1) && !any_undefined(undefined, plan, 2);
}

// A result is as undefined as its operands.
void carry_undefined(Core &core, const vnpu_record &record, const VectorPlan &plan, const Run &run) {
    UndefinedBytes &undefined = core.undefined;
    const auto is_undefined = [&](uint32_t which, uint32_t first, uint32_t count) {
        const uint64_t begin = run.at[which] + static_cast<uint64_t>(first) * plan.bytes[which];
        return plan.bytes[which] && undefined.any(begin, begin + static_cast<uint64_t>(count) * plan.bytes[which]);
    };
    const auto any_source = [&](uint32_t first, uint32_t count) {
        return is_undefined(1, first, count) || is_undefined(2, first, count) || (reads_destination(record) && is_undefined(0, first, count));
    };
    if (!any_source(0, run.count)) return undefined.clear(run.at[0], run.at[0] + run_bytes(plan, run, 0));
    for (uint32_t element = 0; element < run.count; ++element) {
        const uint64_t begin = run.at[0] + static_cast<uint64_t>(element) * plan.bytes[0];
        any_source(element, 1) ? undefined.set(begin, begin + plan.bytes[0]) : undefined.clear(begin, begin + plan.bytes[0]);
    }
}

constexpr uint64_t kSpreadBytes = 1024;

// How many runs from the one of that number on go on where the last one ended in the destination and the first source, and read the same bytes of the second:
// a block stride of 0, eight lanes at a time. One when there are no more, or when what is written would change what is read.
uint32_t runs_of_one_block(const VectorPlan &plan, size_t number) {
    const Run &first = plan.runs[number];
    const uint64_t bytes = run_bytes(plan, first, 2);
    uint32_t runs = 1;
    for (uint64_t done = first.count; plan.bytes[2] && number + runs < plan.runs.size() && (runs + 1) * bytes <= kSpreadBytes; done += first.count, ++runs) {
        const Run &next = plan.runs[number + runs];
        const bool goes_on = next.at[0] == first.at[0] + done * plan.bytes[0] && next.at[1] == first.at[1] + done * plan.bytes[1];
        if (!goes_on || next.at[2] != first.at[2] || next.count != first.count) break;
    }
    const uint64_t end = first.at[0] + runs * run_bytes(plan, first, 0);
    return first.at[2] < end && first.at[0] < first.at[2] + bytes ? 1 : runs;
}

bool is_half_result(const vnpu_record &record) {
    return record.dst.dtype == VNPU_DT_F16 || (record.opcode == VNPU_OP_CAST && record.dst.dtype == VNPU_DT_BF16);
}

bool is_move(const vnpu_record &record) { return record.opcode == VNPU_OP_COPY || record.opcode == VNPU_OP_DUPLICATE; }

// CTRL[48] = 0: an infinity becomes the largest number of its sign, a NaN 0.
void saturate_halves(uint8_t *first, uint32_t count, bool is_bfloat) {
    const uint16_t infinity = is_bfloat ? 0x7f80u : 0x7c00u;
    for (uint32_t at = 0; at < count; ++at) {
        uint16_t bits;
        std::memcpy(&bits, first + 2 * at, sizeof bits);
        const uint16_t magnitude = bits & 0x7fffu;
        if (magnitude < infinity) continue;
        bits = magnitude > infinity ? 0 : static_cast<uint16_t>(bits - 1);
        std::memcpy(first + 2 * at, &bits, sizeof bits);
    }
}

bool is_scaled(const vnpu_record &record) {
    const bool is_cast = record.opcode == VNPU_OP_CAST && record.src0.dtype == VNPU_DT_I32 && record.dst.dtype == VNPU_DT_F16;
    return is_cast || record.opcode == VNPU_OP_ADD_DEQ_RELU;
}

// From int32 to half a register is multiplied by; without SetDeqScale nobody knows what it holds.
uint64_t scalar_of(Core &core, const vnpu_record &record) {
    if (!is_scaled(record)) return record.scalar;
    if (!core.deq_scale && core.moves_data() && !core.launch.reporter.has(place_of(record), "undefined_data"))
        core.report(
            record, "undefined_data",
            api_name(place_of(record)) +
                " from int32_t to half multiplies by the scale that SetDeqScale sets, and this kernel has not called it; SetDeqScale(half(1)) before it");
    constexpr uint16_t kOne = 0x3c00;
    return core.deq_scale.value_or(kOne) & 0xffffu;
}

// AddDeqRelu is documented to need memory for what lies between: three instructions, each of which waits for the one before.
void append_costs(Core &core, const vnpu_record &record, const VectorPlan &plan) {
    core.append(cost_of(core.launch.chip, record, plan.repeats, plan.elements));
    if (record.opcode != VNPU_OP_ADD_DEQ_RELU) return;
    vnpu_record step = record;
    step.src1 = vnpu_operand{};
    for (const uint16_t opcode : {VNPU_OP_CAST, VNPU_OP_RELU}) {
        hidden_barrier(core, record, VNPU_PIPE_V);
        step.opcode = opcode;
        core.append(cost_of(core.launch.chip, step, plan.repeats, plan.elements));
    }
}

void compute(Core &core, const vnpu_record &record, const VectorPlan &plan, VectorKernel kernel, const uint8_t *sources) {
    const uint64_t scalar = scalar_of(core, record);
    const bool saturates = !(core.ctrl & kCtrlKeepsInfinities) && is_half_result(record) && !is_move(record);
    const bool is_pessimistic = core.launch.options.is_pessimistic && is_approximate(record.opcode);
    const auto run_kernel = [&](uint8_t *dst, const uint8_t *src0, const uint8_t *src1, uint32_t count) {
        if (!is_pessimistic) return kernel(dst, src0, src1, scalar, count);
        run_pessimistic(kernel, {dst, src0, plan.bytes[2] ? src1 : nullptr, record.dst.dtype == VNPU_DT_F16}, scalar, count);
    };
    const bool is_defined = is_all_defined(core.undefined, plan);
    uint8_t spread[kSpreadBytes];
    for (size_t number = 0; number < plan.runs.size();) {
        const Run &run = plan.runs[number];
        const uint32_t runs = runs_of_one_block(plan, number), count = runs * run.count;
        const uint64_t bytes = run_bytes(plan, run, 2);
        for (uint32_t more = 0; more < runs && !is_defined; ++more) carry_undefined(core, record, plan, plan.runs[number + more]);
        for (uint32_t more = 0; more < runs && runs > 1; ++more) std::memcpy(spread + more * bytes, sources + run.at[2], bytes);
        run_kernel(core.ub.data() + run.at[0], sources + run.at[1], runs > 1 ? spread : sources + run.at[2], count);
        if (saturates) saturate_halves(core.ub.data() + run.at[0], count, record.dst.dtype == VNPU_DT_BF16);
        number += runs;
    }
}

}  // namespace

void run_vector(Core &core, const vnpu_record &record) {
    if (record.opcode == VNPU_OP_CAST && (record.dst.dtype == VNPU_DT_I4 || record.src0.dtype == VNPU_DT_I4)) return run_cast_int4(core, record);
    if (record.opcode == VNPU_OP_CAST_DEQUANT) return run_cast_dequant(core, record);
    const VectorKernel kernel = kernel_of(core, record);
    const VectorPlan plan = plan_vector(core, record);
    check_operands(core, record, plan);
    const bool needs_snapshot = check_overlap(core, record, plan);
    order_accesses(core, record, touches_of(record, plan));
    if (core.moves_data()) {
        // Partly overlapping operands are legal only where the hardware has read a source byte before it is overwritten: as if all was read first.
        const std::vector<uint8_t> snapshot = needs_snapshot ? core.ub : std::vector<uint8_t>();
        compute(core, record, plan, kernel, needs_snapshot ? snapshot.data() : core.ub.data());
    }
    append_costs(core, record, plan);
}

}  // namespace vnpu
