/*
 * Fixpipe: results out of L0C (columns of 16 x 16 fractals of 4 bytes) to global memory or L1, with a change of type and of layout on the way.
 *
 * Problem: rows of the result lie 16 columns at a time; types are narrowed, scaled and cut off at zero.
 * Approach: a list of blocks of the destination without a gap: a row each (NZ2ND), or 16 columns each (NZ2NZ; 8 of them with channelSplit, 32 where two are
 * merged because elements have one byte). Every element is converted by itself (fixpipe_convert.cpp), with one parameter or that of its column in the
 * fixpipe buffer. DataCopy out of L0C is the same instruction; its parameters are in registers.
 * Limits: no clip, no elementwise operand and no 4-bit results: the Ascend 910B has none of them.
 */
#include "cube_fixpipe.h"

#include <algorithm>
#include <cstring>

#include "dtypes.h"
#include "gm_store.h"
#include "unit_flag.h"

namespace vnpu {

namespace {

constexpr uint64_t kSide = kFixSide, kRowBytes = kFixRowBytes, kL0cAlign = 64, kParametersAlign = 64;
constexpr uint64_t kMaxColumns = 4095, kMaxRowsByRow = 8192;
constexpr uint64_t kMaxMatrices = 65535, kMaxSrcMatrix = 512, kMaxDstMatrix = 65535;
constexpr uint64_t kMaxResults = 1 << 22;  // of one instruction, 128 times what L0C holds: no kernel of sense repeats it more often

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
    if (plan.is_to_l1 && needed == VNPU_QUANT_NONE)
        core.fail(record, "unsupported_api", "Fixpipe to L1 needs a change of type on this chip: half, bfloat16_t, int8_t or uint8_t");
    if (!is_known || (!is_float && record.src0.dtype != VNPU_DT_I32)) core.fail(record, "unsupported_api", "Fixpipe does not convert between these types");
    if ((plan.mode & VNPU_FIX_SPLIT) && (!is_float || !is_plain || plan.is_by_rows || plan.mode & VNPU_UNIT_FLAG))
        refuse(core, record, "channelSplit is for float to float without NZ2ND and without unitFlag", 1);
}

// Where the parameters of the scaled forms are; the forms with one per column become those with one for all.
void set_parameters(Core &core, const vnpu_record &record, FixPlan &plan) {
    plan.is_by_columns = plan.quant == VNPU_QUANT_VECTOR_DEQ_F16 || plan.quant == VNPU_QUANT_VECTOR_F32_B8 || plan.quant == VNPU_QUANT_VECTOR_REQ_B8;
    const bool is_kept = (plan.mode & VNPU_FIX_REGISTERS) != 0, is_scaled = plan.quant >= VNPU_QUANT_DEQ_F16;
    if (plan.is_by_columns) plan.quant -= 1;
    plan.parameter = is_kept ? core.fix.parameter.value_or(0) : record.scalar;
    plan.parameters = is_kept ? core.fix.parameters.value_or(0) : record.src1.addr;
    if (is_kept && is_scaled && !(plan.is_by_columns ? core.fix.parameters : core.fix.parameter))
        core.fail(record, "undefined_data",
                  std::string("DataCopy out of L0C scales by what ") + (plan.is_by_columns ? "SetFixPipeConfig" : "SetFixpipePreQuantFlag") +
                      " sets, and this kernel has not called it");
    if (!is_kept && plan.is_by_columns && record.src1.space != VNPU_SPACE_FB)
        refuse(core, record, "quantPre is one with a parameter per column: pass the tensor of parameters", plan.quant);
}

FixPlan plan_fixpipe(Core &core, const vnpu_record &record) {
    const bool is_to_l1 = record.dst.space == VNPU_SPACE_L1;
    if (record.src0.space != VNPU_SPACE_L0C || (record.dst.space != VNPU_SPACE_GM && !is_to_l1))
        core.fail(record, "unsupported_api", "Fixpipe goes from L0C (CO1) to global memory or to L1 (A1, B1, C1) on this chip");
    FixPlan plan{};
    plan.m = record.p[0];
    plan.n = record.p[1];
    plan.strip = record.p[2];
    plan.dst_step = record.p[3];
    plan.mode = static_cast<uint32_t>(record.mask[1] >> 32);
    plan.quant = plan.mode >> VNPU_FIX_QUANT_SHIFT;
    plan.element = dtype_bytes(record.dst.dtype);
    plan.is_to_l1 = is_to_l1;
    plan.is_by_rows = (plan.mode & VNPU_FIX_ROWS) != 0 && !is_to_l1;
    set_parameters(core, record, plan);
    const FixRegisters &kept = core.fix;
    const bool is_kept = (plan.mode & VNPU_FIX_REGISTERS) != 0;
    plan.matrices = !plan.is_by_rows ? 1 : is_kept ? kept.matrices : record.mask[0] & 0xffffffff;
    plan.src_matrix = is_kept ? kept.src_matrix * kSide * kRowBytes : record.mask[0] >> 32;
    plan.dst_matrix = is_kept ? kept.dst_matrix * plan.element : record.mask[1] & 0xffffffff;
    if (plan.matrices > kMaxMatrices) refuse(core, record, "ndNum is " + std::to_string(plan.matrices) + ", at most 65535 are possible", plan.matrices);
    check_types(core, record, plan);
    const uint64_t unit = plan.mode & VNPU_FIX_SPLIT ? kSide / 2 : kSide;
    if (plan.n > kMaxColumns) refuse(core, record, "nSize is " + std::to_string(plan.n) + ", at most 4095 are possible", plan.n);
    if (plan.is_by_rows && plan.m > kMaxRowsByRow) refuse(core, record, "mSize is " + std::to_string(plan.m) + ", at most 8192 are possible", plan.m);
    if (!plan.is_by_rows && plan.n % unit) refuse(core, record, "nSize is " + std::to_string(plan.n) + ", not a multiple of " + std::to_string(unit), plan.n);
    if (plan.m * plan.n * plan.matrices > kMaxResults)
        core.fail(record, "unsupported_api",
                  "Fixpipe writes more than " + std::to_string(kMaxResults) + " results at once, which the virtual NPU does not carry out");
    return plan;
}

void check_destination(Core &core, const vnpu_record &record, const FixPlan &plan) {
    if (!plan.is_by_rows && record.dst.addr % kBlockBytes)
        core.fail(record, "misaligned", "Fixpipe without NZ2ND writes from " + hex(record.dst.addr) + ", which is not a multiple of 32",
                  {{"address", static_cast<int64_t>(record.dst.addr)}, {"alignment_bytes", kBlockBytes}});
    if (plan.blocks() < 2 || plan.dst_step >= plan.block_bytes(0)) return;
    core.fail(record, "bad_overlap",
              "Fixpipe: dstStride of " + std::to_string(plan.dst_step) + " bytes is less than the " + std::to_string(plan.block_bytes(0)) +
                  " bytes that are written each time; bytes would be written twice, in no defined order",
              {{"step_bytes", static_cast<int64_t>(plan.dst_step)}, {"bytes", static_cast<int64_t>(plan.block_bytes(0))}});
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

void fill(Core &core, const vnpu_record &record, const FixPlan &plan, const std::vector<Conversion> &how, OutBlock &block) {
    const uint8_t *l0c = on_chip(core, VNPU_SPACE_L0C).bytes.data() + record.src0.addr;
    block.bytes.resize(block.rows * block.columns * plan.element);
    uint8_t *to = block.bytes.data();
    for (uint64_t row = 0; row < block.rows; ++row)
        for (uint64_t column = 0; column < block.columns; ++column, to += plan.element)
            convert(how[plan.is_by_columns ? block.column + column : 0], l0c + plan.src(block.matrix, block.row + row, block.column + column), to);
}

// Undefined results of a block: reported on their way to global memory, carried to L1.
void check_defined(Core &core, const vnpu_record &record, const FixPlan &plan, const OutBlock &block) {
    for (uint64_t row = block.row; row < block.row + block.rows; ++row)
        for (uint64_t column = block.column; column < block.column + block.columns;) {
            const uint64_t end = std::min(block.column + block.columns, (column / kSide + 1) * kSide),
                           at = record.src0.addr + plan.src(block.matrix, row, column);
            report_undefined(core, record, at, at + (end - column) * 4, "global memory", VNPU_SPACE_L0C);
            column = end;
        }
}

void carry_undefined(Core &core, const vnpu_record &record, const FixPlan &plan, const OutBlock &block) {
    const OnChip l0c = on_chip(core, VNPU_SPACE_L0C), l1 = on_chip(core, VNPU_SPACE_L1);
    const uint64_t row_bytes = block.columns * plan.element;
    l1.undefined.clear(block.gm, block.gm + block.rows * row_bytes);
    for (uint64_t row = 0; row < block.rows; ++row)
        for (uint64_t column = 0; column < block.columns; ++column) {
            const uint64_t at = record.src0.addr + plan.src(block.matrix, block.row + row, block.column + column);
            const uint64_t put = block.gm + row * row_bytes + column * plan.element;
            if (l0c.undefined.any(at, at + 4)) l1.undefined.set(put, put + plan.element);
        }
}

void append_reads(const vnpu_record &record, const FixPlan &plan, std::vector<Touch> &touches) {
    for (uint64_t matrix = 0; matrix < plan.matrices; ++matrix)
        for (uint64_t column = 0; column < plan.n; column += kSide) {
            const uint64_t at = record.src0.addr + plan.src(matrix, 0, column);
            append_touch(touches, {VNPU_SPACE_L0C, false, at, at + plan.m * kRowBytes});
        }
    if (plan.is_by_columns) touches.push_back({VNPU_SPACE_FB, false, plan.parameters, plan.parameters + plan.n * kParameterBytes});
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

void check_parameters(Core &core, const vnpu_record &record, const FixPlan &plan) {
    if (!plan.is_by_columns) return;
    vnpu_operand words{};
    words.addr = plan.parameters;
    words.limit = UINT32_MAX;
    words.space = VNPU_SPACE_FB;
    check_on_chip(core, record, words, plan.n * kParameterBytes, false, kParametersAlign);
    if (core.moves_data()) report_undefined(core, record, words.addr, words.addr + plan.n * kParameterBytes, "a result's scale", VNPU_SPACE_FB);
}

Touch destination(Core &core, const vnpu_record &record, const FixPlan &plan, const OutBlock &block) {
    const uint64_t bytes = block.rows * block.columns * plan.element;
    if (!plan.is_to_l1) return check_gm_store(core, record, {block.gm, bytes, core.moves_data() ? block.bytes.data() : nullptr});
    return {VNPU_SPACE_L1, true, block.gm, block.gm + bytes};
}

void store(Core &core, const vnpu_record &record, const FixPlan &plan, const OutBlock &block) {
    const uint64_t bytes = block.rows * block.columns * plan.element;
    if (!plan.is_to_l1) {
        if (core.moves_data()) check_defined(core, record, plan, block);
        write_gm(core, record, {block.gm, bytes, block.bytes.data()});
    } else if (core.moves_data()) {
        std::memcpy(on_chip(core, VNPU_SPACE_L1).bytes.data() + block.gm, block.bytes.data(), bytes);
        carry_undefined(core, record, plan, block);
    }
}

}  // namespace

void run_fixpipe(Core &core, const vnpu_record &record) {
    const FixPlan plan = plan_fixpipe(core, record);
    if (plan.m == 0 || plan.n == 0 || plan.matrices == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    check_on_chip(core, record, record.src0, plan.src_span(), false, kL0cAlign);
    check_destination(core, record, plan);
    if (plan.is_to_l1) check_on_chip(core, record, record.dst, (plan.blocks() - 1) * plan.dst_step + plan.block_bytes(plan.blocks() - 1), true);
    check_parameters(core, record, plan);
    const uint64_t begin = record.src0.addr;
    if (plan.mode & VNPU_UNIT_FLAG) order_by_unit_flag(core, record, VNPU_PIPE_M, begin, begin + plan.src_span(), false);
    const std::vector<Conversion> how = conversions_of(core, record, plan);
    std::vector<OutBlock> blocks = list_blocks(record, plan);
    std::vector<Touch> touches;
    append_reads(record, plan, touches);
    for (OutBlock &block : blocks) {
        if (core.moves_data()) fill(core, record, plan, how, block);
        touches.push_back(destination(core, record, plan, block));
    }
    order_accesses(core, record, touches);
    for (const OutBlock &block : blocks) store(core, record, plan, block);
    append_costs(core, record, plan);
}

namespace {

// As SetFixpipeNz2ndFlag holds them: products of these have to stay far below 2^64.
void check_matrices(Core &core, const vnpu_record &record) {
    if (record.p[1] <= kMaxMatrices && record.p[2] <= kMaxSrcMatrix && record.p[3] <= kMaxDstMatrix) return;
    core.fail(record, "bad_parameter", "SetFixpipeNz2ndFlag: ndNum and dstNdStride are 0 to 65535, srcNdStride is 0 to 512",
              {{"matrices", record.p[1]}, {"src_stride", record.p[2]}, {"dst_stride", record.p[3]}});
}

}  // namespace

// The registers are ordered by hardware with what uses them; the vendor's own sample has no barrier between a copy into the fixpipe buffer, SetFixPipeConfig
// and the instruction that reads it, so that this call orders the first with the last.
void set_fix_register(Core &core, const vnpu_record &record) {
    FixRegisters &fix = core.fix;
    if (record.p[0] == VNPU_FIX_MATRICES) {
        check_matrices(core, record);
        fix.matrices = record.p[1];
        fix.src_matrix = record.p[2];
        fix.dst_matrix = record.p[3];
    }
    if (record.p[0] == VNPU_FIX_PARAMETER) fix.parameter = record.scalar;
    if (record.p[0] != VNPU_FIX_PARAMETERS) return;
    fix.parameters = record.scalar;
    core.clocks.barrier(VNPU_PIPE_FIX);
}

}  // namespace vnpu
