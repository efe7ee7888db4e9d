/*
 * Gather, Gatherb, GatherMask and CreateVecIndex.
 *
 * Gather reads, for each active lane, the element at a byte offset (32 bits, from the source's start plus a base) that its offset tensor holds at the lane's
 * place of a dense walk. Which bytes it touches depends on data: an undefined offset is reported where it is used.
 */
#include <algorithm>
#include <cstring>

#include "composite.h"
#include "equal_overlap.h"
#include "footprint.h"
#include "half.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint32_t kOffsetBytes = 4;

struct Lane {
    uint64_t from, to;
};

uint64_t offset_at(const vnpu_record &record, const Iterations &iterations, uint32_t repeat, uint32_t lane) {
    return record.src1.addr + (static_cast<uint64_t>(repeat) * iterations.lanes + lane) * kOffsetBytes;
}

// Where a lane's element lies; offsets beyond the source or between elements cut the launch.
uint64_t element_at(Core &core, const vnpu_record &record, uint64_t at, uint32_t bytes) {
    uint32_t offset = 0;
    std::memcpy(&offset, core.ub.data() + at, sizeof offset);
    const uint64_t inside = record.scalar + offset;
    if (inside % bytes)
        core.fail(record, "misaligned",
                  api_name(place_of(record)) + " reads at byte offset " + std::to_string(inside) + ", which is no multiple of " + std::to_string(bytes),
                  {{"offset", static_cast<int64_t>(inside)}, {"alignment_bytes", bytes}});
    check_ub(core, record, record.src0, inside + bytes, false);
    return record.src0.addr + inside;
}

void check_offsets(Core &core, const vnpu_record &record, const Iterations &iterations) {
    uint64_t end = record.src1.addr;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat)
        for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1))
            end = offset_at(record, iterations, repeat, lane) + kOffsetBytes;
    check_operand(core, record, record.src1, end, false);
}

// The lanes whose offsets are known. In timing-only runs none is: the walk and the destination are all there is.
std::vector<Lane> lanes_to_move(Core &core, const vnpu_record &record, const Iterations &iterations, uint32_t bytes) {
    std::vector<Lane> lanes;
    for (uint32_t repeat = 0; repeat < iterations.repeats && core.moves_data(); ++repeat) {
        for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1)) {
            const uint64_t at = offset_at(record, iterations, repeat, lane);
            report_undefined(core, record, at, at + kOffsetBytes, "an offset of Gather");
            if (core.undefined.any(at, at + kOffsetBytes)) continue;  // reported: where it points means nothing
            lanes.push_back({element_at(core, record, at, bytes), lane_at(record.dst, bytes, repeat, lane)});
        }
    }
    return lanes;
}

// Source and destination have to be separate, as in which order lanes are read and written is not told, unless it makes no difference. True when they are not.
bool lies_over_itself(Core &core, const vnpu_record &record, const std::vector<Lane> &lanes, uint32_t bytes) {
    uint64_t first[2] = {~0ull, ~0ull}, last[2] = {0, 0};
    std::vector<Move> moves;
    for (const Lane &lane : lanes) {
        const uint64_t at[2] = {lane.from, lane.to};
        for (const uint32_t side : {0, 1}) first[side] = std::min(first[side], at[side]), last[side] = std::max(last[side], at[side] + bytes);
        moves.push_back({lane.from, lane.to, bytes});
    }
    if (last[0] <= first[1] || last[1] <= first[0]) return false;
    if (keeps_its_source(core, record, moves)) return true;
    core.fail(record, "bad_overlap", api_name(place_of(record)) + ": source and destination overlap; use separate tensors",
              {{"dst_address", static_cast<int64_t>(record.dst.addr)}, {"src_address", static_cast<int64_t>(first[0])}});
}

void read_offsets(const vnpu_record &record, const Iterations &iterations, uint32_t repeat, Footprint &footprint) {
    for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1))
        footprint.read(offset_at(record, iterations, repeat, lane), kOffsetBytes);
}

// What an instruction over its own source does: a lane that puts down the value that is there changes nothing for whoever reads it.
void order_over_itself(Core &core, const vnpu_record &record, const Iterations &iterations, const std::vector<Lane> &lanes, uint32_t bytes) {
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat) read_offsets(record, iterations, repeat, footprint);
    for (const Lane &lane : lanes) {
        footprint.read(lane.from, bytes);
        const bool is_same = core.moves_data() && std::memcmp(core.ub.data() + lane.from, core.ub.data() + lane.to, bytes) == 0;
        is_same ? footprint.read(lane.to, bytes) : footprint.write(lane.to, bytes);
    }
    footprint.order(core, record);
}

void settle_gather(Core &core, const vnpu_record &record, const Iterations &iterations, const std::vector<Lane> &lanes, uint32_t bytes) {
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) {
        read_offsets(record, iterations, repeat, footprint);
        footprint.write_lanes(iterations, record.dst, bytes, repeat);
    }
    footprint.require_unclobbered(core, record);
    if (lies_over_itself(core, record, lanes, bytes)) return order_over_itself(core, record, iterations, lanes, bytes);
    std::vector<uint64_t> sources;  // sorted, so that neighbours merge
    for (const Lane &lane : lanes) sources.push_back(lane.from);
    std::sort(sources.begin(), sources.end());
    for (const uint64_t from : sources) footprint.read(from, bytes);
    footprint.order(core, record);
}

void move_lanes(Core &core, const vnpu_record &record, const std::vector<Lane> &lanes) {
    const uint32_t bytes = dtype_bytes(record.dst.dtype);
    for (const Lane &lane : lanes) {
        std::memcpy(core.ub.data() + lane.to, core.ub.data() + lane.from, bytes);
        core.undefined.copy(lane.to, lane.from, bytes);
    }
}

uint64_t index_bits(const vnpu_record &record, uint32_t index) {
    const auto low = static_cast<uint32_t>(record.scalar);
    switch (record.dst.dtype) {
        case VNPU_DT_F16:
            return float_to_half(half_to_float(static_cast<uint16_t>(low)) + static_cast<float>(index));
        case VNPU_DT_F32:
            return bits_as<uint32_t>(bits_as<float>(low) + static_cast<float>(index));
        default:
            return low + index;  // wraps around at the width that is stored
    }
}

uint32_t lanes_of(Core &core, const vnpu_record &record) {
    const uint32_t bytes = dtype_bytes(record.dst.dtype);
    if (bytes != 2 && bytes != 4)
        core.fail(record, "unsupported_api", api_name(place_of(record)) + " does not exist for this dtype", {{"dtype", record.dst.dtype}});
    if (record.dst.blk == 0) core.fail(record, "bad_parameter", "a destination block stride of 0 is undefined");
    return kRepeatBytes / bytes;
}

}  // namespace

void run_gather(Core &core, const vnpu_record &record) {
    const Iterations iterations = iterations_of(core, record, lanes_of(core, record));
    check_operand(core, record, record.dst, lanes_end(iterations, record.dst, dtype_bytes(record.dst.dtype)), true);
    check_offsets(core, record, iterations);
    const uint32_t bytes = dtype_bytes(record.dst.dtype);
    const std::vector<Lane> lanes = lanes_to_move(core, record, iterations, bytes);
    settle_gather(core, record, iterations, lanes, bytes);
    move_lanes(core, record, lanes);
    vnpu_record cost = record;
    cost.src0.space = cost.src1.space = VNPU_SPACE_NONE;  // scattered: the family's cycles per repeat hold for them
    core.append(cost_of(core.launch.chip, cost, iterations.repeats, iterations.active()));
}

void run_create_vec_index(Core &core, const vnpu_record &record) {
    const Iterations iterations = iterations_of(core, record, lanes_of(core, record));
    const uint32_t bytes = dtype_bytes(record.dst.dtype);
    check_operand(core, record, record.dst, lanes_end(iterations, record.dst, bytes), true);
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) footprint.write_lanes(iterations, record.dst, bytes, repeat);
    footprint.settle(core, record);
    for (uint32_t repeat = 0; repeat < iterations.repeats && core.moves_data(); ++repeat) {
        for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1)) {
            const uint64_t bits = index_bits(record, repeat * iterations.lanes + lane), to = lane_at(record.dst, bytes, repeat, lane);
            std::memcpy(core.ub.data() + to, &bits, bytes);
            core.undefined.clear(to, to + bytes);
        }
    }
    core.append(cost_of(core.launch.chip, record, iterations.repeats, iterations.active()));
}

// ---- GatherMask: the chosen elements, one after another ----
namespace {

constexpr uint32_t kCounterMode = 1;  // p[3] of the record

// Fixed patterns: 1 and 2 take one of two elements, 3 to 6 one of four, 7 all.
bool is_in_pattern(uint64_t pattern, uint32_t lane) {
    if (pattern <= 2) return lane % 2 == pattern - 1;
    return pattern == 7 || lane % 4 == pattern - 3;
}

bool has_bits(const vnpu_record &record) { return record.src1.space != VNPU_SPACE_NONE; }

uint64_t bits_of_repeat(const vnpu_record &record, uint32_t repeat) { return record.src1.addr + static_cast<uint64_t>(repeat) * record.src1.rep * kBlockBytes; }

// Without data the bits are not known: as if all were set.
bool is_chosen(const Core &core, const vnpu_record &record, uint32_t repeat, uint32_t lane) {
    if (!has_bits(record)) return is_in_pattern(record.scalar, lane);
    return !core.moves_data() || (core.ub[bits_of_repeat(record, repeat) + lane / 8] >> (lane % 8) & 1);
}

void check_gather_mask(Core &core, const vnpu_record &record, uint32_t lanes) {
    if (record.p[0] > kMaxRepeats || (!has_bits(record) && (record.scalar < 1 || record.scalar > 7)))
        core.fail(record, "bad_parameter", "GatherMask: repeatTimes above 255, or a pattern outside 1 to 7",
                  {{"repeats", record.p[0]}, {"pattern", static_cast<int64_t>(record.scalar)}});
    if (lanes > core.ub.size()) core.fail(record, "bad_parameter", "the mask counts more elements than the unified buffer has bytes", {{"elements", lanes}});
    if (!record.p[0] || !lanes) return;
    const uint32_t bytes = dtype_bytes(record.dst.dtype), last = record.p[0] - 1;
    uint64_t end = 0;  // the last block of the last repeat, whichever way the strides go
    for (uint32_t lane = 0; lane < lanes; ++lane) end = std::max(end, lane_at(record.src0, bytes, last, lane) + bytes);
    check_operand(core, record, record.src0, end, false);
    if (has_bits(record)) check_operand(core, record, record.src1, bits_of_repeat(record, last) + (lanes + 7) / 8, false);
}

// Bytes of one repeat that are read, and those of the chosen elements.
void gather_repeat(Core &core, const vnpu_record &record, uint32_t repeat, uint32_t lanes, Footprint &footprint, std::vector<Lane> &chosen) {
    const uint32_t bytes = dtype_bytes(record.dst.dtype);
    if (has_bits(record)) {
        const uint64_t bits = bits_of_repeat(record, repeat);
        footprint.read(bits, (lanes + 7) / 8);
        if (core.moves_data()) report_undefined(core, record, bits, bits + (lanes + 7) / 8, "a pattern of GatherMask");
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        const uint64_t from = lane_at(record.src0, bytes, repeat, lane);
        footprint.read(from, bytes);
        if (is_chosen(core, record, repeat, lane)) chosen.push_back({from, record.dst.addr + chosen.size() * bytes});
    }
}

// The destination may be the source exactly: elements only move down.
void check_in_place(Core &core, const vnpu_record &record, const std::vector<Lane> &chosen, uint32_t bytes) {
    if (record.dst.addr == record.src0.addr || chosen.empty()) return;
    if (chosen.back().to + bytes <= record.src0.addr || chosen.back().from + bytes <= record.dst.addr) return;
    core.fail(record, "bad_overlap", "GatherMask: destination and source overlap in part; use the same tensor exactly, or separate ones",
              {{"dst_address", static_cast<int64_t>(record.dst.addr)}, {"src_address", static_cast<int64_t>(record.src0.addr)}});
}

}  // namespace

uint64_t run_gather_mask(Core &core, const vnpu_record &record) {
    const uint32_t bytes = dtype_bytes(record.dst.dtype), whole = lanes_of(core, record);
    const uint32_t lanes = record.p[3] == kCounterMode ? record.p[1] : whole;
    check_gather_mask(core, record, lanes);
    reset_mask(core.mask, record);  // as the count forms do
    Footprint footprint;
    std::vector<Lane> chosen;
    for (uint32_t repeat = 0; repeat < record.p[0]; ++repeat, footprint.next()) {
        const size_t before = chosen.size();
        gather_repeat(core, record, repeat, lanes, footprint, chosen);
        footprint.write(record.dst.addr + before * bytes, (chosen.size() - before) * bytes);
    }
    check_operand(core, record, record.dst, record.dst.addr + chosen.size() * bytes, true);
    check_in_place(core, record, chosen, bytes);
    footprint.settle(core, record);
    if (core.moves_data()) move_lanes(core, record, chosen);
    vnpu_record cost = record;
    cost.dst.space = cost.src1.space = VNPU_SPACE_NONE;
    core.append(cost_of(core.launch.chip, cost, record.p[0] * ((lanes + whole - 1) / whole), static_cast<uint64_t>(record.p[0]) * lanes));
    hidden_flag(core, record, VNPU_PIPE_V, VNPU_PIPE_S);  // the scalar unit takes the count
    return chosen.size();
}

// ---- Gatherb: whole blocks of 32 bytes at byte offsets, eight per repeat ----
namespace {

std::vector<Lane> blocks_to_move(Core &core, const vnpu_record &record) {
    std::vector<Lane> blocks;
    for (uint32_t block = 0; block < 8 * record.p[0] && core.moves_data(); ++block) {
        const uint64_t at = record.src1.addr + static_cast<uint64_t>(block) * kOffsetBytes;
        report_undefined(core, record, at, at + kOffsetBytes, "an offset of Gatherb");
        if (core.undefined.any(at, at + kOffsetBytes)) continue;  // reported: where it points means nothing
        blocks.push_back({element_at(core, record, at, kBlockBytes), lane_at(record.dst, kBlockBytes, block / 8, block % 8)});
    }
    return blocks;
}

}  // namespace

void run_gather_blocks(Core &core, const vnpu_record &record) {
    const uint32_t repeats = record.p[0];
    if (repeats > kMaxRepeats) core.fail(record, "bad_parameter", "Gatherb: repeatTime above 255", {{"repeats", repeats}});
    Footprint footprint;
    for (uint32_t block = 0; block < 8 * repeats; ++block) {
        footprint.read(record.src1.addr + static_cast<uint64_t>(block) * kOffsetBytes, kOffsetBytes);
        footprint.write(lane_at(record.dst, kBlockBytes, block / 8, block % 8), kBlockBytes);
    }
    check_operand(core, record, record.dst, footprint.end(true), true);
    check_operand(core, record, record.src1, footprint.end(false), false);
    const std::vector<Lane> blocks = blocks_to_move(core, record);
    footprint.require_unclobbered(core, record);
    lies_over_itself(core, record, blocks, kBlockBytes);
    for (const Lane &block : blocks) footprint.read(block.from, kBlockBytes);
    footprint.order(core, record);
    for (const Lane &block : blocks) {
        std::memcpy(core.ub.data() + block.to, core.ub.data() + block.from, kBlockBytes);
        core.undefined.copy(block.to, block.from, kBlockBytes);
    }
    vnpu_record cost = record;
    cost.src0.space = cost.src1.space = VNPU_SPACE_NONE;
    core.append(cost_of(core.launch.chip, cost, repeats, static_cast<uint64_t>(repeats) * 8));
}

}  // namespace vnpu
