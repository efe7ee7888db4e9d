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

std::vector<Touch> touches_of(const vnpu_record &record, const VectorPlan &plan) {
    std::vector<Touch> touches;
    for (uint32_t which = 0; which < kOperands; ++which) {
        if (!plan.bytes[which]) continue;
        for (const Run &run : plan.runs) append_touch(touches, {VNPU_SPACE_UB, which == 0, run.at[which], run.at[which] + run_bytes(plan, run, which)});
    }
    if (!reads_destination(record)) return touches;
    for (const Run &run : plan.runs) append_touch(touches, {VNPU_SPACE_UB, false, run.at[0], run.at[0] + run_bytes(plan, run, 0)});
    return touches;
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
    for (const Run &run : plan.runs) {
        carry_undefined(core, record, plan, run);
        run_kernel(core.ub.data() + run.at[0], sources + run.at[1], sources + run.at[2], run.count);
        if (saturates) saturate_halves(core.ub.data() + run.at[0], run.count, record.dst.dtype == VNPU_DT_BF16);
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
