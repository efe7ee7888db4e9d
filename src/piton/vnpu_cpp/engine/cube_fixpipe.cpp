/*
 * Fixpipe: results out of L0C (columns of 16 x 16 fractals of 4 bytes) to global memory, with a change of type and of layout on the way.
 *
 * Problem: rows of the result lie 16 columns at a time; types are narrowed, scaled and cut off at zero.
 * Approach: a list of blocks of global memory without a gap: a row each (NZ2ND), or 16 columns each (NZ2NZ; 8 of them with channelSplit, 32 where two are
 * merged because elements have one byte). Every element is converted by itself: float to half or bfloat16_t rounds to nearest, the scaled forms multiply in
 * float by the parameter's 19 highest bits, as the vendor's page says. Bit 48 of CTRL decides whether half keeps infinities.
 * Limits: one parameter for all columns (no vector forms), no clip, no 4-bit results; not to L1.
 */
#include <algorithm>
#include <cmath>
#include <cstring>

#include "dtypes.h"
#include "gm_store.h"
#include "half.h"
#include "unit_flag.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint64_t kSide = 16, kRowBytes = kSide * 4, kL0cAlign = 64;
constexpr uint64_t kMaxColumns = 4095, kMaxRowsByRow = 8192;
constexpr float kHalfMax = 65504.0f;

struct FixPlan {
    uint64_t m, n, strip, dst_step, matrices, src_matrix, dst_matrix;
    uint32_t mode, quant, element;
    bool is_by_rows;

    // Columns of a block that is not a row: all of them have the same number but the last.
    uint64_t width() const { return mode & VNPU_FIX_SPLIT ? kSide / 2 : element == 1 ? 2 * kSide : kSide; }
    uint64_t blocks() const { return is_by_rows ? m : (n + width() - 1) / width(); }
    uint64_t block_bytes(uint64_t block) const { return (is_by_rows ? n : m * std::min(width(), n - block * width())) * element; }
    uint64_t src_span() const { return (matrices - 1) * src_matrix + (n - 1) / kSide * strip + m * kRowBytes; }
    // Byte in L0C of a result of one matrix.
    uint64_t src(uint64_t matrix, uint64_t row, uint64_t column) const {
        return matrix * src_matrix + column / kSide * strip + row * kRowBytes + column % kSide * 4;
    }
};

[[noreturn]] void refuse(Core &core, const vnpu_record &record, const std::string &what, uint64_t value) {
    core.fail(record, "bad_parameter", "Fixpipe: " + what, {{"value", static_cast<int64_t>(value)}});
}

// The change of type that goes with source and destination.
void check_types(Core &core, const vnpu_record &record, const FixPlan &plan) {
    const bool is_float = record.src0.dtype == VNPU_DT_F32;
    const uint8_t to = record.dst.dtype;
    uint32_t needed = VNPU_QUANT_NONE;
    const char *name = "NoQuant";
    if (to == VNPU_DT_F16) needed = is_float ? VNPU_QUANT_F16 : VNPU_QUANT_DEQ_F16, name = is_float ? "F322F16" : "DEQF16";
    if (to == VNPU_DT_BF16 && is_float) needed = VNPU_QUANT_BF16, name = "F322BF16";
    if (plan.element == 1) needed = is_float ? VNPU_QUANT_F32_B8 : VNPU_QUANT_REQ_B8, name = is_float ? "QF322B8_PRE" : "REQ8";
    if (plan.quant != needed)
        refuse(core, record, std::string("quantPre has to be QuantMode_t::") + name + " for these types of source and destination", plan.quant);
    const bool is_plain = to == record.src0.dtype, is_known = is_plain || needed != VNPU_QUANT_NONE;
    if (!is_known || (!is_float && record.src0.dtype != VNPU_DT_I32)) core.fail(record, "unsupported_api", "Fixpipe does not convert between these types");
    if ((plan.mode & VNPU_FIX_SPLIT) && (!is_float || !is_plain || plan.is_by_rows || plan.mode & VNPU_UNIT_FLAG))
        refuse(core, record, "channelSplit is for float to float without NZ2ND and without unitFlag", 1);
}

FixPlan plan_fixpipe(Core &core, const vnpu_record &record) {
    if (record.src0.space != VNPU_SPACE_L0C || record.dst.space != VNPU_SPACE_GM)
        core.fail(record, "unsupported_api", "Fixpipe goes from L0C (CO1) to global memory here");
    FixPlan plan{};
    plan.m = record.p[0];
    plan.n = record.p[1];
    plan.strip = record.p[2];
    plan.dst_step = record.p[3];
    plan.mode = static_cast<uint32_t>(record.mask[1] >> 32);
    plan.quant = plan.mode >> VNPU_FIX_QUANT_SHIFT;
    plan.element = dtype_bytes(record.dst.dtype);
    plan.is_by_rows = (plan.mode & VNPU_FIX_ROWS) != 0;
    plan.matrices = plan.is_by_rows ? record.mask[0] & 0xffffffff : 1;
    plan.src_matrix = record.mask[0] >> 32;
    plan.dst_matrix = record.mask[1] & 0xffffffff;
    check_types(core, record, plan);
    const uint64_t unit = plan.mode & VNPU_FIX_SPLIT ? kSide / 2 : kSide;
    if (plan.n > kMaxColumns) refuse(core, record, "nSize is " + std::to_string(plan.n) + ", at most 4095 are possible", plan.n);
    if (plan.is_by_rows && plan.m > kMaxRowsByRow) refuse(core, record, "mSize is " + std::to_string(plan.m) + ", at most 8192 are possible", plan.m);
    if (!plan.is_by_rows && plan.n % unit) refuse(core, record, "nSize is " + std::to_string(plan.n) + ", not a multiple of " + std::to_string(unit), plan.n);
    return plan;
}

void check_destination(Core &core, const vnpu_record &record, const FixPlan &plan) {
    if (!plan.is_by_rows && record.dst.addr % kBlockBytes)
        core.fail(record, "misaligned", "Fixpipe without NZ2ND writes global memory from " + hex(record.dst.addr) + ", which is not a multiple of 32",
                  {{"address", static_cast<int64_t>(record.dst.addr)}, {"alignment_bytes", kBlockBytes}});
    if (plan.blocks() < 2 || plan.dst_step >= plan.block_bytes(0)) return;
    core.fail(record, "bad_overlap",
              "Fixpipe: dstStride of " + std::to_string(plan.dst_step) + " bytes is less than the " + std::to_string(plan.block_bytes(0)) +
                  " bytes that are written each time; bytes would be written twice, in no defined order",
              {{"step_bytes", static_cast<int64_t>(plan.dst_step)}, {"bytes", static_cast<int64_t>(plan.block_bytes(0))}});
}

// ---- one element ----
struct Conversion {
    uint32_t quant;
    bool is_float, is_relu, keeps_infinities, is_signed, is_shifted;
    float scale;
    int32_t offset;
    uint32_t shift;
};

Conversion conversion_of(const Core &core, const vnpu_record &record, const FixPlan &plan) {
    const uint64_t bits = record.scalar;
    Conversion how{};
    how.quant = plan.quant;
    how.is_float = record.src0.dtype == VNPU_DT_F32;
    how.is_relu = (plan.mode & VNPU_FIX_RELU) != 0;
    how.keeps_infinities = (core.ctrl & kCtrlKeepsInfinities) != 0;
    how.scale = bits_as<float>(static_cast<uint32_t>(bits) & 0xffffe000u);
    how.shift = static_cast<uint32_t>(bits >> 32 & 0xf) + 1;
    how.is_shifted = (bits >> 36 & 1) != 0 && !how.is_float;
    how.offset = static_cast<int32_t>(static_cast<uint32_t>(bits >> 37 & 0x1ff) << 23) >> 23;
    how.is_signed = (bits >> 46 & 1) != 0;
    return how;
}

float saturated(const Conversion &how, float value, float largest) {
    if (how.keeps_infinities) return value;
    return std::isnan(value) ? 0.0f : std::clamp(value, -largest, largest);
}

// The scaled forms: what the page calls M1 for positive values, M2 (0 with ReLU) for negative ones.
float scaled(const Conversion &how, const uint8_t *at) {
    float value = bits_as<float>(uint32_t{0});
    int32_t whole = 0;
    std::memcpy(&whole, at, sizeof whole);
    if (how.is_float) std::memcpy(&value, at, sizeof value);
    if (!how.is_float) value = static_cast<float>(how.is_shifted ? std::clamp(whole >> how.shift, -32768, 32767) : whole);
    return how.is_relu && value < 0 ? 0.0f : value * how.scale;
}

uint8_t to_byte(const Conversion &how, float value) {
    const float rounded = std::isnan(value) ? 0.0f : std::clamp(std::nearbyint(value), -256.0f, 255.0f);
    const int32_t moved = static_cast<int32_t>(rounded) + how.offset;
    return static_cast<uint8_t>(how.is_signed ? std::clamp(moved, -128, 127) : std::clamp(moved, 0, 255));
}

// Bits of bfloat16, rounded to nearest, ties to even.
uint16_t float_to_bfloat(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40u);
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

void convert(const Conversion &how, const uint8_t *at, uint8_t *to) {
    if (how.quant == VNPU_QUANT_F32_B8 || how.quant == VNPU_QUANT_REQ_B8) {
        *to = to_byte(how, scaled(how, at));
        return;
    }
    uint32_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    const bool is_negative = how.is_float ? bits_as<float>(bits) < 0 : static_cast<int32_t>(bits) < 0;
    if (how.is_relu && is_negative) bits = 0;
    if (how.quant == VNPU_QUANT_NONE) {
        std::memcpy(to, &bits, sizeof bits);
        return;
    }
    const bool is_bfloat = how.quant == VNPU_QUANT_BF16;
    const float value = how.quant == VNPU_QUANT_DEQ_F16 ? scaled(how, at) : bits_as<float>(bits);
    const float largest = is_bfloat ? bits_as<float>(0x7f7f0000u) : kHalfMax;
    const uint16_t narrow = is_bfloat ? float_to_bfloat(saturated(how, value, largest)) : float_to_half(saturated(how, value, largest));
    std::memcpy(to, &narrow, sizeof narrow);
}

// ---- blocks of global memory ----
struct OutBlock {
    uint64_t gm;
    uint64_t matrix, row, column, rows, columns;  // of the results in it
    std::vector<uint8_t> bytes;
};

std::vector<OutBlock> list_blocks(const vnpu_record &record, const FixPlan &plan) {
    std::vector<OutBlock> blocks;
    for (uint64_t matrix = 0; matrix < plan.matrices; ++matrix)
        for (uint64_t block = 0; block < plan.blocks(); ++block) {
            const uint64_t gm = record.dst.addr + matrix * plan.dst_matrix + block * plan.dst_step;
            const uint64_t column = plan.is_by_rows ? 0 : block * plan.width();
            const uint64_t columns = plan.is_by_rows ? plan.n : std::min(plan.width(), plan.n - column);
            blocks.push_back({gm, matrix, plan.is_by_rows ? block : 0, column, plan.is_by_rows ? 1 : plan.m, columns, {}});
        }
    return blocks;
}

void fill(Core &core, const vnpu_record &record, const FixPlan &plan, const Conversion &how, OutBlock &block) {
    const uint8_t *l0c = on_chip(core, VNPU_SPACE_L0C).bytes.data() + record.src0.addr;
    block.bytes.resize(block.rows * block.columns * plan.element);
    uint8_t *to = block.bytes.data();
    for (uint64_t row = 0; row < block.rows; ++row)
        for (uint64_t column = 0; column < block.columns; ++column, to += plan.element)
            convert(how, l0c + plan.src(block.matrix, block.row + row, block.column + column), to);
}

void check_defined(Core &core, const vnpu_record &record, const FixPlan &plan, const OutBlock &block) {
    for (uint64_t row = block.row; row < block.row + block.rows; ++row)
        for (uint64_t column = block.column; column < block.column + block.columns;) {
            const uint64_t end = std::min(block.column + block.columns, (column / kSide + 1) * kSide),
                           at = record.src0.addr + plan.src(block.matrix, row, column);
            report_undefined(core, record, at, at + (end - column) * 4, "global memory", VNPU_SPACE_L0C);
            column = end;
        }
}

void append_reads(const vnpu_record &record, const FixPlan &plan, std::vector<Touch> &touches) {
    for (uint64_t matrix = 0; matrix < plan.matrices; ++matrix)
        for (uint64_t column = 0; column < plan.n; column += kSide) {
            const uint64_t at = record.src0.addr + plan.src(matrix, 0, column);
            append_touch(touches, {VNPU_SPACE_L0C, false, at, at + plan.m * kRowBytes});
        }
}

// One entry per matrix; they are one instruction, issued and set up once.
void append_costs(Core &core, const vnpu_record &record, const FixPlan &plan) {
    TraceEntry entry = cost_of(core.launch.chip, record, static_cast<uint32_t>(plan.blocks()), plan.m * plan.n);
    for (uint64_t matrix = 0; matrix < plan.matrices; ++matrix) {
        core.append(entry);
        entry.cycles = entry.issue_cycles = 0;
        entry.gm_addr += plan.dst_matrix;
    }
}

}  // namespace

void run_fixpipe(Core &core, const vnpu_record &record) {
    const FixPlan plan = plan_fixpipe(core, record);
    if (plan.m == 0 || plan.n == 0 || plan.matrices == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    check_on_chip(core, record, record.src0, plan.src_span(), false, kL0cAlign);
    check_destination(core, record, plan);
    const uint64_t begin = record.src0.addr;
    if (plan.mode & VNPU_UNIT_FLAG) order_by_unit_flag(core, record, VNPU_PIPE_M, begin, begin + plan.src_span(), false);
    const Conversion how = conversion_of(core, record, plan);
    std::vector<OutBlock> blocks = list_blocks(record, plan);
    std::vector<Touch> touches;
    append_reads(record, plan, touches);
    for (OutBlock &block : blocks) {
        if (core.moves_data()) fill(core, record, plan, how, block);
        const uint64_t bytes = block.rows * block.columns * plan.element;
        touches.push_back(check_gm_store(core, record, {block.gm, bytes, core.moves_data() ? block.bytes.data() : nullptr}));
    }
    order_accesses(core, record, touches);
    for (const OutBlock &block : blocks) {
        if (core.moves_data()) check_defined(core, record, plan, block);
        write_gm(core, record, {block.gm, block.rows * block.columns * plan.element, block.bytes.data()});
    }
    append_costs(core, record, plan);
}

}  // namespace vnpu
