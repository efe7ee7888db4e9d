/*
 * L1 to the operand memories of the cube unit: LoadData, LoadDataWithTranspose, and DataCopy into the bias table.
 *
 * Problem: the cube reads fractals of 512 bytes in an order of its own (left matrix: rows of fractals; right matrix: transposed inside, too).
 * Approach: a repeat takes one fractal as it is; with transposition it takes a square of one fractal (2-byte elements) or of two (1 and 4 bytes), transposes
 * it and puts its fractals down one by one. Two fractals of 1-byte elements lie one below the other, of 4-byte elements side by side (vendor's page).
 * Limits: what comes from global memory is a plain copy, elsewhere.
 */
#include <algorithm>
#include <cstring>

#include "access.h"
#include "dtypes.h"
#include "half.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint64_t kFractalBytes = 512, kFractalRows = 16;
constexpr uint64_t kL0Align = 512, kBiasAlign = 64, kFixAlign = 128, kMaxBiasBlocks = 4095;

struct LoadPlan {
    uint64_t repeats, src_step, dst_step, fractal_step;
    uint32_t element;
    bool is_transposed, is_nibbles;
    uint64_t fractals;  // per repeat

    uint64_t src(const vnpu_record &record, uint64_t repeat) const { return record.src0.addr + repeat * src_step; }
    uint64_t dst(const vnpu_record &record, uint64_t repeat, uint64_t fractal) const { return record.dst.addr + repeat * dst_step + fractal * fractal_step; }
};

LoadPlan plan_load(Core &core, const vnpu_record &record) {
    LoadPlan plan{};
    plan.repeats = record.p[0];
    plan.src_step = record.p[1];
    plan.dst_step = record.p[2];
    plan.fractal_step = record.p[3];
    plan.is_nibbles = record.src0.dtype == VNPU_DT_I4;
    plan.element = plan.is_nibbles ? 1 : dtype_bytes(record.src0.dtype);
    plan.is_transposed = record.p[3] != 0;
    plan.fractals = !plan.is_transposed || plan.element == 2 ? 1 : plan.is_nibbles ? 4 : 2;
    if (plan.is_nibbles && plan.is_transposed && record.dst.space == VNPU_SPACE_L0A)
        core.fail(record, "unsupported_api", api_name(place_of(record)) + " takes int4b_t to L0B (B2) only");
    const bool is_to_l0 = record.dst.space == VNPU_SPACE_L0A || record.dst.space == VNPU_SPACE_L0B;
    if (record.src0.space != VNPU_SPACE_L1 || !is_to_l0 || plan.element == 0 || plan.element > 4)
        core.fail(record, "unsupported_api",
                  api_name(place_of(record)) + " goes from L1 (TPosition::A1, B1) to L0A (A2) or L0B (B2) here, with elements of 1, 2 or 4 bytes");
    if (plan.repeats > kMaxRepeats)
        core.fail(record, "bad_parameter", api_name(place_of(record)) + ": repeatTimes is " + std::to_string(plan.repeats) + "; the instruction holds 0 to 255",
                  {{"value", static_cast<int64_t>(plan.repeats)}});
    return plan;
}

// Where the element at row, column of fractal `fractal` of a transposed square comes from.
uint64_t source_of(uint32_t element, uint64_t fractal, uint64_t row, uint64_t column) {
    if (element == 1) return column * 32 + fractal * kFractalRows + row;
    if (element == 2) return (column * kFractalRows + row) * 2;
    return row / 8 * kFractalBytes + (fractal * 8 + column) * 32 + row % 8 * 4;
}

// 64 x 64 elements of 4 bits, of which a fractal has 16 rows.
void transpose_nibbles(const OnChip &from, uint64_t src, const OnChip &to, uint64_t dst, uint64_t fractal) {
    to.undefined.clear(dst, dst + kFractalBytes);
    for (uint64_t row = 0; row < kFractalRows; ++row)
        for (uint64_t column = 0; column < 2 * kBlockBytes; ++column) {
            const uint64_t line = fractal * kFractalRows + row, at = src + column * kBlockBytes + line / 2, put = dst + row * kBlockBytes + column / 2;
            const uint8_t value = from.bytes[at] >> (line % 2 * 4) & 15, shift = column % 2 * 4;
            to.bytes[put] = static_cast<uint8_t>((to.bytes[put] & (0xf0 >> shift)) | value << shift);
            if (from.undefined.any(at, at + 1)) to.undefined.set(put, put + 1);
        }
}

// The most frequent one: a square of 2-byte elements, all of them defined.
void transpose_halves(const OnChip &from, uint64_t src, const OnChip &to, uint64_t dst) {
    uint16_t square[kFractalRows][kFractalRows], turned[kFractalRows][kFractalRows];
    std::memcpy(square, from.bytes.data() + src, sizeof square);
    for (uint64_t row = 0; row < kFractalRows; ++row)
        for (uint64_t column = 0; column < kFractalRows; ++column) turned[row][column] = square[column][row];
    std::memcpy(to.bytes.data() + dst, turned, sizeof turned);
}

void transpose(const LoadPlan &plan, const OnChip &from, uint64_t src, const OnChip &to, uint64_t dst, uint64_t fractal) {
    const bool is_defined = !from.undefined.any(src, src + plan.fractals * kFractalBytes);
    if (plan.is_nibbles) return transpose_nibbles(from, src, to, dst, fractal);
    to.undefined.clear(dst, dst + kFractalBytes);
    if (plan.element == 2 && is_defined) return transpose_halves(from, src, to, dst);
    for (uint64_t row = 0; row < kFractalRows; ++row)
        for (uint64_t column = 0; column < kBlockBytes / plan.element; ++column) {
            const uint64_t at = src + source_of(plan.element, fractal, row, column), put = dst + row * kBlockBytes + column * plan.element;
            std::memcpy(to.bytes.data() + put, from.bytes.data() + at, plan.element);
            if (!is_defined && from.undefined.any(at, at + plan.element)) to.undefined.set(put, put + plan.element);
        }
}

// UndefinedBytes::copy works inside one memory.
void copy_between(const OnChip &from, uint64_t src, const OnChip &to, uint64_t dst, uint64_t bytes) {
    std::memcpy(to.bytes.data() + dst, from.bytes.data() + src, bytes);
    to.undefined.clear(dst, dst + bytes);
    for (uint64_t at = from.undefined.first(src, src + bytes); at < src + bytes; at = from.undefined.first(at + 1, src + bytes))
        to.undefined.set(dst + at - src, dst + at - src + 1);
}

void move_fractals(Core &core, const vnpu_record &record, const LoadPlan &plan) {
    const OnChip from = on_chip(core, VNPU_SPACE_L1), to = on_chip(core, record.dst.space);
    for (uint64_t repeat = 0; repeat < plan.repeats; ++repeat)
        for (uint64_t fractal = 0; fractal < plan.fractals; ++fractal) {
            const uint64_t src = plan.src(record, repeat), dst = plan.dst(record, repeat, fractal);
            if (plan.is_transposed)
                transpose(plan, from, src, to, dst, fractal);
            else
                copy_between(from, src, to, dst, kFractalBytes);
        }
}

// The order in which two fractals reach one place is not told.
void check_overlap(Core &core, const vnpu_record &record, std::vector<uint64_t> places) {
    std::sort(places.begin(), places.end());
    for (size_t at = 1; at < places.size(); ++at)
        if (places[at] < places[at - 1] + kFractalBytes)
            core.fail(record, "bad_overlap",
                      api_name(place_of(record)) + " writes " + on_chip(core, record.dst.space).name + " byte " + std::to_string(places[at]) +
                          " more than once: dstGap and dstFracGap have to leave room for every fractal",
                      {{"address", static_cast<int64_t>(places[at])}});
}

}  // namespace

void run_load_data(Core &core, const vnpu_record &record) {
    const LoadPlan plan = plan_load(core, record);
    const uint64_t fractals = plan.repeats * plan.fractals, bytes = fractals * kFractalBytes;
    if (plan.repeats == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    const uint64_t square = plan.fractals * kFractalBytes, last = plan.repeats - 1;
    check_on_chip(core, record, record.src0, last * plan.src_step + square, false);
    check_on_chip(core, record, record.dst, last * plan.dst_step + (plan.fractals - 1) * plan.fractal_step + kFractalBytes, true, kL0Align);
    std::vector<Touch> touches;
    std::vector<uint64_t> places;
    for (uint64_t repeat = 0; repeat < plan.repeats; ++repeat)
        append_touch(touches, {VNPU_SPACE_L1, false, plan.src(record, repeat), plan.src(record, repeat) + square});
    for (uint64_t repeat = 0; repeat < plan.repeats; ++repeat)
        for (uint64_t fractal = 0; fractal < plan.fractals; ++fractal) {
            places.push_back(plan.dst(record, repeat, fractal));
            append_touch(touches, {record.dst.space, true, places.back(), places.back() + kFractalBytes});
        }
    check_overlap(core, record, places);
    order_accesses(core, record, touches);
    if (core.moves_data()) move_fractals(core, record, plan);
    core.append(cost_of(core.launch.chip, record, static_cast<uint32_t>(fractals), bytes));
}

namespace {

// Halves become floats on their way into the bias table.
void widen_between(const OnChip &from, uint64_t src, const OnChip &to, uint64_t dst, uint64_t bytes) {
    to.undefined.clear(dst, dst + 2 * bytes);
    for (uint64_t at = 0; at < bytes; at += 2) {
        uint16_t bits = 0;
        std::memcpy(&bits, from.bytes.data() + src + at, sizeof bits);
        const float value = half_to_float(bits);
        std::memcpy(to.bytes.data() + dst + 2 * at, &value, sizeof value);
        if (from.undefined.any(src + at, src + at + 2)) to.undefined.set(dst + 2 * at, dst + 2 * at + 4);
    }
}

}  // namespace

void run_bias_copy(Core &core, const vnpu_record &record) {
    const uint64_t blocks = record.p[0], bytes = record.p[1];
    if (blocks == 0 || bytes == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    if (blocks > kMaxBiasBlocks || bytes % kBlockBytes)
        core.fail(record, "bad_parameter", api_name(place_of(record)) + ": blockCount is 0 to 4095, a block is a multiple of 32 bytes",
                  {{"blocks", record.p[0]}, {"bytes", record.p[1]}});
    const bool is_widened = record.src0.dtype == VNPU_DT_F16 && record.dst.dtype == VNPU_DT_F32;
    const bool is_fix = record.dst.space == VNPU_SPACE_FB;  // steps are from start to start there
    const uint64_t dst_bytes = is_widened ? 2 * bytes : bytes;
    const uint64_t src_step = (is_fix ? 0 : bytes) + record.p[2], dst_step = (is_fix ? 0 : dst_bytes) + record.p[3];
    check_on_chip(core, record, record.src0, (blocks - 1) * src_step + bytes, false);
    check_on_chip(core, record, record.dst, (blocks - 1) * dst_step + dst_bytes, true, is_fix ? kFixAlign : kBiasAlign);
    const OnChip from = on_chip(core, VNPU_SPACE_L1), to = on_chip(core, record.dst.space);
    std::vector<Touch> touches;
    for (uint64_t block = 0; block < blocks; ++block) {
        const uint64_t src = record.src0.addr + block * src_step, dst = record.dst.addr + block * dst_step;
        append_touch(touches, {VNPU_SPACE_L1, false, src, src + bytes});
        touches.push_back({record.dst.space, true, dst, dst + dst_bytes});
    }
    order_accesses(core, record, touches);
    for (uint64_t block = 0; block < blocks && core.moves_data(); ++block)
        (is_widened ? widen_between : copy_between)(from, record.src0.addr + block * src_step, to, record.dst.addr + block * dst_step, bytes);
    core.append(cost_of(core.launch.chip, record, static_cast<uint32_t>(blocks), blocks * bytes));
}

}  // namespace vnpu
