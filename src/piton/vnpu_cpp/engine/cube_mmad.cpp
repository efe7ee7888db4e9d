/*
 * Mmad: the cube unit's matrix product of L0A (rows of fractals) and L0B (fractals transposed inside) into L0C (columns of fractals).
 *
 * Problem: operands are fractals of 16 x 32 bytes whose last rows and columns may hold anything, and sums have an order.
 * Approach: cube_product.cpp has the numbers. For floats the products of one fractal's depth (8 or 16) are summed one after another in float and
 * then added to the accumulator: how the chip sums inside is not published. Integers saturate. A row of A or a column of B that holds an undefined byte makes
 * its results undefined; so are results beyond m and n.
 * A sparse right matrix has half of its rows; the cost is that of an Mmad of half the depth: its page chooses from A first and then multiplies as Mmad does
 * (assumed, no public figure). An undefined byte of A makes its row undefined, chosen or not.
 * Limits: one row (m = 1) is read as a plain vector (GEMV), but not with a sparse matrix. A place of 3, which the page does not have, means nothing sensible.
 */
#include "cube_mmad.h"

#include <algorithm>

#include "access.h"
#include "dtypes.h"
#include "unit_flag.h"

namespace vnpu {

namespace {

constexpr uint64_t kMaxSide = 4095;
constexpr uint64_t kL0Align = 512, kL0cAlign = 1024, kBiasAlign = 64;
constexpr uint64_t kOrderedByHardware = 10;  // (m / 16) * (n / 16) from which on the page of Mmad asks for no barrier between two of them

bool are_types_supported(const vnpu_record &record) {
    const uint8_t a = record.src0.dtype, c = record.dst.dtype;
    if (a != record.src1.dtype) return false;
    if ((record.p[3] & VNPU_MMAD_SPARSE) && a != VNPU_DT_I8) return false;
    const bool is_integer = a == VNPU_DT_I8 || a == VNPU_DT_I4;
    return is_integer ? c == VNPU_DT_I32 : c == VNPU_DT_F32 && (a == VNPU_DT_F16 || a == VNPU_DT_BF16 || a == VNPU_DT_F32);
}

MmadPlan plan_mmad(Core &core, const vnpu_record &record) {
    const bool is_placed = record.dst.space == VNPU_SPACE_L0C && record.src0.space == VNPU_SPACE_L0A && record.src1.space == VNPU_SPACE_L0B;
    if (!is_placed || !are_types_supported(record))
        core.fail(
            record, "unsupported_api",
            "Mmad multiplies L0A (A2) by L0B (B2) into L0C (CO1): half, bfloat16_t or float into float, int8_t or int4b_t into int32_t, both operands alike");
    MmadPlan plan{};
    plan.m = record.p[0];
    plan.n = record.p[1];
    plan.k = record.p[2];
    const uint64_t largest = std::max({plan.m, plan.n, plan.k});
    if (largest > kMaxSide)
        core.fail(record, "bad_parameter", "Mmad: m, n and k are at most 4095, found " + std::to_string(largest), {{"value", static_cast<int64_t>(largest)}});
    plan.bits = record.src0.dtype == VNPU_DT_I4 ? 4 : 8 * dtype_bytes(record.src0.dtype);
    plan.depth = 8 * kBlockBytes / plan.bits;
    plan.m1 = ceil_div(plan.m, kSide);
    plan.n1 = ceil_div(plan.n, kSide);
    plan.k1 = ceil_div(plan.k, plan.depth);
    plan.is_sparse = (record.p[3] & VNPU_MMAD_SPARSE) != 0;
    plan.b_k = plan.is_sparse ? ceil_div(plan.k, 2) : plan.k;
    plan.b_k1 = ceil_div(plan.b_k, plan.depth);
    const bool is_even = (record.p[3] & VNPU_MMAD_K_ALIGN) != 0 && plan.bits == 32;
    plan.k_pitch = is_even ? ceil_div(plan.k1, 2) * 2 : plan.k1;
    plan.is_zero = (record.p[3] & VNPU_MMAD_ZERO) != 0;
    plan.is_bias = !plan.is_zero && (record.p[3] & VNPU_MMAD_BIAS) != 0;
    return plan;
}

vnpu_operand bias_of(const vnpu_record &record) {
    vnpu_operand bias{};
    bias.addr = record.mask[0];
    bias.limit = static_cast<uint32_t>(record.mask[1]);
    bias.space = VNPU_SPACE_BT;
    return bias;
}

std::vector<Touch> touches_of(const vnpu_record &record, const MmadPlan &plan) {
    const uint64_t c = record.dst.addr;
    std::vector<Touch> touches = {{VNPU_SPACE_L0A, false, record.src0.addr, record.src0.addr + plan.a_bytes()},
                                  {VNPU_SPACE_L0B, false, record.src1.addr, record.src1.addr + plan.b_bytes()}};
    if (plan.is_bias) touches.push_back({VNPU_SPACE_BT, false, record.mask[0], record.mask[0] + plan.n * 4});
    if (plan.adds()) touches.push_back({VNPU_SPACE_L0C, false, c, c + plan.c_bytes()});
    touches.push_back({VNPU_SPACE_L0C, true, c, c + plan.c_bytes()});
    return touches;
}

void order(Core &core, const vnpu_record &record, const MmadPlan &plan) {
    if (plan.m / kSide * (plan.n / kSide) >= kOrderedByHardware) core.clocks.barrier(VNPU_PIPE_M);
    if (record.p[3] & VNPU_UNIT_FLAG) order_by_unit_flag(core, record, VNPU_PIPE_FIX, record.dst.addr, record.dst.addr + plan.c_bytes(), true);
    order_accesses(core, record, touches_of(record, plan));
}

// ---- undefined bytes ----
// Whether any of `k` elements of a row or column is undefined; `at` gives the place of an element.
template <class At>
bool is_line_undefined(const UndefinedBytes &undefined, const MmadPlan &plan, uint64_t k, At at) {
    for (uint64_t deep = 0; deep < k; deep += plan.depth) {
        const uint64_t begin = at(deep);
        if (undefined.any(begin, begin + ceil_div(std::min(plan.depth, k - deep) * plan.bits, 8))) return true;
    }
    return false;
}

// Marks of rows and columns; empty when all of the operand is defined.
std::vector<bool> undefined_rows(Core &core, const vnpu_record &record, const MmadPlan &plan) {
    const UndefinedBytes &undefined = on_chip(core, VNPU_SPACE_L0A).undefined;
    if (!undefined.any(record.src0.addr, record.src0.addr + plan.a_bytes())) return {};
    std::vector<bool> marks(plan.m);
    for (uint64_t row = 0; row < plan.m; ++row)
        marks[row] = is_line_undefined(undefined, plan, plan.k, [&](uint64_t deep) { return record.src0.addr + plan.a_at(row, deep); });
    return marks;
}

std::vector<bool> undefined_columns(Core &core, const vnpu_record &record, const MmadPlan &plan) {
    const UndefinedBytes &undefined = on_chip(core, VNPU_SPACE_L0B).undefined;
    const UndefinedBytes &bias = on_chip(core, VNPU_SPACE_BT).undefined;
    const uint64_t first = record.mask[0];
    if (!undefined.any(record.src1.addr, record.src1.addr + plan.b_bytes()) && !(plan.is_bias && bias.any(first, first + plan.n * 4))) return {};
    std::vector<bool> marks(plan.n);
    for (uint64_t column = 0; column < plan.n; ++column)
        marks[column] = (plan.is_bias && bias.any(first + column * 4, first + column * 4 + 4)) ||
                        is_line_undefined(undefined, plan, plan.b_k, [&](uint64_t deep) { return record.src1.addr + plan.b_at(deep, column); });
    return marks;
}

void mark_results(Core &core, const vnpu_record &record, const MmadPlan &plan) {
    UndefinedBytes &undefined = on_chip(core, VNPU_SPACE_L0C).undefined;
    const std::vector<bool> rows = undefined_rows(core, record, plan), columns = undefined_columns(core, record, plan);
    if (rows.empty() && columns.empty() && plan.m % kSide == 0 && plan.n % kSide == 0) {
        if (!plan.adds()) undefined.clear(record.dst.addr, record.dst.addr + plan.c_bytes());
        return;
    }
    for (uint64_t first = 0; first < plan.n1 * kSide; first += kSide)
        for (uint64_t row = 0; row < plan.m1 * kSide; ++row) {
            const uint64_t begin = record.dst.addr + plan.c_at(row, first), width = std::min(kSide, plan.n - first);
            const bool is_lost = row >= plan.m || (!rows.empty() && rows[row]);
            if (!plan.adds() && !is_lost) undefined.clear(begin, begin + width * 4);
            undefined.set(is_lost ? begin : begin + width * 4, begin + kSide * 4);
            for (uint64_t column = 0; column < width && !columns.empty(); ++column)
                if (columns[first + column]) undefined.set(begin + column * 4, begin + column * 4 + 4);
        }
}

}  // namespace

void run_mmad(Core &core, const vnpu_record &record) {
    const MmadPlan plan = plan_mmad(core, record);
    if (plan.m == 0 || plan.n == 0 || plan.k == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    check_on_chip(core, record, record.src0, plan.a_bytes(), false, kL0Align);
    check_on_chip(core, record, record.src1, plan.b_bytes(), false, kL0Align);
    check_on_chip(core, record, record.dst, plan.c_bytes(), true, kL0cAlign);
    if (plan.is_bias) check_on_chip(core, record, bias_of(record), plan.n * 4, false, kBiasAlign);
    order(core, record, plan);
    if (plan.is_sparse && core.moves_data() && core.sparse_places.empty())
        core.fail(record, "undefined_data", "MmadWithSparse: nothing has brought the places of the right matrix; needed: LoadDataWithSparse");
    if (core.moves_data()) {
        multiply(core, record, plan);
        mark_results(core, record, plan);
    }
    vnpu_record charged = record;
    if (record.src0.dtype == VNPU_DT_F32 && (core.ctrl & kCtrlHf32)) charged.p[3] |= VNPU_MMAD_HF32;
    core.append(cost_of(core.launch.chip, charged, static_cast<uint32_t>(plan.m1 * plan.n1 * plan.b_k1), plan.m * plan.n * plan.b_k));
}

}  // namespace vnpu
