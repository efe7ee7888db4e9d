/*
 * Cast between half and int4: two elements to a byte, the first in its low half.
 *
 * A repeat has the lanes of the half side; its 4-bit side fills 64 bytes, two blocks. A lane that the mask leaves out keeps its half of the byte. Undefined
 * bytes are known by whole bytes, so that one undefined element makes its neighbour undefined too.
 */
#include <algorithm>
#include <cmath>
#include <cstring>

#include "footprint.h"
#include "half.h"
#include "vector_kernels.h"

namespace vnpu {

namespace {

constexpr uint32_t kHalfBytes = 2;
constexpr int kLowest = -8, kHighest = 7;

// Byte of a lane of the 4-bit operand.
uint64_t nibble_at(const vnpu_operand &operand, uint32_t repeat, uint32_t lane) { return lane_at(operand, 1, repeat, lane / 2); }

bool is_to_int4(const vnpu_record &record) { return record.dst.dtype == VNPU_DT_I4; }

template <class Visit>
void each_lane(const Iterations &iterations, uint32_t repeat, Visit &&visit) {
    for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1)) visit(lane);
}

// By the int8 cast, then cut to 4 bits: both round the same way.
int to_int4(const vnpu_record &record, uint16_t value) {
    int8_t byte = 0;
    cast_kernel(VNPU_DT_F16, VNPU_DT_I8, record.p[3])(&byte, &value, nullptr, 0, 1);
    return std::min(std::max<int>(byte, kLowest), kHighest);
}

void store_nibble(Core &core, uint64_t at, uint32_t lane, int value, bool is_undefined) {
    const uint32_t shift = lane % 2 * 4;
    const auto kept = static_cast<uint8_t>(core.ub[at] & ~(0xfu << shift));
    core.ub[at] = static_cast<uint8_t>(kept | (static_cast<uint32_t>(value) & 0xfu) << shift);
    const bool neighbour = lane % 2 && core.undefined.any(at, at + 1);
    is_undefined || neighbour ? core.undefined.set(at, at + 1) : core.undefined.clear(at, at + 1);
}

void narrow_lane(Core &core, const vnpu_record &record, uint32_t repeat, uint32_t lane) {
    const uint64_t from = lane_at(record.src0, kHalfBytes, repeat, lane);
    uint16_t value;
    std::memcpy(&value, core.ub.data() + from, sizeof value);
    store_nibble(core, nibble_at(record.dst, repeat, lane), lane, to_int4(record, value), core.undefined.any(from, from + kHalfBytes));
}

void widen_lane(Core &core, const vnpu_record &record, uint32_t repeat, uint32_t lane) {
    const uint64_t from = nibble_at(record.src0, repeat, lane), to = lane_at(record.dst, kHalfBytes, repeat, lane);
    const int bits = core.ub[from] >> (lane % 2 * 4) & 0xf;
    const uint16_t value = float_to_half(static_cast<float>(bits > kHighest ? bits - 16 : bits));
    std::memcpy(core.ub.data() + to, &value, sizeof value);
    core.undefined.any(from, from + 1) ? core.undefined.set(to, to + kHalfBytes) : core.undefined.clear(to, to + kHalfBytes);
}

Footprint footprint_of(const vnpu_record &record, const Iterations &iterations) {
    const bool narrows = is_to_int4(record);
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) {
        if (narrows) footprint.read_lanes(iterations, record.src0, kHalfBytes, repeat);
        each_lane(iterations, repeat, [&](uint32_t lane) {
            narrows ? footprint.write(nibble_at(record.dst, repeat, lane), 1) : footprint.read(nibble_at(record.src0, repeat, lane), 1);
        });
        if (!narrows) footprint.write_lanes(iterations, record.dst, kHalfBytes, repeat);
    }
    return footprint;
}

// Count forms are dense: the 4-bit side goes on where the repeat before it ended.
vnpu_record with_dense_strides(vnpu_record record) {
    if (record.flags & VNPU_F_COUNT) (is_to_int4(record) ? record.dst : record.src0).rep = 2;
    return record;
}

}  // namespace

void run_cast_int4(Core &core, const vnpu_record &given) {
    const vnpu_record record = with_dense_strides(given);
    const vnpu_operand &other = is_to_int4(record) ? record.src0 : record.dst;
    if (other.dtype != VNPU_DT_F16 || (is_to_int4(record) && !cast_kernel(VNPU_DT_F16, VNPU_DT_I8, record.p[3])))
        core.fail(record, "unsupported_api", "Cast of int4 exists to and from half only, and not in every rounding mode", {{"dtype", other.dtype}});
    const Iterations iterations = iterations_of(core, record, kRepeatBytes / kHalfBytes);
    const Footprint footprint = footprint_of(record, iterations);
    if (iterations.active()) {
        check_operand(core, record, record.dst, footprint.end(true), true);
        check_operand(core, record, record.src0, footprint.end(false), false);
    }
    footprint.settle(core, record);
    for (uint32_t repeat = 0; repeat < iterations.repeats && core.moves_data(); ++repeat)
        each_lane(iterations, repeat,
                  [&](uint32_t lane) { is_to_int4(record) ? narrow_lane(core, record, repeat, lane) : widen_lane(core, record, repeat, lane); });
    core.append(cost_of(core.launch.chip, record, iterations.repeats, iterations.active()));
}

}  // namespace vnpu
