#include "reduce.h"

#include <algorithm>
#include <cstring>

#include "mathematics.h"
#include "paths.h"

namespace vnpu {

float add_rounded(float a, float b, bool is_half) {
    const float sum = tidy(a + b);
    return is_half ? half_to_float(float_to_half(sum)) : sum;
}

bool replaces(float a, float b, Reduction reduction) {
    if (a != a) return false;
    if (b != b) return true;
    return reduction == Reduction::Max ? b > a : b < a;
}

float load_float(const Core &core, uint64_t at, bool is_half) {
    uint32_t bits = 0;
    std::memcpy(&bits, core.ub.data() + at, is_half ? 2 : 4);
    return is_half ? half_to_float(static_cast<uint16_t>(bits)) : bits_as<float>(bits);
}

void store_bits(Core &core, uint64_t at, uint64_t bits, uint32_t bytes, bool is_undefined) {
    if (!core.moves_data()) return;
    std::memcpy(core.ub.data() + at, &bits, bytes);
    is_undefined ? core.undefined.set(at, at + bytes) : core.undefined.clear(at, at + bytes);
}

void store_value(Core &core, uint64_t at, float value, bool is_half, bool is_undefined) {
    store_bits(core, at, is_half ? float_to_half(value) : bits_as<uint32_t>(value), is_half ? 2 : 4, is_undefined);
}

uint32_t reduced_lanes(const vnpu_operand &source) {
    const bool is_float = source.dtype == VNPU_DT_F16 || source.dtype == VNPU_DT_F32;
    return is_float ? kRepeatBytes / dtype_bytes(source.dtype) : 0;
}

namespace {

// A whole repeat of defined elements side by side; false, and nothing is done, for others.
bool read_plain(const Core &core, const vnpu_operand &source, const Iterations &iterations, uint32_t repeat, Group &group) {
    const uint64_t at = lane_at(source, 1, repeat, 0);
    group.is_plain = source.blk == 1 && iterations.is_full(repeat) && !core.undefined.any(at, at + kRepeatBytes);
    if (!group.is_plain) return false;
    const uint8_t *from = core.ub.data() + at;
    if (source.dtype == VNPU_DT_F16)
        loops().halves_to_floats(reinterpret_cast<const uint16_t *>(from), group.values, iterations.lanes);
    else
        std::memcpy(group.values, from, kRepeatBytes);
    return true;
}

}  // namespace

Group read_group(const Core &core, const vnpu_operand &source, const Iterations &iterations, uint32_t repeat) {
    const uint32_t bytes = dtype_bytes(source.dtype);
    Group group;
    if (read_plain(core, source, iterations, repeat, group)) return group;
    std::fill_n(group.is_active, kMostLanes, false);
    std::fill_n(group.is_undefined, kMostLanes, false);
    std::fill_n(group.values, kMostLanes, 0.0f);
    for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1)) {
        const uint64_t at = lane_at(source, bytes, repeat, lane);
        group.values[lane] = load_float(core, at, bytes == 2);
        group.is_active[lane] = true;
        group.is_undefined[lane] = core.undefined.any(at, at + bytes);
    }
    return group;
}

namespace {

// Pairs of neighbours, then pairs of pairs.
Reduced sum_of(const Group &group, uint32_t first, uint32_t count, bool is_half) {
    if (group.is_plain) return {loops().sum(group.values + first, count, is_half), 0, true, false};
    float values[kRepeatBytes / 2];
    bool is_active[kRepeatBytes / 2];
    for (uint32_t at = 0; at < count; ++at) {
        values[at] = group.values[first + at];
        is_active[at] = group.is_active[first + at];
    }
    for (uint32_t left = count; left > 1; left /= 2) {
        for (uint32_t pair = 0; pair < left / 2; ++pair) {
            const uint32_t a = 2 * pair, b = a + 1;
            values[pair] = is_active[a] && is_active[b] ? add_rounded(values[a], values[b], is_half) : is_active[a] ? values[a] : values[b];
            is_active[pair] = is_active[a] || is_active[b];
        }
    }
    Reduced result;
    result.value = values[0];
    return result;
}

// Of numbers alone, without a branch that depends on them. The caller has looked for a NaN.
Reduced best_number(const float *values, uint32_t count, bool is_max) {
    float best = values[0];
    uint32_t index = 0;
    for (uint32_t at = 1; at < count; ++at) {
        const bool is_better = is_max ? values[at] > best : values[at] < best;
        best = is_better ? values[at] : best;
        index = is_better ? at : index;
    }
    return {best, index, true, false};
}

bool has_nan(const float *values, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t at = 0; at < count; ++at) found |= values[at] != values[at];
    return found != 0;
}

Reduced best_of(const Group &group, uint32_t first, uint32_t count, Reduction reduction) {
    if (group.is_plain && !has_nan(group.values + first, count)) return best_number(group.values + first, count, reduction == Reduction::Max);
    Reduced result;
    for (uint32_t at = 0; at < count; ++at) {
        if ((!group.is_plain && !group.is_active[first + at]) || (result.is_any && !replaces(result.value, group.values[first + at], reduction))) continue;
        result = {group.values[first + at], at, true, false};
    }
    return result;
}

}  // namespace

Reduced reduce_group(const Group &group, uint32_t first, uint32_t count, Reduction reduction, bool is_half) {
    Reduced result = reduction == Reduction::Sum ? sum_of(group, first, count, is_half) : best_of(group, first, count, reduction);
    result.is_any = group.is_plain;
    result.is_undefined = false;
    if (group.is_plain) return result;
    for (uint32_t at = first; at < first + count; ++at) {
        result.is_any = result.is_any || group.is_active[at];
        result.is_undefined = result.is_undefined || group.is_undefined[at];
    }
    return result;
}

namespace {

Reduction reduction_of(uint16_t opcode) {
    if (opcode == VNPU_OP_WHOLE_REDUCE_MAX || opcode == VNPU_OP_BLOCK_REDUCE_MAX) return Reduction::Max;
    return opcode == VNPU_OP_WHOLE_REDUCE_MIN || opcode == VNPU_OP_BLOCK_REDUCE_MIN ? Reduction::Min : Reduction::Sum;
}

// How one instruction cuts a repeat into groups and where the results go.
struct Shape {
    uint32_t groups;     // per repeat
    uint32_t step;       // bytes between the results of neighbouring groups
    uint64_t unit;       // bytes of one unit of the destination's repeat stride
    uint32_t result;     // bytes written per group
    uint64_t alignment;  // of the destination
};

Shape whole_shape(const vnpu_record &record, uint32_t bytes) {
    if (record.opcode == VNPU_OP_WHOLE_REDUCE_SUM || record.p[3] == kOnlyValue) return {1, 0, bytes, bytes, bytes};
    if (record.p[3] == kOnlyIndex) return {1, 0, 4, 4, 4};
    return {1, 0, 2 * bytes, 2 * bytes, 2 * bytes};
}

Shape shape_of(const vnpu_record &record, uint32_t bytes, uint32_t lanes) {
    if (record.opcode == VNPU_OP_PAIR_REDUCE_SUM) return {lanes / 2, bytes, kRepeatBytes / 2, bytes, kUbAlign};
    const bool is_block = record.opcode >= VNPU_OP_BLOCK_REDUCE_SUM && record.opcode <= VNPU_OP_BLOCK_REDUCE_MIN;
    return is_block ? Shape{8, bytes, 8 * bytes, bytes, 8 * bytes} : whole_shape(record, bytes);
}

uint64_t result_at(const vnpu_record &record, const Shape &shape, uint32_t repeat, uint32_t group) {
    return record.dst.addr + static_cast<uint64_t>(repeat) * record.dst.rep * shape.unit + static_cast<uint64_t>(group) * shape.step;
}

bool has_active(const Iterations &iterations, uint32_t repeat, uint32_t first, uint32_t count) { return iterations.first(repeat, first) < first + count; }

void store_result(Core &core, const vnpu_record &record, uint64_t at, const Reduced &result, bool is_half) {
    const uint32_t bytes = is_half ? 2 : 4;
    const bool is_sum = reduction_of(record.opcode) == Reduction::Sum, is_block = record.opcode >= VNPU_OP_BLOCK_REDUCE_SUM;
    if (is_sum || is_block || record.p[3] == kOnlyValue) return store_value(core, at, result.value, is_half, result.is_undefined);
    if (record.p[3] == kOnlyIndex) return store_bits(core, at, result.index, 4, result.is_undefined);
    const uint64_t value_at = record.p[3] == kIndexValue ? at + bytes : at;
    store_value(core, value_at, result.value, is_half, result.is_undefined);
    store_bits(core, record.p[3] == kIndexValue ? at : at + bytes, result.index, bytes, result.is_undefined);
}

// The register that GetReduceRepeatMaxMinSpr reads: the best of all repeats, its index counted over all of them (documented for dense sources).
void keep_best(Core &core, const vnpu_record &record, const Reduced &result, uint64_t index, bool is_first) {
    const bool is_half = record.src0.dtype == VNPU_DT_F16;
    const auto bits_of = [&](float value) { return is_half ? float_to_half(value) : bits_as<uint32_t>(value); };
    const float held = is_half ? half_to_float(static_cast<uint16_t>(core.best.bits)) : bits_as<float>(static_cast<uint32_t>(core.best.bits));
    if (is_first || replaces(held, result.value, reduction_of(record.opcode))) core.best = {bits_of(result.value), index};
}

bool is_whole_extreme(const vnpu_record &record) { return record.opcode == VNPU_OP_WHOLE_REDUCE_MAX || record.opcode == VNPU_OP_WHOLE_REDUCE_MIN; }

void reduce_repeat(Core &core, const vnpu_record &record, const Iterations &iterations, const Shape &shape, uint32_t repeat) {
    const bool is_half = record.src0.dtype == VNPU_DT_F16;
    const Group lanes = read_group(core, record.src0, iterations, repeat);
    const uint32_t size = iterations.lanes / shape.groups;
    for (uint32_t group = 0; group < shape.groups; ++group) {
        const Reduced result = reduce_group(lanes, group * size, size, reduction_of(record.opcode), is_half);
        if (!result.is_any) continue;
        store_result(core, record, result_at(record, shape, repeat, group), result, is_half);
        if (is_whole_extreme(record)) keep_best(core, record, result, static_cast<uint64_t>(repeat) * iterations.lanes + result.index, repeat == 0);
    }
}

Footprint reduce_footprint(const vnpu_record &record, const Iterations &iterations, const Shape &shape, uint32_t bytes) {
    Footprint footprint;
    const uint32_t size = iterations.lanes / shape.groups;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) {
        footprint.read_lanes(iterations, record.src0, bytes, repeat);
        for (uint32_t group = 0; group < shape.groups; ++group)
            if (has_active(iterations, repeat, group * size, size)) footprint.write(result_at(record, shape, repeat, group), shape.result);
    }
    return footprint;
}

void charge_reduce(Core &core, const vnpu_record &record, const Iterations &iterations) {
    vnpu_record cost = record;
    cost.dst.space = VNPU_SPACE_NONE;  // a result of a few bytes: its stride is not one of blocks, and no bank conflicts are counted for it
    core.append(cost_of(core.launch.chip, cost, iterations.repeats, iterations.active()));
}

void run_reduce_lanes(Core &core, const vnpu_record &record) {
    const uint32_t lanes = reduced_lanes(record.src0);
    if (!lanes || record.dst.dtype != record.src0.dtype || record.p[3] >= kReduceOrders)
        core.fail(record, "unsupported_api", api_name(place_of(record)) + " does not exist for this dtype and order", {{"dtype", record.src0.dtype}});
    const uint32_t bytes = dtype_bytes(record.src0.dtype);
    const Iterations iterations = iterations_of(core, record, lanes);
    const Shape shape = shape_of(record, bytes, lanes);
    const Footprint footprint = reduce_footprint(record, iterations, shape, bytes);
    check_operand(core, record, record.dst, footprint.end(true), true, shape.alignment);
    check_operand(core, record, record.src0, footprint.end(false), false);
    footprint.settle(core, record);
    for (uint32_t repeat = 0; repeat < iterations.repeats && core.moves_data(); ++repeat) reduce_repeat(core, record, iterations, shape, repeat);
    charge_reduce(core, record, iterations);
}

}  // namespace

void run_whole_reduce(Core &core, const vnpu_record &record) { run_reduce_lanes(core, record); }

void run_group_reduce(Core &core, const vnpu_record &record) { run_reduce_lanes(core, record); }

// Eight elements per repeat, each to a whole block; no mask plays a part.
namespace {

constexpr uint32_t kSpread = 8;  // elements that a repeat of Brcb takes

// Elements in the source's tensor, of those that are taken. The others fill blocks with whatever lies there: no value, and no harm if nobody uses them.
uint32_t elements_of_brcb(Core &core, const vnpu_record &record, uint32_t bytes) {
    const uint32_t taken = record.p[0] * kSpread, there = std::min(taken, record.src0.limit / bytes);
    if (there == taken || core.launch.reporter.has(place_of(record), "other")) return there;
    core.note(record, "other",
              describe(place_of(record)) + " takes " + std::to_string(taken) + " elements, eight per repeat, of a tensor of " + std::to_string(there) +
                  ": the rest of its result holds whatever lies behind; needed: a repeat for every eight elements",
              {{"elements", taken}, {"tensor_elements", there}});
    return there;
}

}  // namespace

void run_brcb(Core &core, const vnpu_record &record) {
    const uint32_t bytes = dtype_bytes(record.dst.dtype), repeats = record.p[0];
    if (repeats > kMaxRepeats || record.dst.blk == 0)
        core.fail(record, "bad_parameter", "Brcb: repeatTime above 255, or a destination block stride of 0", {{"repeats", repeats}});
    if (bytes == 0) core.fail(record, "unsupported_api", "Brcb: elements of a type that takes whole bytes are needed", {{"dtype", record.dst.dtype}});
    const uint32_t elements = elements_of_brcb(core, record, bytes);
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < repeats; ++repeat, footprint.next()) {
        const uint32_t first = std::min(repeat * kSpread, elements);
        footprint.read(record.src0.addr + static_cast<uint64_t>(first) * bytes, static_cast<uint64_t>(std::min(kSpread, elements - first)) * bytes);
        for (uint32_t block = 0; block < kSpread; ++block) footprint.write(lane_at(record.dst, kBlockBytes, repeat, block), kBlockBytes);
    }
    check_operand(core, record, record.dst, footprint.end(true), true);
    vnpu_operand source = record.src0;  // what lies behind the tensor is read as well, and has to be there
    source.limit = 0xffffffffu;
    check_operand(core, record, source, source.addr + static_cast<uint64_t>(repeats) * kSpread * bytes, false);
    footprint.settle(core, record);
    for (uint32_t repeat = 0; repeat < repeats && core.moves_data(); ++repeat) {
        for (uint32_t block = 0; block < kSpread; ++block) {
            const uint64_t from = record.src0.addr + (static_cast<uint64_t>(repeat) * 8 + block) * bytes, to = lane_at(record.dst, kBlockBytes, repeat, block);
            const bool is_undefined = repeat * kSpread + block >= elements || core.undefined.any(from, from + bytes);
            for (uint32_t at = 0; at < kBlockBytes; at += bytes) std::memcpy(core.ub.data() + to + at, core.ub.data() + from, bytes);
            is_undefined ? core.undefined.set(to, to + kBlockBytes) : core.undefined.clear(to, to + kBlockBytes);
        }
    }
    vnpu_record cost = record;
    cost.src0.space = VNPU_SPACE_NONE;  // a quarter or half of a block per repeat
    core.append(cost_of(core.launch.chip, cost, repeats, static_cast<uint64_t>(repeats) * 8));
}

}  // namespace vnpu
