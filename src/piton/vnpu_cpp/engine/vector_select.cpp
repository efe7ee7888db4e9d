/*
 * Select: takes src0 where its bit is 1, element i of the walk being bit i % 8 of byte i / 8.
 *
 * Mode 0 uses the bits of one repeat for every repeat, modes 1 and 2 go through them. Modes 1 and 2 pass the scalar, or the address of the bits, through the
 * top of the unified buffer, which has to be kept free. The forms without a mask take from the compare register what SetCmpMask put there: the bits (mode 0),
 * the other value (mode 1), the address of the bits (mode 2).
 */
#include <algorithm>
#include <cstring>

#include "composite.h"
#include "footprint.h"
#include "paths.h"
#include "select_scratch.h"

namespace vnpu {

namespace {

enum SelectMode : uint32_t { kOneRepeat, kTensorScalar, kTensorTensor, kSelectModes };  // AscendC::SELMODE

uint32_t select_mode(const vnpu_record &record) { return record.p[3] & ~VNPU_SELECT_REGISTER; }
bool is_by_register(const vnpu_record &record) { return (record.p[3] & VNPU_SELECT_REGISTER) != 0; }

[[noreturn]] void refuse(Core &core, const vnpu_record &record, const std::string &what) {
    core.fail(record, "unsupported_api", api_name(place_of(record)) + " " + what, {{"dtype", record.src0.dtype}, {"mode", record.p[3]}});
}

struct SelectOperands {
    vnpu_operand bits;  // of the selection; no space when the compare register holds them
    bool has_src1;
    uint64_t scalar;  // the other value, without src1
};

uint64_t register_word(const CompareRegister &compared, uint32_t bytes) {
    uint64_t word = 0;
    std::memcpy(&word, compared.bytes, bytes);
    return word;
}

SelectOperands by_register(const Core &core, const vnpu_record &record) {
    if (select_mode(record) == kTensorScalar) return {record.src1, false, register_word(core.compared, dtype_bytes(record.dst.dtype))};
    if (select_mode(record) == kOneRepeat) return {vnpu_operand{}, true, 0};
    vnpu_operand bits = record.src1;
    bits.addr = register_word(core.compared, 4);
    bits.limit = 0xffffffffu;
    return {bits, true, 0};
}

// Mode 1 has the bits in src1 and the other value in the scalar; modes 0 and 2 need src1 for the tensor and carry the bits' address and limit in the scalar.
SelectOperands select_operands(const Core &core, const vnpu_record &record) {
    if (is_by_register(record)) return by_register(core, record);
    if (record.p[3] == kTensorScalar) return {record.src1, false, record.scalar};
    vnpu_operand bits = record.src1;
    bits.addr = record.scalar & 0xffffffffu;
    bits.limit = static_cast<uint32_t>(record.scalar >> 32);
    return {bits, true, 0};
}

void check_select(Core &core, const vnpu_record &record) {
    const bool is_float = record.dst.dtype == VNPU_DT_F16 || record.dst.dtype == VNPU_DT_F32;
    if (!is_float || record.src0.dtype != record.dst.dtype) refuse(core, record, "does not exist for this dtype");
    if (select_mode(record) >= kSelectModes) refuse(core, record, "has no such mode");
    if (record.dst.blk == 0) core.fail(record, "bad_parameter", "a destination block stride of 0 is undefined");
}

// Selection bits that one iteration reads, up to its last active lane.
uint32_t bits_read(const Iterations &iterations, uint32_t repeat) {
    if (iterations.is_full(repeat)) return iterations.lanes;
    uint32_t last = 0;
    for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1)) last = lane + 1;
    return last;
}

uint64_t bit_bytes(const Iterations &iterations, uint32_t repeat) { return (bits_read(iterations, repeat) + 7) / 8; }

uint64_t bits_at(const vnpu_record &record, const vnpu_operand &bits, const Iterations &iterations, uint32_t repeat) {
    return bits.addr + (select_mode(record) == kOneRepeat ? 0 : static_cast<uint64_t>(repeat) * iterations.lanes / 8);
}

Footprint select_footprint(const vnpu_record &record, const SelectOperands &operands, const Iterations &iterations, uint32_t bytes) {
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) {
        // In mode 0 a register holds the bits; it has been loaded before (select_one_repeat).
        if (select_mode(record) != kOneRepeat) footprint.read(bits_at(record, operands.bits, iterations, repeat), bit_bytes(iterations, repeat));
        footprint.read_lanes(iterations, record.src0, bytes, repeat);
        if (operands.has_src1) footprint.read_lanes(iterations, record.src1, bytes, repeat);
        footprint.write_lanes(iterations, record.dst, bytes, repeat);
    }
    return footprint;
}

uint64_t bits_end(const vnpu_record &record, const vnpu_operand &bits, const Iterations &iterations) {
    uint64_t end = bits.addr;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat) {
        const uint64_t count = bit_bytes(iterations, repeat);
        if (count) end = std::max(end, bits_at(record, bits, iterations, repeat) + count);
    }
    return end;
}

void check_select_operands(Core &core, const vnpu_record &record, const SelectOperands &operands, const Iterations &iterations, uint32_t bytes) {
    check_operand(core, record, record.dst, lanes_end(iterations, record.dst, bytes), true);
    check_operand(core, record, record.src0, lanes_end(iterations, record.src0, bytes), false);
    if (operands.has_src1) check_operand(core, record, record.src1, lanes_end(iterations, record.src1, bytes), false);
    if (operands.bits.space == VNPU_SPACE_NONE) return;
    check_operand(core, record, operands.bits, bits_end(record, operands.bits, iterations), false);
    for (uint32_t repeat = 0; repeat < iterations.repeats && core.moves_data(); ++repeat) {
        const uint64_t at = bits_at(record, operands.bits, iterations, repeat);
        // A byte of bits is undefined as soon as one of its eight elements was: of the last one only some bits may be read, and those have values.
        report_undefined(core, record, at, at + bits_read(iterations, repeat) / 8, "a selection");
    }
}

// The register with the bits of every repeat is loaded first, by an instruction of its own.
void load_register(Core &core, const vnpu_record &record, const SelectOperands &operands, const Iterations &iterations) {
    Footprint bits;
    if (iterations.repeats) bits.read(operands.bits.addr, bit_bytes(iterations, 0));
    bits.settle(core, record);
}

// The instructions that put into the register what the mode selects by.
void prepare_selection(Core &core, const vnpu_record &record, const SelectOperands &operands, const Iterations &iterations, uint32_t bytes) {
    if (record.p[3] == kOneRepeat)
        load_register(core, record, operands, iterations);
    else
        use_scratch(core, record, bytes);
    hidden_barrier(core, record, VNPU_PIPE_V);
}

// Bytes of the compare register that the selection depends on have to come from somewhere.
void check_register(Core &core, const vnpu_record &record, const Iterations &iterations) {
    const uint32_t used = select_mode(record) == kOneRepeat ? iterations.lanes / 8 : select_mode(record) == kTensorScalar ? dtype_bytes(record.dst.dtype) : 4;
    const bool is_undefined_there = std::any_of(core.compared.is_undefined, core.compared.is_undefined + used, [](bool is) { return is; });
    if (!iterations.repeats || !core.moves_data() || !is_undefined_there || core.launch.reporter.has(place_of(record), "undefined_data")) return;
    core.report(record, "undefined_data", "Select without a mask goes by the compare register, which holds undefined bytes; SetCmpMask has to come before it");
}

bool is_undefined(const Core &core, const vnpu_operand &operand, uint32_t bytes, uint32_t repeat, uint32_t lane) {
    const uint64_t at = lane_at(operand, bytes, repeat, lane);
    return core.undefined.any(at, at + bytes);
}

// Whether an operand's elements lie side by side; of a source all have to be defined as well.
bool is_dense(const vnpu_operand &operand) { return operand.blk == 1; }
bool is_plain(const Core &core, const vnpu_operand &source, uint32_t repeat) {
    const uint64_t at = lane_at(source, 1, repeat, 0);
    return is_dense(source) && !core.undefined.any(at, at + kRepeatBytes);
}

// A whole repeat of defined elements side by side, which is nearly all there is; false, and nothing is done, for others.
bool select_plain(Core &core, const vnpu_record &record, const SelectOperands &operands, const uint8_t *bits, uint32_t bytes, uint32_t repeat) {
    if (!is_dense(record.dst) || !is_plain(core, record.src0, repeat) || (operands.has_src1 && !is_plain(core, record.src1, repeat))) return false;
    uint8_t result[kRepeatBytes], scalars[kRepeatBytes];
    for (uint32_t at = 0; at < kRepeatBytes && !operands.has_src1; at += bytes) std::memcpy(scalars + at, &operands.scalar, bytes);
    const uint8_t *b = operands.has_src1 ? core.ub.data() + lane_at(record.src1, 1, repeat, 0) : scalars;
    loops().select({bytes, bits, kRepeatBytes / bytes}, core.ub.data() + lane_at(record.src0, 1, repeat, 0), b, result);
    const uint64_t to = lane_at(record.dst, 1, repeat, 0);
    std::memcpy(core.ub.data() + to, result, kRepeatBytes);
    core.undefined.clear(to, to + kRepeatBytes);
    return true;
}

void select_repeat(Core &core, const vnpu_record &record, const SelectOperands &operands, const Iterations &iterations, uint32_t bytes, uint32_t repeat) {
    uint8_t *ub = core.ub.data();
    const bool is_in_register = operands.bits.space == VNPU_SPACE_NONE;
    const uint8_t *bits = is_in_register ? core.compared.bytes : ub + bits_at(record, operands.bits, iterations, repeat);
    if (iterations.is_full(repeat) && select_plain(core, record, operands, bits, bytes, repeat)) return;
    uint8_t values[kRepeatBytes];
    bool undefined[kRepeatBytes / 2] = {};
    for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1)) {
        const bool is_first = bits[lane / 8] >> (lane % 8) & 1;
        const vnpu_operand &source = is_first ? record.src0 : record.src1;
        const bool is_scalar = !is_first && !operands.has_src1;
        const void *from = is_scalar ? static_cast<const void *>(&operands.scalar) : ub + lane_at(source, bytes, repeat, lane);
        std::memcpy(values + lane * bytes, from, bytes);
        undefined[lane] = !is_scalar && is_undefined(core, source, bytes, repeat, lane);
    }
    for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1)) {
        const uint64_t to = lane_at(record.dst, bytes, repeat, lane);
        std::memcpy(ub + to, values + lane * bytes, bytes);
        undefined[lane] ? core.undefined.set(to, to + bytes) : core.undefined.clear(to, to + bytes);
    }
}

}  // namespace

void run_select(Core &core, const vnpu_record &record) {
    check_select(core, record);
    const uint32_t bytes = dtype_bytes(record.dst.dtype);
    const Iterations iterations = iterations_of(core, record, kRepeatBytes / bytes);
    if (is_by_register(record)) check_register(core, record, iterations);
    const SelectOperands operands = select_operands(core, record);
    check_select_operands(core, record, operands, iterations, bytes);
    if (!is_by_register(record)) prepare_selection(core, record, operands, iterations, bytes);
    select_footprint(record, operands, iterations, bytes).settle(core, record);
    for (uint32_t repeat = 0; repeat < iterations.repeats && core.moves_data(); ++repeat) select_repeat(core, record, operands, iterations, bytes, repeat);
    core.append(cost_of(core.launch.chip, record, iterations.repeats, iterations.active()));
}

}  // namespace vnpu
