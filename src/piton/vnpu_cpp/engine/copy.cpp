/*
 * DataCopy and DataCopyPad between global memory and on-chip memory (the unified buffer, or L1 on a cube core), and inside the unified buffer.
 *
 * Gaps run from the end of a block to the start of the next. On chip a block of DataCopyPad takes whole 32-byte units; its filler holds the block's first
 * element, the padding value, or nothing defined, as the vendor's page on padding says.
 */
#include <algorithm>
#include <cstring>

#include "access.h"
#include "copy.h"
#include "gm_store.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint32_t kMaxBlocks = 4095;       // of both calls
constexpr uint32_t kMaxPadBytes = 2097151;  // DataCopyPad, bytes per block
constexpr uint32_t kMaxCopyUnits = 65535;   // DataCopy, length and gaps in 32-byte units

uint64_t align_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

struct CopyPlan {
    uint32_t blocks = 0;
    uint64_t bytes = 0;       // of data per block
    uint64_t left = 0;        // filler bytes before the data on chip
    uint64_t chip_bytes = 0;  // per block on chip, filler included
    uint64_t src_step = 0, dst_step = 0;
    bool is_pad = false;  // the filler is the padding value
};

bool is_load(const vnpu_record &record) { return record.src0.space == VNPU_SPACE_GM; }
bool is_store(const vnpu_record &record) { return record.dst.space == VNPU_SPACE_GM; }

void require(Core &core, const vnpu_record &record, bool holds, const std::string &what, int64_t value) {
    if (!holds) core.fail(record, "bad_parameter", api_name(place_of(record)) + ": " + what, {{"value", value}});
}

CopyPlan plan_plain(Core &core, const vnpu_record &record) {
    const uint32_t bytes = record.p[1], src_gap = record.p[2], dst_gap = record.p[3];
    require(core, record, bytes % kBlockBytes == 0, "the length of " + std::to_string(bytes) + " bytes is not a multiple of 32; DataCopyPad copies any length",
            bytes);
    require(core, record, src_gap % kBlockBytes == 0 && dst_gap % kBlockBytes == 0, "gaps are not multiples of 32 bytes",
            src_gap % kBlockBytes ? src_gap : dst_gap);
    require(core, record, std::max({bytes, src_gap, dst_gap}) / kBlockBytes <= kMaxCopyUnits, "length or gap exceeds 65535 units of 32 bytes",
            std::max({bytes, src_gap, dst_gap}));
    CopyPlan plan;
    plan.blocks = record.p[0];
    plan.bytes = plan.chip_bytes = bytes;
    plan.src_step = static_cast<uint64_t>(bytes) + src_gap;
    plan.dst_step = static_cast<uint64_t>(bytes) + dst_gap;
    return plan;
}

CopyPlan plan_padded(Core &core, const vnpu_record &record) {
    const uint32_t bytes = record.p[1];
    const uint64_t element = std::max(dtype_bytes(is_store(record) ? record.src0.dtype : record.dst.dtype), 1u);
    const uint64_t left = (record.mask[0] & 0xff) * element, right = (record.mask[0] >> 8 & 0xff) * element;
    require(core, record, bytes <= kMaxPadBytes, "the block length of " + std::to_string(bytes) + " bytes exceeds 2097151", bytes);
    require(core, record, left <= kBlockBytes && right <= kBlockBytes, "more than 32 bytes of padding on one side",
            static_cast<int64_t>(std::max(left, right)));
    CopyPlan plan;
    plan.blocks = record.p[0];
    plan.bytes = bytes;
    plan.left = is_load(record) ? left : 0;
    plan.chip_bytes = align_up(is_load(record) ? left + bytes + right : bytes, kBlockBytes);
    plan.is_pad = is_load(record) && (record.mask[0] >> 16 & 1) != 0;
    const uint64_t on_chip_gap = is_load(record) ? record.p[3] : record.p[2];
    require(core, record, on_chip_gap % kBlockBytes == 0, "the on-chip gap is not a multiple of 32 bytes", static_cast<int64_t>(on_chip_gap));
    plan.src_step = (is_load(record) ? plan.bytes : plan.chip_bytes) + record.p[2];
    plan.dst_step = (is_load(record) ? plan.chip_bytes : plan.bytes) + record.p[3];
    return plan;
}

// Blocks without gaps are one block, unless each has filler of its own.
CopyPlan plan_copy(Core &core, const vnpu_record &record) {
    require(core, record, record.p[0] <= kMaxBlocks, "the block count of " + std::to_string(record.p[0]) + " exceeds 4095", record.p[0]);
    CopyPlan plan = record.opcode == VNPU_OP_DATA_COPY ? plan_plain(core, record) : plan_padded(core, record);
    if (plan.bytes == 0) plan.blocks = 0;  // nothing happens, as on the chip
    if (plan.blocks > 1 && plan.src_step == plan.bytes && plan.dst_step == plan.bytes && plan.chip_bytes == plan.bytes) {
        plan.bytes = plan.chip_bytes = plan.bytes * plan.blocks;
        plan.blocks = 1;
    }
    return plan;
}

uint64_t span(const CopyPlan &plan, uint64_t step, uint64_t last) { return plan.blocks ? (plan.blocks - 1) * step + last : 0; }

void check_gm_alignment(Core &core, const vnpu_record &record, const vnpu_operand &operand) {
    const uint32_t element = dtype_bytes(operand.dtype);
    if (record.opcode == VNPU_OP_DATA_COPY_PAD || element < 2 || operand.addr % element == 0) return;
    core.fail(record, "misaligned",
              "DataCopy needs a GM address that is a multiple of the element size " + std::to_string(element) + ", not " + hex(operand.addr),
              {{"address", static_cast<int64_t>(operand.addr)}, {"alignment_bytes", element}});
}

}  // namespace

// ---- loads ----
void report_stale_cache(Core &core, const vnpu_record &record, uint64_t begin, uint64_t end) {
    if (core.launch.dirty.ranges().empty() || !core.launch.dirty.touches(begin, end) || core.launch.reporter.has(place_of(record), "missing_sync")) return;
    core.report(record, "missing_sync",
                describe(place_of(record)) + " reads GM bytes " + hex(begin) + ".." + hex(end) +
                    " that a SetValue left in a scalar unit's data cache"
                    "; DataCacheCleanAndInvalid has to come between the two",
                {{"begin", static_cast<int64_t>(begin)}, {"end", static_cast<int64_t>(end)}});
}

void mark_undefined_gm(UndefinedBytes &undefined, const Allocation &source, uint64_t gm, uint64_t chip, uint64_t bytes) {
    undefined.clear(chip, chip + bytes);
    const uint64_t begin = gm - source.address, end = begin + bytes;
    for (uint64_t at = source.defined.first_gap(begin, end); at < end; at = source.defined.first_gap(at, end)) {
        const auto next = source.defined.ranges().lower_bound(at);
        const uint64_t until = next == source.defined.ranges().end() ? end : std::min(end, next->first);
        undefined.set(chip + at - begin, chip + until - begin);
        at = until;
    }
}

namespace {

void fill(Core &core, uint64_t begin, uint64_t end, uint64_t value, uint32_t element, bool is_undefined) {
    for (uint64_t at = begin; at < end; at += element) std::memcpy(core.ub.data() + at, &value, std::min<uint64_t>(element, end - at));
    is_undefined ? core.undefined.set(begin, end) : core.undefined.clear(begin, end);
}

// What the on-chip block holds beside the data.
void fill_around(Core &core, const vnpu_record &record, const CopyPlan &plan, uint64_t block) {
    if (plan.chip_bytes == plan.bytes) return;
    const uint32_t element = std::max(dtype_bytes(record.dst.dtype), 1u);
    const uint64_t data = block + plan.left, data_end = data + plan.bytes;
    const bool has_sides = (record.mask[0] & 0xffff) != 0;
    uint64_t value = record.scalar;
    bool is_undefined = false;
    if (!has_sides) {
        value = 0;
        std::memcpy(&value, core.ub.data() + data, element);
        is_undefined = core.undefined.any(data, data + element);
    } else if (!plan.is_pad) {
        is_undefined = !core.pad_value.has_value();
        value = is_undefined ? ~0ull : *core.pad_value;
    }
    fill(core, block, data, value, element, is_undefined);
    fill(core, data_end, block + plan.chip_bytes, value, element, is_undefined);
}

// The blocks of one side; those without a gap between them are one touch.
void append_blocks(std::vector<Touch> &touches, const Touch &first, uint32_t blocks, uint64_t step) {
    for (uint32_t block = 0; block < blocks; ++block) {
        Touch touch = first;
        touch.begin += block * step;
        touch.end += block * step;
        append_touch(touches, touch);
    }
}

void load(Core &core, const vnpu_record &record, const CopyPlan &plan) {
    const uint64_t ub_bytes = span(plan, plan.dst_step, plan.chip_bytes);
    check_on_chip(core, record, record.dst, ub_bytes, true);
    check_gm_alignment(core, record, record.src0);
    std::vector<Touch> touches;
    touches.reserve(2 * plan.blocks);
    for (uint32_t block = 0; block < plan.blocks; ++block) {
        const uint64_t gm = record.src0.addr + block * plan.src_step;
        check_gm(core, record, gm, plan.bytes, false);
        report_stale_cache(core, record, gm, gm + plan.bytes);
        append_touch(touches, {VNPU_SPACE_GM, false, gm, gm + plan.bytes});
    }
    append_blocks(touches, {record.dst.space, true, record.dst.addr, record.dst.addr + plan.chip_bytes}, plan.blocks, plan.dst_step);
    order_accesses(core, record, touches);
    if (!core.moves_data()) return;
    const OnChip target = on_chip(core, record.dst.space);
    for (uint32_t block = 0; block < plan.blocks; ++block) {
        const uint64_t gm = record.src0.addr + block * plan.src_step, ub = record.dst.addr + block * plan.dst_step;
        std::memcpy(target.bytes.data() + ub + plan.left, core.launch.memory.readable(gm), plan.bytes);
        mark_undefined_gm(target.undefined, *core.launch.memory.find(gm, plan.bytes), gm, ub + plan.left, plan.bytes);
        fill_around(core, record, plan, ub);
    }
}

// ---- stores ----
void store_block(Core &core, const vnpu_record &record, uint64_t gm, uint64_t ub, uint64_t bytes) {
    if (core.moves_data()) report_undefined(core, record, ub, ub + bytes, "global memory", record.src0.space);
    write_gm(core, record, {gm, bytes, on_chip(core, record.src0.space).bytes.data() + ub});
}

void store(Core &core, const vnpu_record &record, const CopyPlan &plan) {
    check_on_chip(core, record, record.src0, span(plan, plan.src_step, plan.bytes), false);
    check_gm_alignment(core, record, record.dst);
    const uint8_t *source = on_chip(core, record.src0.space).bytes.data();
    std::vector<Touch> touches;
    touches.reserve(2 * plan.blocks);
    append_blocks(touches, {record.src0.space, false, record.src0.addr, record.src0.addr + plan.bytes}, plan.blocks, plan.src_step);
    for (uint32_t block = 0; block < plan.blocks; ++block) {
        const uint64_t ub = record.src0.addr + block * plan.src_step;
        touches.push_back(check_gm_store(core, record, {record.dst.addr + block * plan.dst_step, plan.bytes, source + ub}));
    }
    order_accesses(core, record, touches);
    for (uint32_t block = 0; block < plan.blocks; ++block)
        store_block(core, record, record.dst.addr + block * plan.dst_step, record.src0.addr + block * plan.src_step, plan.bytes);
}

// ---- inside the unified buffer, on V ----
void move(Core &core, const vnpu_record &record, const CopyPlan &plan) {
    check_ub(core, record, record.dst, span(plan, plan.dst_step, plan.bytes), true);
    check_ub(core, record, record.src0, span(plan, plan.src_step, plan.bytes), false);
    std::vector<Touch> touches;
    append_blocks(touches, {VNPU_SPACE_UB, false, record.src0.addr, record.src0.addr + plan.bytes}, plan.blocks, plan.src_step);
    append_blocks(touches, {VNPU_SPACE_UB, true, record.dst.addr, record.dst.addr + plan.bytes}, plan.blocks, plan.dst_step);
    order_accesses(core, record, touches);
    for (uint32_t block = 0; block < plan.blocks && core.moves_data(); ++block) {
        const uint64_t to = record.dst.addr + block * plan.dst_step, from = record.src0.addr + block * plan.src_step;
        std::memmove(core.ub.data() + to, core.ub.data() + from, plan.bytes);
        core.undefined.copy(to, from, plan.bytes);
    }
}

// Paths of the 910B; DataCopyPad has none to or from L1 there.
bool is_supported(const vnpu_record &record) {
    if (record.dst.space == VNPU_SPACE_BT || record.dst.space == VNPU_SPACE_FB) return record.src0.space == VNPU_SPACE_L1 && record.opcode == VNPU_OP_DATA_COPY;
    const uint8_t from = record.src0.space, to = record.dst.space;
    const uint8_t on_chip_side = from == VNPU_SPACE_GM ? to : from;
    if (from != VNPU_SPACE_GM && to != VNPU_SPACE_GM) return from == VNPU_SPACE_UB && to == VNPU_SPACE_UB;
    return on_chip_side == VNPU_SPACE_UB || (on_chip_side == VNPU_SPACE_L1 && record.opcode == VNPU_OP_DATA_COPY);
}

}  // namespace

void run_copy(Core &core, const vnpu_record &record) {
    if (!is_supported(record)) core.fail(record, "unsupported_api", api_name(place_of(record)) + " between these memories is not supported by the virtual NPU");
    if (record.dst.space == VNPU_SPACE_BT || record.dst.space == VNPU_SPACE_FB) return run_bias_copy(core, record);
    const CopyPlan plan = plan_copy(core, record);
    if (is_load(record))
        load(core, record, plan);
    else if (is_store(record))
        store(core, record, plan);
    else
        move(core, record, plan);
    const uint64_t bytes = static_cast<uint64_t>(plan.blocks) * plan.bytes;
    core.append(cost_of(core.launch.chip, record, plan.blocks, bytes / std::max(dtype_bytes(record.src0.dtype), 1u)));
}

}  // namespace vnpu
