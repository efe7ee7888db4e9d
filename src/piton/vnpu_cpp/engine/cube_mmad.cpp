/*
 * Mmad: the cube unit's matrix product of L0A (rows of fractals) and L0B (fractals transposed inside) into L0C (columns of fractals).
 *
 * Problem: operands are fractals of 16 x 32 bytes whose last rows and columns may hold anything, and sums have an order.
 * Approach: both operands become plain matrices first. For floats the products of one fractal's depth (8 or 16) are summed one after another in float and
 * then added to the accumulator: how the chip sums inside is not published. Integers saturate. A row of A or a column of B that holds an undefined byte makes
 * its results undefined; so are results beyond m and n.
 * Limits: one row (m = 1) is read as a plain vector (GEMV). No 4-bit elements, no HF32, no sparse matrices.
 */
#include <algorithm>
#include <cstring>

#include "access.h"
#include "dtypes.h"
#include "half.h"
#include "unit_flag.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint64_t kSide = 16, kFractal = 512, kResultFractal = 1024;
constexpr uint64_t kMaxSide = 4095;
constexpr uint64_t kL0Align = 512, kL0cAlign = 1024, kBiasAlign = 64;
constexpr uint64_t kOrderedByHardware = 10;  // (m / 16) * (n / 16) from which on the page of Mmad asks for no barrier between two of them

uint64_t ceil_div(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit; }

struct MmadPlan {
    uint64_t m, n, k;
    uint64_t element, depth;  // bytes of an operand's element, elements of k in a fractal
    uint64_t m1, n1, k1;      // fractals
    uint64_t k_pitch;         // fractals in a row of L0A
    bool is_zero, is_bias;

    bool is_vector() const { return m == 1; }
    bool adds() const { return !is_zero && !is_bias; }
    uint64_t a_bytes() const { return is_vector() ? ceil_div(k * element, kBlockBytes) * kBlockBytes : m1 * k_pitch * kFractal; }
    uint64_t b_bytes() const { return k1 * n1 * kFractal; }
    uint64_t c_bytes() const { return m1 * n1 * kResultFractal; }
    // Byte offsets of k element `deep` of a row or column, and of a result.
    uint64_t a_at(uint64_t row, uint64_t deep) const {
        if (is_vector()) return deep * element;
        return (row / kSide * k_pitch + deep / depth) * kFractal + row % kSide * kBlockBytes + deep % depth * element;
    }
    uint64_t b_at(uint64_t deep, uint64_t column) const {
        return (deep / depth * n1 + column / kSide) * kFractal + column % kSide * kBlockBytes + deep % depth * element;
    }
    uint64_t c_at(uint64_t row, uint64_t column) const { return (column / kSide * m1 * kSide + row) * kSide * 4 + column % kSide * 4; }
};

bool are_types_supported(const vnpu_record &record) {
    const uint8_t a = record.src0.dtype, c = record.dst.dtype;
    if (a != record.src1.dtype) return false;
    return a == VNPU_DT_I8 ? c == VNPU_DT_I32 : c == VNPU_DT_F32 && (a == VNPU_DT_F16 || a == VNPU_DT_BF16 || a == VNPU_DT_F32);
}

MmadPlan plan_mmad(Core &core, const vnpu_record &record) {
    const bool is_placed = record.dst.space == VNPU_SPACE_L0C && record.src0.space == VNPU_SPACE_L0A && record.src1.space == VNPU_SPACE_L0B;
    if (!is_placed || !are_types_supported(record))
        core.fail(record, "unsupported_api",
                  "Mmad multiplies L0A (A2) by L0B (B2) into L0C (CO1): half, bfloat16_t or float into float, int8_t into int32_t, both operands alike");
    MmadPlan plan{};
    plan.m = record.p[0];
    plan.n = record.p[1];
    plan.k = record.p[2];
    const uint64_t largest = std::max({plan.m, plan.n, plan.k});
    if (largest > kMaxSide)
        core.fail(record, "bad_parameter", "Mmad: m, n and k are at most 4095, found " + std::to_string(largest), {{"value", static_cast<int64_t>(largest)}});
    plan.element = dtype_bytes(record.src0.dtype);
    plan.depth = kBlockBytes / plan.element;
    plan.m1 = ceil_div(plan.m, kSide);
    plan.n1 = ceil_div(plan.n, kSide);
    plan.k1 = ceil_div(plan.k, plan.depth);
    const bool is_even = (record.p[3] & VNPU_MMAD_K_ALIGN) != 0 && plan.element == 4;
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

// ---- numbers ----
float operand_value(uint8_t dtype, const uint8_t *at) {
    uint16_t bits = 0;
    float value = 0;
    if (dtype == VNPU_DT_F32) {
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    std::memcpy(&bits, at, sizeof bits);
    return dtype == VNPU_DT_F16 ? half_to_float(bits) : bfloat_to_float(bits);
}
int32_t operand_value_int(const uint8_t *at) { return static_cast<int8_t>(*at); }

// Sums of `Sum` over the depth of one fractal at a time, for sixteen columns side by side. `a` is one row, `b` holds the sixteen columns of each k.
template <class Value, class Sum>
void multiply_row(const Value *a, const Value *b, uint64_t k, uint64_t depth, Sum *sums) {
    for (uint64_t first = 0; first < k; first += depth) {
        Sum part[kSide] = {};
        for (uint64_t deep = first; deep < std::min(k, first + depth); ++deep)
            for (uint64_t column = 0; column < kSide; ++column) part[column] += a[deep] * b[deep * kSide + column];
        for (uint64_t column = 0; column < kSide; ++column) sums[column] += part[column];
    }
}

float settle_sum(float sum) { return sum; }
int32_t settle_sum(int64_t sum) { return static_cast<int32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)); }

// `Value` of the operands, `Sum` while adding, `Result` in L0C.
template <class Value, class Sum, class Result, class Read>
void multiply(Core &core, const vnpu_record &record, const MmadPlan &plan, Read read) {
    const uint8_t *a = on_chip(core, VNPU_SPACE_L0A).bytes.data() + record.src0.addr, *b = on_chip(core, VNPU_SPACE_L0B).bytes.data() + record.src1.addr;
    const uint8_t *bias = on_chip(core, VNPU_SPACE_BT).bytes.data() + (plan.is_bias ? record.mask[0] : 0);
    uint8_t *c = on_chip(core, VNPU_SPACE_L0C).bytes.data() + record.dst.addr;
    std::vector<Value> rows(plan.m * plan.k), columns(plan.k * kSide);
    for (uint64_t row = 0; row < plan.m; ++row)
        for (uint64_t deep = 0; deep < plan.k; ++deep) rows[row * plan.k + deep] = read(a + plan.a_at(row, deep));
    for (uint64_t first = 0; first < plan.n; first += kSide) {
        const uint64_t width = std::min(kSide, plan.n - first);
        for (uint64_t deep = 0; deep < plan.k; ++deep)
            for (uint64_t column = 0; column < width; ++column) columns[deep * kSide + column] = read(b + plan.b_at(deep, first + column));
        for (uint64_t row = 0; row < plan.m; ++row) {
            Result results[kSide] = {};
            Sum sums[kSide] = {};
            uint8_t *place = c + plan.c_at(row, first);
            if (!plan.is_zero) std::memcpy(results, plan.is_bias ? bias + first * 4 : place, width * sizeof(Result));
            for (uint64_t column = 0; column < width; ++column) sums[column] = results[column];
            multiply_row(rows.data() + row * plan.k, columns.data(), plan.k, plan.depth, sums);
            for (uint64_t column = 0; column < width; ++column) results[column] = settle_sum(sums[column]);
            std::memcpy(place, results, width * sizeof(Result));
        }
    }
}

// ---- undefined bytes ----
// Whether any of k elements of a row or column is undefined; `at` gives the place of an element.
template <class At>
bool is_line_undefined(const UndefinedBytes &undefined, const MmadPlan &plan, At at) {
    for (uint64_t deep = 0; deep < plan.k; deep += plan.depth) {
        const uint64_t begin = at(deep);
        if (undefined.any(begin, begin + std::min(plan.depth, plan.k - deep) * plan.element)) return true;
    }
    return false;
}

// Marks of rows and columns; empty when all of the operand is defined.
std::vector<bool> undefined_rows(Core &core, const vnpu_record &record, const MmadPlan &plan) {
    const UndefinedBytes &undefined = on_chip(core, VNPU_SPACE_L0A).undefined;
    if (!undefined.any(record.src0.addr, record.src0.addr + plan.a_bytes())) return {};
    std::vector<bool> marks(plan.m);
    for (uint64_t row = 0; row < plan.m; ++row)
        marks[row] = is_line_undefined(undefined, plan, [&](uint64_t deep) { return record.src0.addr + plan.a_at(row, deep); });
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
                        is_line_undefined(undefined, plan, [&](uint64_t deep) { return record.src1.addr + plan.b_at(deep, column); });
    return marks;
}

void mark_results(Core &core, const vnpu_record &record, const MmadPlan &plan) {
    UndefinedBytes &undefined = on_chip(core, VNPU_SPACE_L0C).undefined;
    const std::vector<bool> rows = undefined_rows(core, record, plan), columns = undefined_columns(core, record, plan);
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
    if (core.moves_data()) {
        const uint8_t dtype = record.src0.dtype;
        if (dtype == VNPU_DT_I8)
            multiply<int32_t, int64_t, int32_t>(core, record, plan, operand_value_int);
        else
            multiply<float, float, float>(core, record, plan, [dtype](const uint8_t *at) { return operand_value(dtype, at); });
        mark_results(core, record, plan);
    }
    core.append(cost_of(core.launch.chip, record, static_cast<uint32_t>(plan.m1 * plan.n1 * plan.k1), plan.m * plan.n * plan.k));
}

}  // namespace vnpu
