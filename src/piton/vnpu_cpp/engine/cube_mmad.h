/*
 * What one Mmad multiplies, and where its elements lie.
 *
 * Problem: three operands, three orders of fractals; checks, numbers and undefined bytes all need places of elements.
 * Approach: the plan of an instruction, made once from its record.
 * Limits: 4-bit elements share a byte; the place of one is that of its byte.
 */
#pragma once

#include <cstdint>

#include "core.h"
#include "vector_plan.h"

namespace vnpu {

constexpr uint64_t kCtrlHf32 = 1ull << 46, kCtrlHf32TowardsZero = 1ull << 47;  // bits of CTRL
constexpr uint64_t kSide = 16, kFractal = 512, kResultFractal = 1024;

inline uint64_t ceil_div(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit; }

struct MmadPlan {
    uint64_t m, n, k;
    uint64_t bits, depth;  // of an operand's element; elements of k in a fractal
    uint64_t m1, n1, k1;   // fractals
    uint64_t k_pitch;      // fractals in a row of L0A
    bool is_zero, is_bias;
    bool is_sparse;
    uint64_t b_k, b_k1;  // rows of the right operand that are there, and fractals of them: half of k where it is sparse

    bool is_vector() const { return m == 1 && !is_sparse; }
    bool adds() const { return !is_zero && !is_bias; }
    uint64_t a_bytes() const { return is_vector() ? ceil_div(k * bits / 8, kBlockBytes) * kBlockBytes : m1 * k_pitch * kFractal; }
    uint64_t b_bytes() const { return b_k1 * n1 * kFractal; }
    uint64_t c_bytes() const { return m1 * n1 * kResultFractal; }
    // Byte offsets of k element `deep` of a row or column, and of a result.
    uint64_t a_at(uint64_t row, uint64_t deep) const {
        if (is_vector()) return deep * bits / 8;
        return (row / kSide * k_pitch + deep / depth) * kFractal + row % kSide * kBlockBytes + deep % depth * bits / 8;
    }
    uint64_t b_at(uint64_t deep, uint64_t column) const {
        return (deep / depth * n1 + column / kSide) * kFractal + column % kSide * kBlockBytes + deep % depth * bits / 8;
    }
    uint64_t c_at(uint64_t row, uint64_t column) const { return (column / kSide * m1 * kSide + row) * kSide * 4 + column % kSide * 4; }
};

// Row of the dense matrix in which row `kept` of a sparse one stands, by the two bits of its place. Two of one group of four that name one place share it.
uint64_t sparse_row(const Core &core, const vnpu_record &record, const MmadPlan &plan, uint64_t kept, uint64_t column);

// The product into L0C, all places of it defined already or not; cube_product.cpp.
void multiply(Core &core, const vnpu_record &record, const MmadPlan &plan);

}  // namespace vnpu
