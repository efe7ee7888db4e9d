/*
 * What one Fixpipe moves, and how it changes an element.
 *
 * Problem: planning, checks, numbers and footprints need the same geometry; scaled forms have one parameter or one per column.
 * Approach: the plan of an instruction, made once; a conversion per column, or one for all.
 * Limits: see cube_fixpipe.cpp.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core.h"
#include "vector_plan.h"

namespace vnpu {

constexpr uint64_t kFixSide = 16, kFixRowBytes = kFixSide * 4, kParameterBytes = 8;

struct FixPlan {
    uint64_t m, n, strip, dst_step, matrices, src_matrix, dst_matrix;
    uint32_t mode, quant, element;  // quant: of the scaled forms that with one parameter
    bool is_by_rows, is_to_l1;
    bool is_by_columns;   // a parameter per column, from the fixpipe buffer
    uint64_t parameters;  // their first byte there
    uint64_t parameter;   // the one for all

    // Columns of a block that is not a row: all of them have the same number but the last.
    uint64_t width() const { return mode & VNPU_FIX_SPLIT ? kFixSide / 2 : element == 1 ? 2 * kFixSide : kFixSide; }
    uint64_t blocks() const { return is_by_rows ? m : (n + width() - 1) / width(); }
    uint64_t block_bytes(uint64_t block) const { return (is_by_rows ? n : m * std::min(width(), n - block * width())) * element; }
    uint64_t src_span() const { return (matrices - 1) * src_matrix + (n - 1) / kFixSide * strip + m * kFixRowBytes; }
    // Byte in L0C of a result of one matrix.
    uint64_t src(uint64_t matrix, uint64_t row, uint64_t column) const {
        return matrix * src_matrix + column / kFixSide * strip + row * kFixRowBytes + column % kFixSide * 4;
    }
};

struct Conversion {
    uint32_t quant;
    bool is_float, is_relu, keeps_infinities, is_signed, is_shifted;
    float scale;
    int32_t offset;
    uint32_t shift;
};

// One for all columns, or one for each.
std::vector<Conversion> conversions_of(Core &core, const vnpu_record &record, const FixPlan &plan);

// The result at `at` as an element at `to`.
void convert(const Conversion &how, const uint8_t *at, uint8_t *to);

}  // namespace vnpu
