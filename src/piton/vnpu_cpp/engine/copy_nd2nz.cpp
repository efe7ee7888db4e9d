/*
 * DataCopy with Nd2NzParams: matrices of global memory into L1, rows becoming columns of 32-byte units on the way.
 *
 * Problem: the cube unit reads fractals, 16 rows of 32 bytes; memory holds rows.
 * Approach: a row is cut into units of 32 bytes, the last one filled up with zeros. Unit c of row r of matrix m goes to
 * m * matrix + c * column + r * row bytes; the steps are the caller's, so that fractals may lie apart.
 * Limits: 4-bit types are handled as bytes by the caller, as the vendor's page says. Units that overlap are refused: their order is not defined.
 */
#include <algorithm>
#include <cstring>

#include "access.h"
#include "copy.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint32_t kMaxMatrices = 4095, kMaxRows = 16384;  // documentation page of the call

struct Nd2Nz {
    uint64_t rows, row_bytes, row_step, matrices;  // in global memory
    uint64_t matrix_step;
    uint64_t units;                                    // per row
    uint64_t chip_column, chip_row_step, chip_matrix;  // bytes on chip from unit to unit of a row, from row to row, from matrix to matrix

    uint64_t gm(const vnpu_record &record, uint64_t matrix, uint64_t row) const { return record.src0.addr + matrix * matrix_step + row * row_step; }
    uint64_t chip(const vnpu_record &record, uint64_t matrix, uint64_t unit, uint64_t row) const {
        return record.dst.addr + matrix * chip_matrix + unit * chip_column + row * chip_row_step;
    }
};

Nd2Nz plan_nd2nz(const vnpu_record &record) {
    Nd2Nz plan{};
    plan.rows = record.p[0];
    plan.row_bytes = record.p[1];
    plan.row_step = record.p[2];
    plan.matrices = record.p[3];
    plan.units = (plan.row_bytes + kBlockBytes - 1) / kBlockBytes;
    plan.chip_column = record.mask[0] & 0xffffffff;
    plan.chip_row_step = record.mask[0] >> 32;
    plan.matrix_step = record.mask[1] & 0xffffffff;
    plan.chip_matrix = record.mask[1] >> 32;
    return plan;
}

void check_parameters(Core &core, const vnpu_record &record, const Nd2Nz &plan) {
    const auto fail = [&](const std::string &what, uint64_t value) {
        core.fail(record, "bad_parameter", "DataCopy with Nd2NzParams: " + what, {{"value", static_cast<int64_t>(value)}});
    };
    if (plan.matrices > kMaxMatrices) fail("ndNum is " + std::to_string(plan.matrices) + ", at most 4095 are possible", plan.matrices);
    if (plan.rows > kMaxRows) fail("nValue is " + std::to_string(plan.rows) + ", at most 16384 are possible", plan.rows);
    if (plan.chip_column % kBlockBytes || plan.chip_row_step % kBlockBytes || plan.chip_matrix % kBlockBytes)
        fail("steps on chip have to be multiples of 32 bytes (dstNzMatrixStride counts elements)", plan.chip_matrix);
}

// On-chip bytes from the first to the last that any matrix touches.
uint64_t chip_span(const Nd2Nz &plan) {
    return (plan.matrices - 1) * plan.chip_matrix + (plan.units - 1) * plan.chip_column + (plan.rows - 1) * plan.chip_row_step + kBlockBytes;
}

void append_gm(Core &core, const vnpu_record &record, const Nd2Nz &plan, std::vector<Touch> &touches) {
    for (uint64_t matrix = 0; matrix < plan.matrices; ++matrix)
        for (uint64_t row = 0; row < plan.rows; ++row) {
            const uint64_t gm = plan.gm(record, matrix, row), end = gm + plan.row_bytes;
            check_gm(core, record, gm, plan.row_bytes, false);
            report_stale_cache(core, record, gm, end);
            append_touch(touches, {VNPU_SPACE_GM, false, gm, end});
        }
}

void append_chip(const vnpu_record &record, const Nd2Nz &plan, std::vector<Touch> &touches) {
    for (uint64_t matrix = 0; matrix < plan.matrices; ++matrix)
        for (uint64_t unit = 0; unit < plan.units; ++unit)
            for (uint64_t row = 0; row < plan.rows; ++row) {
                const uint64_t at = plan.chip(record, matrix, unit, row);
                append_touch(touches, {VNPU_SPACE_L1, true, at, at + kBlockBytes});
            }
}

[[noreturn]] void fail_overlap(Core &core, const vnpu_record &record, uint64_t address) {
    core.fail(record, "bad_overlap",
              "DataCopy with Nd2NzParams writes L1 byte " + std::to_string(address) +
                  " more than once, in no defined order: dstNzC0Stride (in units of 32 bytes) has to be at least nValue x dstNzNStride, dstNzMatrixStride (in "
                  "elements) at least a whole matrix",
              {{"address", static_cast<int64_t>(address)}});
}

// More units than L1 has: some place is written twice, and nothing has to be looked at to know.
void check_units(Core &core, const vnpu_record &record, const Nd2Nz &plan) {
    if (plan.matrices * plan.rows * plan.units * kBlockBytes > core.launch.limits.l1_bytes) fail_overlap(core, record, record.dst.addr);
}

// The same place twice within one instruction.
void check_overlap(Core &core, const vnpu_record &record, std::vector<Touch> touches) {
    std::sort(touches.begin(), touches.end(), [](const Touch &a, const Touch &b) { return a.begin < b.begin; });
    for (size_t at = 1; at < touches.size(); ++at)
        if (touches[at].begin < touches[at - 1].end) fail_overlap(core, record, touches[at].begin);
}

void move_row(Core &core, const vnpu_record &record, const Nd2Nz &plan, uint64_t matrix, uint64_t row) {
    const OnChip l1 = on_chip(core, VNPU_SPACE_L1);
    const uint64_t gm = plan.gm(record, matrix, row);
    const Allocation &source = *core.launch.memory.find(gm, plan.row_bytes);
    const bool is_defined = source.defined.covers(gm - source.address, gm - source.address + plan.row_bytes);
    for (uint64_t unit = 0; unit < plan.units; ++unit) {
        const uint64_t from = gm + unit * kBlockBytes, to = plan.chip(record, matrix, unit, row);
        const uint64_t bytes = std::min<uint64_t>(kBlockBytes, plan.row_bytes - unit * kBlockBytes);
        std::memcpy(l1.bytes.data() + to, core.launch.memory.readable(from), bytes);
        std::memset(l1.bytes.data() + to + bytes, 0, kBlockBytes - bytes);
        l1.undefined.clear(to, to + kBlockBytes);
        if (!is_defined) mark_undefined_gm(l1.undefined, source, from, to, bytes);
    }
}

// One entry per matrix, so that the replay sees every address; they are one instruction, issued and set up once.
void append_costs(Core &core, const vnpu_record &record, const Nd2Nz &plan) {
    TraceEntry entry = cost_of(core.launch.chip, record, static_cast<uint32_t>(plan.rows), plan.rows * plan.row_bytes);
    for (uint64_t matrix = 0; matrix < plan.matrices; ++matrix) {
        core.append(entry);
        entry.cycles = entry.issue_cycles = 0;
        entry.gm_addr += plan.matrix_step;
    }
}

}  // namespace

void run_nd2nz(Core &core, const vnpu_record &record) {
    const Nd2Nz plan = plan_nd2nz(record);
    check_parameters(core, record, plan);
    const bool is_nothing = plan.matrices == 0 || plan.rows == 0 || plan.row_bytes == 0;
    if (record.src0.space != VNPU_SPACE_GM || record.dst.space != VNPU_SPACE_L1)
        core.fail(record, "unsupported_api", "DataCopy with Nd2NzParams goes from global memory to L1 (TPosition::A1 or B1) on this chip, and nowhere else");
    if (is_nothing) return core.append(cost_of(core.launch.chip, record, 0, 0));
    check_on_chip(core, record, record.dst, chip_span(plan), true);
    check_units(core, record, plan);
    std::vector<Touch> touches;
    append_chip(record, plan, touches);
    check_overlap(core, record, touches);
    append_gm(core, record, plan, touches);
    order_accesses(core, record, touches);
    for (uint64_t matrix = 0; matrix < plan.matrices && core.moves_data(); ++matrix)
        for (uint64_t row = 0; row < plan.rows; ++row) move_row(core, record, plan, matrix, row);
    append_costs(core, record, plan);
}

}  // namespace vnpu
