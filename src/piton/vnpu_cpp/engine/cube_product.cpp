/*
 * The numbers of Mmad: operands out of their fractals, the products, the sums into L0C.
 *
 * Problem: a fractal keeps the right matrix by columns, elements have 4 to 32 bits, and a product of many thousands of elements has to be quick.
 * Approach: the left matrix becomes rows of floats (or int32), the right one sixteen columns side by side for one column of fractals at a time; the inner
 * loop (loops/products.h) adds to L0C in place, where sixteen results of a row lie together. Columns beyond n are multiplied by zeros; what lies there is
 * undefined. With bit 46 of CTRL (HF32) floats are rounded to 11 bits of mantissa first: to nearest, ties to even, with bit 47 ties towards zero. Limits: that
 * HF32 has 11 bits here is inferred: the page of HF32 gives 10 for the Ascend 950 as the exception.
 */
#include <algorithm>
#include <cstring>

#include "cube_mmad.h"
#include "half.h"
#include "mathematics.h"
#include "paths.h"

namespace vnpu {

namespace {

constexpr uint32_t kHf32Dropped = 12;  // of float's 23 bits of mantissa
constexpr uint64_t kUnits = 64;        // elements of 32 bytes, at most

float to_hf32(float value, bool is_towards_zero) {
    const uint32_t bits = bits_as<uint32_t>(value), half = 1u << (kHf32Dropped - 1);
    if ((bits & 0x7f800000u) == 0x7f800000u) return value;
    const uint32_t odd = is_towards_zero ? 0 : bits >> kHf32Dropped & 1u;
    return bits_as<float>((bits + half - 1 + odd) & ~((1u << kHf32Dropped) - 1));
}

// Values of one line of 32 bytes of a fractal, or of a part of it.
void widen(const Core &core, uint8_t dtype, const uint8_t *from, float *to, uint32_t count) {
    if (dtype == VNPU_DT_F16) return loops().halves_to_floats(reinterpret_cast<const uint16_t *>(from), to, count);
    if (dtype == VNPU_DT_BF16) {
        for (uint32_t at = 0; at < count; ++at) to[at] = bits_as<float>(static_cast<uint32_t>(from[2 * at] | from[2 * at + 1] << 8) << 16);
        return;
    }
    std::memcpy(to, from, count * sizeof *to);
    if (!(core.ctrl & kCtrlHf32)) return;
    for (uint32_t at = 0; at < count; ++at) to[at] = to_hf32(to[at], (core.ctrl & kCtrlHf32TowardsZero) != 0);
}

void widen(const Core &, uint8_t dtype, const uint8_t *from, int32_t *to, uint32_t count) {
    for (uint32_t at = 0; at < count && dtype == VNPU_DT_I8; ++at) to[at] = static_cast<int8_t>(from[at]);
    for (uint32_t at = 0; at < count && dtype == VNPU_DT_I4; ++at) to[at] = static_cast<int8_t>(from[at / 2] << (at % 2 ? 0 : 4)) >> 4;
}

// Sums of whole numbers start from zero and are added at the end, so that they saturate once, at the end.
void start(float *sums, const float *place, uint32_t count) { std::copy(place, place + count, sums); }
void start(int32_t *sums, const int32_t *, uint32_t count) { std::fill(sums, sums + count, 0); }
float settled(float, float sum) { return tidy(sum); }
int32_t settled(int32_t before, int32_t sum) { return static_cast<int32_t>(std::clamp<int64_t>(static_cast<int64_t>(before) + sum, INT32_MIN, INT32_MAX)); }
void run_loop(const ProductJob<float> &job) { loops().float_products(job); }
void run_loop(const ProductJob<int32_t> &job) { loops().integer_products(job); }

template <class Value>
struct Product {
    Core &core;
    const vnpu_record &record;
    const MmadPlan &plan;
    uint64_t pitch;  // values from row to row
    std::vector<Value> rows, columns, sums;
    const uint8_t *a, *b, *bias;
    uint8_t *c;

    Product(Core &of, const vnpu_record &mmad, const MmadPlan &made);
    void read_rows();
    void read_columns(uint64_t first);
    void read_sparse_columns(uint64_t first);
    void place_bias(uint64_t first);
    void add_products(uint64_t first);
};

template <class Value>
Product<Value>::Product(Core &of, const vnpu_record &mmad, const MmadPlan &made)
    : core(of), record(mmad), plan(made), pitch(made.k1 * made.depth), rows(made.m * pitch), columns(pitch * kSide), sums(made.m1 * kSide * kSide) {
    a = on_chip(core, VNPU_SPACE_L0A).bytes.data() + record.src0.addr;
    b = on_chip(core, VNPU_SPACE_L0B).bytes.data() + record.src1.addr;
    bias = on_chip(core, VNPU_SPACE_BT).bytes.data() + (plan.is_bias ? record.mask[0] : 0);
    c = on_chip(core, VNPU_SPACE_L0C).bytes.data() + record.dst.addr;
}

template <class Value>
void Product<Value>::read_rows() {
    for (uint64_t row = 0; row < plan.m; ++row)
        for (uint64_t deep = 0; deep < plan.k; deep += plan.depth)
            widen(core, record.src0.dtype, a + plan.a_at(row, deep), &rows[row * pitch + deep], static_cast<uint32_t>(plan.depth));
}

template <class Value>
void Product<Value>::read_columns(uint64_t first) {
    Value line[kSide][kUnits];
    for (uint64_t deep = 0; deep < plan.k; deep += plan.depth) {
        for (uint64_t column = 0; column < kSide; ++column) {
            const bool is_there = first + column < plan.n;
            if (is_there) widen(core, record.src1.dtype, b + plan.b_at(deep, first + column), line[column], static_cast<uint32_t>(plan.depth));
            if (!is_there) std::fill(line[column], line[column] + plan.depth, Value{});
        }
        Value *to = &columns[deep * kSide];
        for (uint64_t at = 0; at < plan.depth; ++at)
            for (uint64_t column = 0; column < kSide; ++column) to[at * kSide + column] = line[column][at];
    }
}

// The dense matrix that the kept elements come from. Two kept ones of one place share it, which multiplies to the same.
template <class Value>
void Product<Value>::read_sparse_columns(uint64_t first) {
    std::fill(columns.begin(), columns.end(), Value{});
    const uint64_t count = std::min(kSide, plan.n - first);
    for (uint64_t kept = 0; kept < plan.b_k; ++kept)
        for (uint64_t column = 0; column < count; ++column) {
            const uint64_t row = sparse_row(core, record, plan, kept, first + column);
            if (row < pitch) columns[row * kSide + column] += static_cast<Value>(static_cast<int8_t>(b[plan.b_at(kept, first + column)]));
        }
}

// What the sums start from, where that is not what L0C holds.
template <class Value>
void Product<Value>::place_bias(uint64_t first) {
    Value values[kSide] = {};
    if (plan.is_bias) std::memcpy(values, bias + first * 4, std::min(kSide, plan.n - first) * sizeof(Value));
    for (uint64_t row = 0; row < plan.m && !plan.adds(); ++row) std::memcpy(c + plan.c_at(row, first), values, sizeof values);
}

template <class Value>
void Product<Value>::add_products(uint64_t first) {
    const auto count = static_cast<uint32_t>(plan.m * kSide);
    auto *place = reinterpret_cast<Value *>(c + plan.c_at(0, first));
    start(sums.data(), place, count);
    run_loop(ProductJob<Value>{rows.data(), columns.data(), sums.data(), static_cast<uint32_t>(plan.m), static_cast<uint32_t>(pitch),
                               static_cast<uint32_t>(plan.k), static_cast<uint32_t>(plan.depth)});
    for (uint32_t at = 0; at < count; ++at) place[at] = settled(place[at], sums[at]);
}

template <class Value>
void multiply_values(Core &core, const vnpu_record &record, const MmadPlan &plan) {
    Product<Value> product(core, record, plan);
    product.read_rows();
    for (uint64_t first = 0; first < plan.n; first += kSide) {
        plan.is_sparse ? product.read_sparse_columns(first) : product.read_columns(first);
        product.place_bias(first);
        product.add_products(first);
    }
}

}  // namespace

void multiply(Core &core, const vnpu_record &record, const MmadPlan &plan) {
    record.dst.dtype == VNPU_DT_I32 ? multiply_values<int32_t>(core, record, plan) : multiply_values<float>(core, record, plan);
}

}  // namespace vnpu
