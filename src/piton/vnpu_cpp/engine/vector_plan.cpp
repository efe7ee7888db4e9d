#include "vector_plan.h"

#include "equal_overlap.h"
#include "footprint.h"

#include <algorithm>

namespace vnpu {

namespace {

bool is_default(const MaskState &mask) { return !mask.is_counter && (mask.bits[0] & mask.bits[1]) == ~0ull; }

// An instruction by the mask register, which is not what the kernel has put there any more.
void note_lost(Core &core, const vnpu_record &record) {
    const MaskState &mask = core.mask;
    if (!(record.flags & VNPU_F_KEEP_MASK) || !mask.lost.line || core.launch.reporter.has(place_of(record), "default_mask_changed")) return;
    core.note(record, "default_mask_changed",
              describe(place_of(record)) + " goes by the mask register, which " + describe(mask.lost) + " has filled since " + describe(mask.chosen) +
                  " set it: every lane takes part; needed: the mask set again behind that call",
              {{"earlier_line", mask.lost.line}, {"set_line", mask.chosen.line}});
}

}  // namespace

void reset_mask(MaskState &mask, const vnpu_record &record) {
    if (mask.chosen.line && !is_default(mask)) mask.lost = place_of(record);
    mask.bits[0] = mask.bits[1] = ~0ull;
    mask.is_counter = false;
}

// The kernel sets the register or its mode itself.
void set_mask(MaskState &mask, const vnpu_record &record) {
    if (record.opcode == VNPU_OP_SET_MASK)
        std::copy(record.mask, record.mask + 2, mask.bits);
    else
        mask.is_counter = record.p[0] != 0;
    mask.chosen = place_of(record);
    mask.lost = Place{};
}

void apply_mask_flags(Core &core, const vnpu_record &record) {
    MaskState &mask = core.mask;
    note_lost(core, record);
    if (record.flags & VNPU_F_COUNT) reset_mask(mask, record);
    if (!(record.flags & VNPU_F_SET_MASK)) return;
    mask.lost = Place{};
    mask.bits[0] = record.mask[0];
    mask.bits[1] = record.mask[1];
    // A mask given as a number of lanes is that number in counter mode (p[2] tells, p[1] is it).
    if (mask.is_counter && record.p[2]) mask.bits[0] = record.p[1];
}

void note_counter(Core &core, const vnpu_record &record, uint32_t lanes) {
    const uint64_t count = core.mask.bits[0];
    if (!(record.flags & VNPU_F_SET_MASK) || record.p[0] <= 1 || count > lanes || core.launch.reporter.has(place_of(record), "default_mask_changed")) return;
    core.note(record, "default_mask_changed",
              describe(place_of(record)) + " asks for " + std::to_string(record.p[0]) + " repeats in counter mode, where the mask alone counts: it works on " +
                  std::to_string(count) + " elements; SetMaskNorm missing after SetMaskCount?",
              {{"repeats", record.p[0]}, {"elements", static_cast<int64_t>(count)}});
}

namespace {

uint32_t widest(const VectorPlan &plan) { return std::max({plan.bytes[0], plan.bytes[1], plan.bytes[2]}); }

bool is_lane_active(const MaskState &mask, uint32_t lane) { return mask.bits[lane / 64] >> (lane % 64) & 1; }

// How many lanes from `lane` on are dense in every operand: to the next block border of an operand whose blocks are not neighbours.
uint32_t dense_lanes(const vnpu_record &record, const VectorPlan &plan, uint32_t lane) {
    uint32_t dense = plan.lanes - lane;
    for (uint32_t which = 0; which < kOperands; ++which) {
        if (!plan.bytes[which] || operand(record, which).blk == 1) continue;
        const uint32_t per_block = kBlockBytes / plan.bytes[which];
        dense = std::min(dense, per_block - lane % per_block);
    }
    return dense;
}

bool continues(const VectorPlan &plan, const Run &last, const Run &next) {
    for (uint32_t which = 0; which < kOperands; ++which)
        if (plan.bytes[which] && last.at[which] + run_bytes(plan, last, which) != next.at[which]) return false;
    return true;
}

void append_run(VectorPlan &plan, const Run &run) {
    plan.elements += run.count;
    if (!plan.runs.empty() && continues(plan, plan.runs.back(), run))
        plan.runs.back().count += run.count;
    else
        plan.runs.push_back(run);
}

// Active lanes side by side that are dense in every operand: the same ones in every repeat.
struct Segment {
    uint64_t at[kOperands];  // byte of the operand in the first repeat
    uint32_t count;
};

// The lane after the active ones from `lane` on, at most `limit`.
uint32_t active_until(const MaskState &mask, uint32_t lane, uint32_t limit) {
    if (mask.is_counter) return limit;
    while (lane < limit && is_lane_active(mask, lane)) ++lane;
    return lane;
}

std::vector<Segment> segments_of(const vnpu_record &record, const VectorPlan &plan, const MaskState &mask, uint32_t lanes) {
    std::vector<Segment> segments;
    for (uint32_t lane = 0; lane < lanes;) {
        const uint32_t end = active_until(mask, lane, std::min(lanes, lane + dense_lanes(record, plan, lane)));
        if (end == lane) {
            ++lane;
            continue;
        }
        Segment segment{{}, end - lane};
        for (uint32_t which = 0; which < kOperands; ++which)
            if (plan.bytes[which]) segment.at[which] = lane_at(operand(record, which), plan.bytes[which], 0, lane);
        segments.push_back(segment);
        lane = end;
    }
    return segments;
}

// Repeats [first, end), each of `lanes` lanes.
void plan_repeats(const vnpu_record &record, VectorPlan &plan, const MaskState &mask, uint32_t first, uint32_t end, uint32_t lanes) {
    const std::vector<Segment> segments = segments_of(record, plan, mask, lanes);
    uint64_t step[kOperands] = {};
    for (uint32_t which = 0; which < kOperands; ++which)
        if (plan.bytes[which]) step[which] = static_cast<uint64_t>(operand(record, which).rep) * kBlockBytes;
    plan.runs.reserve(plan.runs.size() + segments.size() * (end - first));
    for (uint32_t repeat = first; repeat < end; ++repeat) {
        for (const Segment &segment : segments) {
            Run run{{}, segment.count, repeat};
            for (uint32_t which = 0; which < kOperands; ++which) run.at[which] = segment.at[which] + repeat * step[which];
            append_run(plan, run);
        }
    }
}

// Counter mode: whole repeats of the plan's lanes, and one for the rest.
void plan_counted(const vnpu_record &record, VectorPlan &plan, const MaskState &mask, uint32_t count) {
    const uint32_t whole = count / plan.lanes, rest = count % plan.lanes;
    plan.repeats = whole + (rest ? 1 : 0);
    plan_repeats(record, plan, mask, 0, whole, plan.lanes);
    if (rest) plan_repeats(record, plan, mask, whole, plan.repeats, rest);
}

void plan_count(const vnpu_record &record, VectorPlan &plan) {
    const uint32_t count = record.p[0];
    plan.is_count_form = true;
    plan.repeats = (count + plan.lanes - 1) / plan.lanes;
    if (count) append_run(plan, Run{{record.dst.addr, record.src0.addr, record.src1.addr}, count, 0});
}

void check_strided_parameters(Core &core, const vnpu_record &record) {
    if (record.p[0] > kMaxRepeats)
        core.fail(record, "bad_parameter", "repeatTime is " + std::to_string(record.p[0]) + "; the instruction holds 0 to 255", {{"repeats", record.p[0]}});
    if (record.dst.blk == 0) core.fail(record, "bad_parameter", "a destination block stride of 0 is undefined");
}

// Copy alone takes the counter as the elements of each repeat, and repeatTime counts.
void plan_counted_copy(const vnpu_record &record, VectorPlan &plan, const MaskState &mask, uint32_t count) {
    const uint32_t passes = (count + plan.lanes - 1) / plan.lanes;
    plan.lanes = std::max(count, 1u);
    plan_repeats(record, plan, mask, 0, record.p[0], count);
    plan.repeats = record.p[0] * passes;
}

void plan_strided(Core &core, const vnpu_record &record, VectorPlan &plan) {
    check_strided_parameters(core, record);
    const MaskState &mask = core.mask;
    if (!mask.is_counter) {
        plan.repeats = record.p[0];
        return plan_repeats(record, plan, mask, 0, plan.repeats, plan.lanes);
    }
    // Counter mode: the mask is the element count and repeatTime plays no part.
    note_counter(core, record, plan.lanes);
    if (mask.bits[0] > core.ub.size())
        core.fail(record, "bad_parameter", "the mask counts more elements than the unified buffer has bytes",
                  {{"elements", static_cast<int64_t>(mask.bits[0])}});
    const auto count = static_cast<uint32_t>(mask.bits[0]);
    if (record.opcode == VNPU_OP_COPY) return plan_counted_copy(record, plan, mask, count);
    plan_counted(record, plan, mask, count);
}

void set_element_sizes(Core &core, const vnpu_record &record, VectorPlan &plan) {
    for (uint32_t which = 0; which < kOperands; ++which) {
        if (operand(record, which).space == VNPU_SPACE_NONE) continue;
        plan.bytes[which] = dtype_bytes(operand(record, which).dtype);
        if (!plan.bytes[which]) core.fail(record, "unsupported_api", api_name(place_of(record)) + " on this dtype is not supported by the virtual NPU");
    }
    plan.lanes = kRepeatBytes / std::max(widest(plan), 2u);  // 8-bit elements take the lanes of their 16-bit partner
}

}  // namespace

VectorPlan plan_vector(Core &core, const vnpu_record &record) {
    VectorPlan plan;
    set_element_sizes(core, record, plan);
    apply_mask_flags(core, record);
    if (record.flags & VNPU_F_COUNT)
        plan_count(record, plan);
    else
        plan_strided(core, record, plan);
    return plan;
}

uint64_t extent(const VectorPlan &plan, const vnpu_record &record, uint32_t which) {
    uint64_t end = operand(record, which).addr;
    for (const Run &run : plan.runs) end = std::max(end, run.at[which] + run_bytes(plan, run, which));
    return end - operand(record, which).addr;
}

namespace {

struct Bytes {
    uint64_t begin, end;
};

Bytes bytes_of(const VectorPlan &plan, const Run &run, uint32_t which) { return {run.at[which], run.at[which] + run_bytes(plan, run, which)}; }

bool overlap(const Bytes &a, const Bytes &b) { return a.begin < b.end && b.begin < a.end; }

bool is_same_walk(const VectorPlan &plan, const vnpu_record &record, uint32_t which) {
    const vnpu_operand &source = operand(record, which);
    if (source.addr != record.dst.addr || plan.bytes[which] != plan.bytes[0]) return false;
    return plan.is_count_form || (source.blk == record.dst.blk && source.rep == record.dst.rep);
}

// dst = src1 with a repeat stride of 0 on either side: the documented way to accumulate.
bool is_accumulation(const vnpu_record &record, uint32_t which) {
    const bool has_idiom = record.opcode == VNPU_OP_ADD || record.opcode == VNPU_OP_SUB || record.opcode == VNPU_OP_MUL || record.opcode == VNPU_OP_MAX ||
                           record.opcode == VNPU_OP_MIN || record.opcode == VNPU_OP_ADD_RELU || record.opcode == VNPU_OP_SUB_RELU;
    return has_idiom && which == 2 && record.src1.addr == record.dst.addr && (record.src1.rep == 0 || record.dst.rep == 0);
}

// Iterations, as byte ranges, of a run of several of them.
Bytes part(const VectorPlan &plan, const Run &run, uint32_t which, uint32_t first) {
    const uint64_t from = run.at[which] + static_cast<uint64_t>(first) * plan.bytes[which];
    const uint64_t count = std::min(plan.lanes, run.count - first);
    return {from, from + count * plan.bytes[which]};
}

// Whether, going through the iterations in order, a source byte is overwritten before it is read (or, for equal element sizes, in the iteration itself).
bool is_clobbered(const VectorPlan &plan, uint32_t which) {
    const bool is_resizing = plan.bytes[which] != plan.bytes[0];
    IntervalSet written;
    for (const Run &run : plan.runs) {
        for (uint32_t first = 0; first < run.count; first += plan.lanes) {
            const Bytes source = part(plan, run, which, first), target = part(plan, run, 0, first);
            if (written.touches(source.begin, source.end)) return true;
            const bool is_exact = source.begin == target.begin && source.end == target.end;
            if (!is_resizing && overlap(source, target) && !is_exact) return true;
            written.add(target.begin, target.end);
        }
    }
    return false;
}

// Rows that are copied over themselves.
bool is_copied_over_itself(Core &core, const vnpu_record &record, const VectorPlan &plan) {
    if (record.opcode != VNPU_OP_COPY) return false;
    std::vector<Move> moves;
    for (const Run &run : plan.runs) moves.push_back({run.at[1], run.at[0], run_bytes(plan, run, 0)});
    return keeps_its_source(core, record, moves);
}

bool any_overlap(const VectorPlan &plan, uint32_t which) {
    Bytes source{~0ull, 0}, target{~0ull, 0};
    for (const Run &run : plan.runs) {
        const Bytes s = bytes_of(plan, run, which), t = bytes_of(plan, run, 0);
        source = {std::min(source.begin, s.begin), std::max(source.end, s.end)};
        target = {std::min(target.begin, t.begin), std::max(target.end, t.end)};
    }
    return overlap(source, target);
}

}  // namespace

bool check_overlap(Core &core, const vnpu_record &record, const VectorPlan &plan) {
    bool needs_snapshot = false;
    for (uint32_t which = 1; which < kOperands; ++which) {
        if (!plan.bytes[which] || is_same_walk(plan, record, which) || is_accumulation(record, which) || !any_overlap(plan, which)) continue;
        if (is_clobbered(plan, which) && !is_copied_over_itself(core, record, plan))
            core.fail(record, "bad_overlap",
                      api_name(place_of(record)) + ": destination at UB byte " + std::to_string(record.dst.addr) + " overlaps source at " +
                          std::to_string(operand(record, which).addr) +
                          " so that source bytes are overwritten before they are read; use the same tensor exactly, or separate ones",
                      {{"dst_address", static_cast<int64_t>(record.dst.addr)}, {"src_address", static_cast<int64_t>(operand(record, which).addr)}});
        needs_snapshot = true;
    }
    return needs_snapshot;
}

}  // namespace vnpu
