/*
 * Gather and CreateVecIndex.
 *
 * Gather reads, for each active lane, the element at a byte offset (32 bits, from the source's start plus a base) that its offset tensor holds at the lane's
 * place of a dense walk. Which bytes it touches depends on data: an undefined offset is reported where it is used.
 */
#include <algorithm>
#include <cstring>

#include "footprint.h"
#include "half.h"

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
        core.fail(record, "misaligned", "Gather reads at byte offset " + std::to_string(inside) + ", which is no multiple of the element size",
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

// Source and destination have to be separate: in which order lanes are read and written is not told.
void check_separate(Core &core, const vnpu_record &record, const std::vector<uint64_t> &sources, const Footprint &footprint, uint32_t bytes) {
    if (sources.empty() || sources.back() + bytes <= footprint.begin(true) || footprint.end(true) <= sources.front()) return;
    core.fail(record, "bad_overlap", "Gather: source and destination overlap; use separate tensors",
              {{"dst_address", static_cast<int64_t>(record.dst.addr)}, {"src_address", static_cast<int64_t>(sources.front())}});
}

void settle_gather(Core &core, const vnpu_record &record, const Iterations &iterations, const std::vector<Lane> &lanes, uint32_t bytes) {
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) {
        for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1))
            footprint.read(offset_at(record, iterations, repeat, lane), kOffsetBytes);
        footprint.write_lanes(iterations, record.dst, bytes, repeat);
    }
    std::vector<uint64_t> sources;  // sorted, so that neighbours merge
    for (const Lane &lane : lanes) sources.push_back(lane.from);
    std::sort(sources.begin(), sources.end());
    check_separate(core, record, sources, footprint, bytes);
    for (const uint64_t from : sources) footprint.read(from, bytes);
    footprint.settle(core, record);
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

}  // namespace vnpu
