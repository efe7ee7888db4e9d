/*
 * Compare: bits packed eight to a byte, element i of the walk being bit i % 8 of byte i / 8.
 *
 * Compare ignores its mask on the Ascend 910B, works on whole repeats only and writes one repeat's bits after the other's, whatever the destination's
 * strides. The loop over a repeat (loops/lanes.h) wants its operands side by side: those with other block strides are copied together first.
 */
#include <algorithm>
#include <cstring>

#include "composite.h"
#include "footprint.h"
#include "paths.h"

namespace vnpu {

namespace {

[[noreturn]] void refuse(Core &core, const vnpu_record &record, const std::string &what) {
    core.fail(record, "unsupported_api", api_name(place_of(record)) + " " + what, {{"dtype", record.src0.dtype}, {"mode", record.p[3]}});
}

// ---- Compare ----
void check_compare(Core &core, const vnpu_record &record) {
    const uint8_t dtype = record.src0.dtype;
    if (dtype != VNPU_DT_F16 && dtype != VNPU_DT_F32 && dtype != VNPU_DT_I32) refuse(core, record, "does not exist for this dtype");
    if (record.p[3] >= kCompareModes) refuse(core, record, "has no such mode");
    if (dtype == VNPU_DT_I32 && record.p[3] != kEqual) refuse(core, record, "on int32_t exists for CMPMODE::EQ only on the Ascend 910B");
    if (record.p[0] > kMaxRepeats && !(record.flags & VNPU_F_COUNT))
        core.fail(record, "bad_parameter", "repeatTime is " + std::to_string(record.p[0]) + "; the instruction holds 0 to 255", {{"repeats", record.p[0]}});
}

// The form without a destination: one repeat, whose bits stay in the compare register.
bool is_into_register(const vnpu_record &record) { return record.dst.space == VNPU_SPACE_NONE; }

bool has_tensor(const vnpu_record &record) { return record.src1.space != VNPU_SPACE_NONE; }

// Whole repeats: a remainder of the count is not computed.
Iterations whole_repeats(const vnpu_record &record, uint32_t lanes) {
    Iterations iterations;
    iterations.lanes = lanes;
    iterations.repeats = record.flags & VNPU_F_COUNT ? record.p[0] / lanes : record.p[0];
    return iterations;
}

Footprint compare_footprint(const vnpu_record &record, const Iterations &iterations, uint32_t bytes) {
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) {
        footprint.read_lanes(iterations, record.src0, bytes, repeat);
        if (has_tensor(record)) footprint.read_lanes(iterations, record.src1, bytes, repeat);
        if (!is_into_register(record)) footprint.write(record.dst.addr + static_cast<uint64_t>(repeat) * iterations.lanes / 8, iterations.lanes / 8);
    }
    return footprint;
}

void check_compare_operands(Core &core, const vnpu_record &record, const Iterations &iterations, uint32_t bytes) {
    if (!is_into_register(record))
        check_operand(core, record, record.dst, record.dst.addr + static_cast<uint64_t>(iterations.repeats) * iterations.lanes / 8, true);
    check_operand(core, record, record.src0, lanes_end(iterations, record.src0, bytes), false);
    if (has_tensor(record)) check_operand(core, record, record.src1, lanes_end(iterations, record.src1, bytes), false);
}

// The elements of one repeat of an operand side by side: where they lie, or in `space`.
const uint8_t *side_by_side(const Core &core, const vnpu_operand &operand, uint32_t repeat, uint8_t *space) {
    if (operand.blk == 1) return core.ub.data() + lane_at(operand, 1, repeat, 0);
    for (uint32_t at = 0; at < kRepeatBytes; at += kBlockBytes) std::memcpy(space + at, core.ub.data() + lane_at(operand, 1, repeat, at), kBlockBytes);
    return space;
}

// A byte of bits is undefined as soon as one of its eight elements is; these lie in one block.
void carry_undefined(const Core &core, const vnpu_operand &operand, uint32_t bytes, uint32_t repeat, CompareRegister &result) {
    const uint64_t first = lane_at(operand, 1, repeat, 0);
    if (operand.blk == 1 && !core.undefined.any(first, first + kRepeatBytes)) return;
    for (uint32_t at = 0; at < kRepeatBytes; at += 8 * bytes) {
        const uint64_t eight = lane_at(operand, 1, repeat, at);
        result.is_undefined[at / bytes / 8] |= core.undefined.any(eight, eight + 8 * bytes);
    }
}

CompareRegister compared_bits(const Core &core, const vnpu_record &record, const Iterations &iterations, uint32_t bytes, uint32_t repeat) {
    CompareRegister result;
    uint8_t spaces[2][kRepeatBytes];
    const uint8_t *a = side_by_side(core, record.src0, repeat, spaces[0]), *b = spaces[1];
    if (has_tensor(record))
        b = side_by_side(core, record.src1, repeat, spaces[1]);
    else
        for (uint32_t at = 0; at < kRepeatBytes; at += bytes) std::memcpy(spaces[1] + at, &record.scalar, bytes);
    loops().compare({record.src0.dtype, record.p[3], iterations.lanes}, a, b, result.bytes);
    carry_undefined(core, record.src0, bytes, repeat, result);
    if (has_tensor(record)) carry_undefined(core, record.src1, bytes, repeat, result);
    return result;
}

void store_register(Core &core, uint64_t to, const CompareRegister &bits, uint32_t bytes) {
    std::memcpy(core.ub.data() + to, bits.bytes, bytes);
    core.undefined.clear(to, to + bytes);
    for (uint32_t at = 0; at < bytes; ++at)
        if (bits.is_undefined[at]) core.undefined.set(to + at, to + at + 1);
}

void compare_repeat(Core &core, const vnpu_record &record, const Iterations &iterations, uint32_t bytes, uint32_t repeat) {
    const CompareRegister bits = compared_bits(core, record, iterations, bytes, repeat);
    store_register(core, record.dst.addr + static_cast<uint64_t>(repeat) * iterations.lanes / 8, bits, iterations.lanes / 8);
}

}  // namespace

void run_compare(Core &core, const vnpu_record &record) {
    check_compare(core, record);
    const uint32_t bytes = dtype_bytes(record.src0.dtype);
    const Iterations iterations = whole_repeats(record, kRepeatBytes / bytes);
    check_compare_operands(core, record, iterations, bytes);
    compare_footprint(record, iterations, bytes).settle(core, record);
    if (is_into_register(record)) {
        if (core.moves_data()) core.compared = compared_bits(core, record, iterations, bytes, 0);
    } else {
        for (uint32_t repeat = 0; repeat < iterations.repeats && core.moves_data(); ++repeat) compare_repeat(core, record, iterations, bytes, repeat);
    }
    core.append(cost_of(core.launch.chip, record, iterations.repeats, iterations.active()));
}

// The register to and from 16 bytes of the unified buffer.
void run_cmp_mask(Core &core, const vnpu_record &record) {
    constexpr uint32_t kBytes = sizeof core.compared.bytes;
    const bool is_get = record.opcode == VNPU_OP_GET_CMP_MASK;
    const vnpu_operand &operand = is_get ? record.dst : record.src0;
    check_operand(core, record, operand, operand.addr + kBytes, is_get, kBytes);
    Footprint footprint;
    is_get ? footprint.write(operand.addr, kBytes) : footprint.read(operand.addr, kBytes);
    footprint.settle(core, record);
    if (core.moves_data() && is_get) store_register(core, operand.addr, core.compared, kBytes);
    for (uint32_t at = 0; at < kBytes && core.moves_data() && !is_get; ++at) {
        core.compared.bytes[at] = core.ub[operand.addr + at];
        core.compared.is_undefined[at] = core.undefined.any(operand.addr + at, operand.addr + at + 1);
    }
    core.append(cost_of(core.launch.chip, record, 1, kBytes));
}

}  // namespace vnpu
