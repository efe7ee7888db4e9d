/*
 * CastDequant from int16 to bytes: value * scale + offset, rounded and saturated, by the quantisation register.
 *
 * Problem: a block of 16 values becomes 16 bytes in one half of a block of the destination, and each lane of a block may have its own parameters.
 * Approach: the register (documented bits) holds the parameters of all lanes, or where in the unified buffer 16 words of them lie: one per lane of a block.
 * Limits: the published text leaves open, and is chosen here: the lowest 13 bits of the scale are ignored (the unit takes 10 bits of mantissa), product and
 * sum are rounded to float, the result to nearest even. The register's address counts blocks of 32 bytes.
 */
#include <algorithm>
#include <cmath>
#include <cstring>

#include "footprint.h"
#include "vector_kernels.h"

namespace vnpu {

namespace {

constexpr uint32_t kValueBytes = 2, kGroups = 16, kGroupBytes = 8;
constexpr uint64_t kAddressBits = 0x3fff;

bool is_by_words(const vnpu_record &record) { return record.p[3] & 1; }

struct Parameters {
    float scale;
    int offset;
    bool is_signed;
};

Parameters parameters_of(uint64_t word) {
    const auto scale_bits = static_cast<uint32_t>(word) & ~0x1fffu;
    const auto offset = static_cast<int>(word >> 37 & 0x1ff);
    Parameters made{0.0f, offset > 255 ? offset - 512 : offset, (word >> 46 & 1) != 0};
    std::memcpy(&made.scale, &scale_bits, sizeof made.scale);
    return made;
}

uint8_t quantised(int16_t value, const Parameters &by) {
    const float product = static_cast<float>(value) * by.scale;
    const float sum = product + static_cast<float>(by.offset);
    if (!(sum == sum)) return 0;
    const float low = by.is_signed ? -128.0f : 0.0f, high = by.is_signed ? 127.0f : 255.0f;
    return static_cast<uint8_t>(static_cast<int>(std::min(std::max(std::nearbyint(sum), low), high)));
}

// Byte of a lane's result: in the block of its value, in one half of it.
uint64_t result_at(const vnpu_record &record, uint32_t repeat, uint32_t lane) {
    const uint64_t block = lane_at(record.dst, kValueBytes, repeat, lane / kGroups * kGroups);
    return block + (record.p[3] & 2 ? kGroups : 0) + lane % kGroups;
}

uint64_t words_at(const Core &core) { return (core.deq_scale.value_or(0) & kAddressBits) * kBlockBytes; }

template <class Visit>
void each_lane(const Iterations &iterations, uint32_t repeat, Visit &&visit) {
    for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1)) visit(lane);
}

Footprint footprint_of(const Core &core, const vnpu_record &record, const Iterations &iterations) {
    Footprint footprint;
    if (is_by_words(record) && iterations.active()) footprint.read(words_at(core), kGroups * kGroupBytes);
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) {
        footprint.read_lanes(iterations, record.src0, kValueBytes, repeat);
        each_lane(iterations, repeat, [&](uint32_t lane) { footprint.write(result_at(record, repeat, lane), 1); });
    }
    return footprint;
}

void check(Core &core, const vnpu_record &record, const Iterations &iterations, const Footprint &footprint) {
    if (!core.deq_scale)
        core.fail(record, "undefined_data", "CastDequant goes by what SetDeqScale sets, and this kernel has not called it; SetDeqScale before it");
    if (is_by_words(record) && words_at(core) + kGroups * kGroupBytes > core.ub.size())
        core.fail(record, "bad_parameter",
                  "CastDequant: the parameters that SetDeqScale points to lie beyond the unified buffer; isVecDeq = false for one scale",
                  {{"address", static_cast<int64_t>(words_at(core))}});
    if (!iterations.active()) return;
    check_operand(core, record, record.dst, footprint.end(true), true);
    check_operand(core, record, record.src0, lanes_end(iterations, record.src0, kValueBytes), false);
}

// The kind of the result comes from the register; a tensor of the other kind would be read wrongly.
void check_sign(Core &core, const vnpu_record &record, const Parameters &by) {
    const bool is_signed = record.dst.dtype == VNPU_DT_I8;
    if (by.is_signed != is_signed)
        core.fail(
            record, "bad_parameter",
            std::string("CastDequant into ") + (is_signed ? "int8_t" : "uint8_t") + " after a SetDeqScale whose signMode says the other; int8_t goes with true",
            {{"sign_mode", by.is_signed}});
}

void run_repeat(Core &core, const vnpu_record &record, const Iterations &iterations, uint32_t repeat) {
    uint8_t results[kRepeatBytes / kValueBytes];
    bool undefined[kRepeatBytes / kValueBytes];
    each_lane(iterations, repeat, [&](uint32_t lane) {
        const uint64_t from = lane_at(record.src0, kValueBytes, repeat, lane), at = words_at(core) + lane % kGroups * kGroupBytes;
        uint64_t word = *core.deq_scale;
        if (is_by_words(record)) std::memcpy(&word, core.ub.data() + at, sizeof word);
        undefined[lane] = core.undefined.any(from, from + kValueBytes) || (is_by_words(record) && core.undefined.any(at, at + kGroupBytes));
        const Parameters by = parameters_of(word);
        if (!undefined[lane]) check_sign(core, record, by);
        int16_t value;
        std::memcpy(&value, core.ub.data() + from, sizeof value);
        results[lane] = quantised(value, by);
    });
    each_lane(iterations, repeat, [&](uint32_t lane) {
        const uint64_t to = result_at(record, repeat, lane);
        core.ub[to] = results[lane];
        undefined[lane] ? core.undefined.set(to, to + 1) : core.undefined.clear(to, to + 1);
    });
}

}  // namespace

void run_cast_dequant(Core &core, const vnpu_record &record) {
    const Iterations iterations = iterations_of(core, record, kRepeatBytes / kValueBytes);
    const Footprint footprint = footprint_of(core, record, iterations);
    check(core, record, iterations, footprint);
    footprint.settle(core, record);
    for (uint32_t repeat = 0; repeat < iterations.repeats && core.moves_data(); ++repeat) run_repeat(core, record, iterations, repeat);
    vnpu_record charged = record;  // the results lie in as many blocks as the values
    charged.dst.dtype = record.src0.dtype;
    core.append(cost_of(core.launch.chip, charged, iterations.repeats, iterations.active()));
}

}  // namespace vnpu
