#include "footprint.h"

#include <algorithm>

namespace vnpu {

bool Iterations::is_active(uint32_t repeat, uint32_t lane) const {
    if (is_counter) return static_cast<uint64_t>(repeat) * lanes + lane < count;
    return bits[lane / 64] >> (lane % 64) & 1;
}

uint32_t Iterations::first(uint32_t repeat, uint32_t from) const {
    while (from < lanes && !is_active(repeat, from)) ++from;
    return from;
}

bool Iterations::is_full(uint32_t repeat) const {
    if (is_counter) return (static_cast<uint64_t>(repeat) + 1) * lanes <= count;
    bool result = true;
    for (uint32_t lane = 0; lane < lanes; lane += 64) {
        const uint64_t word = lanes - lane < 64 ? (1ull << (lanes - lane)) - 1 : ~0ull;
        result = result && (bits[lane / 64] & word) == word;
    }
    return result;
}

uint32_t Iterations::active() const {
    if (is_counter) return static_cast<uint32_t>(count);
    uint32_t per_repeat = 0;
    for (uint32_t lane = 0; lane < lanes; ++lane) per_repeat += is_active(0, lane);
    return per_repeat * repeats;
}

namespace {

void require(Core &core, const vnpu_record &record, bool holds, const std::string &what, int64_t value) {
    if (!holds) core.fail(record, "bad_parameter", api_name(place_of(record)) + ": " + what, {{"value", value}});
}

void set_counter(Core &core, const vnpu_record &record, Iterations &iterations, uint64_t count) {
    require(core, record, count <= core.ub.size(), "the mask counts more elements than the unified buffer has bytes", static_cast<int64_t>(count));
    iterations.is_counter = true;
    iterations.count = count;
    iterations.repeats = static_cast<uint32_t>((count + iterations.lanes - 1) / iterations.lanes);
}

}  // namespace

Iterations iterations_of(Core &core, const vnpu_record &record, uint32_t lanes) {
    Iterations iterations;
    iterations.lanes = lanes;
    apply_mask_flags(core, record);
    if (record.flags & VNPU_F_COUNT) {
        set_counter(core, record, iterations, record.p[0]);
        return iterations;
    }
    require(core, record, record.p[0] <= kMaxRepeats, "repeatTime is " + std::to_string(record.p[0]) + "; the instruction holds 0 to 255", record.p[0]);
    if (core.mask.is_counter) {
        note_counter(core, record, lanes);
        set_counter(core, record, iterations, core.mask.bits[0]);
        return iterations;
    }
    iterations.repeats = record.p[0];
    std::copy(core.mask.bits, core.mask.bits + 2, iterations.bits);
    return iterations;
}

uint64_t lane_at(const vnpu_operand &operand, uint32_t bytes, uint32_t repeat, uint32_t lane) {
    const uint64_t inside = static_cast<uint64_t>(lane) * bytes;
    return operand.addr + static_cast<uint64_t>(repeat) * operand.rep * kBlockBytes + inside / kBlockBytes * operand.blk * kBlockBytes + inside % kBlockBytes;
}

void check_operand(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t end, bool is_write, uint64_t alignment) {
    check_ub(core, record, operand, end > operand.addr ? end - operand.addr : 0, is_write, alignment);
}

uint64_t lanes_end(const Iterations &iterations, const vnpu_operand &operand, uint32_t bytes) {
    uint64_t end = operand.addr;
    for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat)
        if (iterations.is_full(repeat))
            end = std::max(end, lane_at(operand, bytes, repeat, iterations.lanes - 1) + bytes);
        else
            for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1))
                end = std::max(end, lane_at(operand, bytes, repeat, lane) + bytes);
    return end;
}

void Footprint::add(uint64_t begin, uint64_t bytes, bool is_write) {
    if (bytes == 0) return;
    if (!ranges_.empty()) {
        Range &last = ranges_.back();
        if (last.end == begin && last.is_write == is_write && last.iteration == iteration_) {
            last.end += bytes;
            return;
        }
    }
    ranges_.push_back({begin, begin + bytes, iteration_, is_write});
}

void Footprint::lanes(const Iterations &iterations, const vnpu_operand &operand, uint32_t bytes, uint32_t repeat, bool is_write) {
    if (operand.blk == 1 && iterations.is_full(repeat))
        return add(lane_at(operand, bytes, repeat, 0), static_cast<uint64_t>(iterations.lanes) * bytes, is_write);
    for (uint32_t lane = iterations.first(repeat, 0); lane < iterations.lanes; lane = iterations.first(repeat, lane + 1))
        add(lane_at(operand, bytes, repeat, lane), bytes, is_write);
}

void Footprint::read_lanes(const Iterations &iterations, const vnpu_operand &operand, uint32_t bytes, uint32_t repeat) {
    lanes(iterations, operand, bytes, repeat, false);
}

void Footprint::write_lanes(const Iterations &iterations, const vnpu_operand &operand, uint32_t bytes, uint32_t repeat) {
    lanes(iterations, operand, bytes, repeat, true);
}

uint64_t Footprint::end(bool is_write) const {
    uint64_t result = 0;
    for (const Range &range : ranges_)
        if (range.is_write == is_write) result = std::max(result, range.end);
    return result;
}

uint64_t Footprint::begin(bool is_write) const {
    uint64_t result = ~0ull;
    for (const Range &range : ranges_)
        if (range.is_write == is_write) result = std::min(result, range.begin);
    return result;
}

// Ranges lie in the order of iterations; what the current iteration writes counts from the next one on.
bool Footprint::is_clobbered() const {
    if (begin(true) >= end(false) || begin(false) >= end(true)) return false;
    IntervalSet written;
    std::vector<Range> pending;
    uint32_t current = 0;
    for (const Range &range : ranges_) {
        if (range.iteration != current) {
            for (const Range &one : pending) written.add(one.begin, one.end);
            pending.clear();
            current = range.iteration;
        }
        if (range.is_write)
            pending.push_back(range);
        else if (written.touches(range.begin, range.end))
            return true;
    }
    return false;
}

void Footprint::require_unclobbered(Core &core, const vnpu_record &record) const {
    if (is_clobbered())
        core.fail(record, "bad_overlap",
                  api_name(place_of(record)) + ": destination at UB byte " + std::to_string(record.dst.addr) +
                      " overlaps a source so that source bytes are overwritten before they are read; use separate tensors",
                  {{"dst_address", static_cast<int64_t>(record.dst.addr)}});
}

void Footprint::order(Core &core, const vnpu_record &record) const {
    std::vector<Touch> touches;
    for (const bool is_write : {false, true})
        for (const Range &range : ranges_)
            if (range.is_write == is_write) append_touch(touches, {VNPU_SPACE_UB, is_write, range.begin, range.end});
    order_accesses(core, record, touches);
}

void Footprint::settle(Core &core, const vnpu_record &record) const {
    require_unclobbered(core, record);
    order(core, record);
}

}  // namespace vnpu
