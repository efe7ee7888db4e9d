/*
 * LoadData as convolution: a part of the image-to-column matrix of a feature map, from L1 to L0A or L0B.
 *
 * Problem: rows overlap in the feature map, parts of them lie in the padding, and fractals have three orders.
 * Approach: the plan (load_image.h) as runs of channels; run by run and row by row, so that a feature map of single pixels is read in order. Where all that is
 * read is defined and the part is full, runs of 32 bytes are copied whole.
 * Limits: the boundary of SetLoadDataBoundary wraps addresses around to the start of L1, which its page does not say.
 */
#include "load_image.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "access.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint64_t kFractalBytes = 512, kLeastBoundary = 1024;

struct ImageMove {
    Core &core;
    const vnpu_record &record;
    const ImagePlan plan;
    const OnChip from, to;

    uint64_t wrapped(uint64_t address) const { return core.image.boundary ? address % core.image.boundary : address; }
    void check();
    void check_boundary() const;
    void check_run(uint64_t source, uint64_t bytes) const;
    std::vector<Touch> touches() const;
    bool is_simple(const std::vector<Touch> &touches) const;
    void place(const ImageRun &run, uint64_t row, const uint8_t *bytes, uint64_t source);
    std::array<uint8_t, kBlockBytes> padding() const;
    void move();
    void copy_rows();
};

// A run is copied whole, so that none may lie across the boundary.
void ImageMove::check_boundary() const {
    const uint64_t boundary = core.image.boundary, capacity = from.bytes.size();
    if (boundary % kBlockBytes || boundary > capacity)
        core.fail(
            record, "bad_parameter",
            "LoadData as convolution: the boundary of SetLoadDataBoundary is a multiple of 32 and at most the " + std::to_string(capacity) + " bytes of L1",
            {{"boundary", static_cast<int64_t>(boundary)}});
}

void ImageMove::check_run(uint64_t source, uint64_t bytes) const {
    const uint64_t boundary = core.image.boundary, at = wrapped(record.src0.addr + source);
    if (boundary && at + bytes > boundary)
        core.fail(record, "bad_parameter", "LoadData as convolution reads across the boundary of SetLoadDataBoundary in the middle of its channels",
                  {{"boundary", static_cast<int64_t>(boundary)}, {"address", static_cast<int64_t>(at)}});
}

void ImageMove::check() {
    const uint64_t boundary = core.image.boundary;
    check_boundary();
    if (boundary && (boundary < kLeastBoundary || record.src0.addr >= boundary))
        core.fail(record, "bad_parameter", "LoadData as convolution: the boundary of SetLoadDataBoundary is at least 1024 and beyond the start of the source",
                  {{"boundary", static_cast<int64_t>(boundary)}, {"address", static_cast<int64_t>(record.src0.addr)}});
    uint64_t end = 0;
    for (const ImageRun &run : plan.runs)
        for (const uint64_t row : plan.from_row) {
            const auto source = row < plan.out_rows ? plan.source(run, row) : std::nullopt;
            if (!source) continue;
            check_run(*source, run.elements * plan.bits / 8);
            end = std::max(end, *source + run.elements * plan.bits / 8);
        }
    check_on_chip(core, record, record.src0, boundary ? std::min(end, boundary - record.src0.addr) : end, false);
}

std::vector<Touch> ImageMove::touches() const {
    std::vector<Touch> all;
    for (const ImageRun &run : plan.runs)
        for (const uint64_t row : plan.from_row) {
            const auto source = row < plan.out_rows ? plan.source(run, row) : std::nullopt;
            if (!source) continue;
            const uint64_t at = wrapped(record.src0.addr + *source);
            append_touch(all, {VNPU_SPACE_L1, false, at, at + run.elements * plan.bits / 8});
        }
    std::sort(all.begin(), all.end(), [](const Touch &a, const Touch &b) { return a.begin < b.begin; });
    std::vector<Touch> merged;
    for (const Touch &touch : all) {
        if (!merged.empty() && touch.begin <= merged.back().end)
            merged.back().end = std::max(merged.back().end, touch.end);
        else
            merged.push_back(touch);
    }
    merged.push_back({record.dst.space, true, record.dst.addr, record.dst.addr + plan.fractals() * kFractalBytes});
    return merged;
}

// Everything that is read is defined, and every byte of the fractals is written by a run of 32 bytes.
bool ImageMove::is_simple(const std::vector<Touch> &all) const {
    if (plan.is_right || plan.is_transposed || plan.rows % 16 || plan.columns % plan.depth) return false;
    for (const uint64_t row : plan.from_row)
        if (row >= plan.out_rows) return false;
    for (const ImageRun &run : plan.runs)
        if (run.elements != plan.depth || run.column % plan.depth) return false;
    for (const Touch &touch : all)
        if (!touch.is_write && from.undefined.any(touch.begin, touch.end)) return false;
    return true;
}

// 32 bytes of the padding value; elements of 4 bits lie two to a byte.
std::array<uint8_t, kBlockBytes> ImageMove::padding() const {
    std::array<uint8_t, kBlockBytes> block = {};
    const uint64_t unit = std::max<uint64_t>(plan.bits / 8, 1), value = plan.bits == 4 ? (core.image.padding & 15) * 0x11 : core.image.padding;
    for (uint64_t at = 0; at < kBlockBytes; at += unit) std::memcpy(block.data() + at, &value, unit);
    return block;
}

void ImageMove::copy_rows() {
    to.undefined.clear(record.dst.addr, record.dst.addr + plan.fractals() * kFractalBytes);
    const auto padded = padding();
    for (const ImageRun &run : plan.runs)
        for (uint64_t row = 0; row < plan.rows; ++row) {
            const auto source = plan.source(run, plan.from_row[row]);
            const uint8_t *bytes = source ? from.bytes.data() + wrapped(record.src0.addr + *source) : padded.data();
            std::memcpy(to.bytes.data() + record.dst.addr + plan.target(row, run.column), bytes, kBlockBytes);
        }
}

// One run of one row; `source`: its address for undefined bytes, or no address of L1 for padding.
void ImageMove::place(const ImageRun &run, uint64_t row, const uint8_t *bytes, uint64_t source) {
    const uint64_t step = plan.bits == 4 ? 2 : 1, size = step * plan.bits / 8;
    const bool is_defined = source == UINT64_MAX || !from.undefined.any(source, source + run.elements * plan.bits / 8);
    for (uint64_t element = 0; element < run.elements; element += step) {
        const uint64_t at = element * plan.bits / 8, put = record.dst.addr + plan.target(row, run.column + element);
        std::memcpy(to.bytes.data() + put, bytes + at, size);
        if (is_defined || !from.undefined.any(source + at, source + at + size)) to.undefined.clear(put, put + size);
    }
}

void ImageMove::move() {
    to.undefined.set(record.dst.addr, record.dst.addr + plan.fractals() * kFractalBytes);
    const auto padded = padding();
    for (const ImageRun &run : plan.runs)
        for (uint64_t row = 0; row < plan.rows; ++row) {
            if (plan.from_row[row] >= plan.out_rows) continue;
            const auto source = plan.source(run, plan.from_row[row]);
            const uint64_t at = source ? wrapped(record.src0.addr + *source) : UINT64_MAX;
            place(run, row, source ? from.bytes.data() + at : padded.data(), at);
        }
}

}  // namespace

void run_load_image(Core &core, const vnpu_record &record) {
    if (record.p[3] & VNPU_IMAGE_SETS_SHAPE) core.image.shape[record.p[3] & VNPU_IMAGE_RIGHT_SHAPE ? 1 : 0] = record.mask[0];
    if (record.p[3] & VNPU_IMAGE_SETS_PADDING) core.image.padding = record.scalar;
    const ImagePlan plan = plan_image(core, record);
    if (plan.rows == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    ImageMove move{core, record, plan, on_chip(core, VNPU_SPACE_L1), on_chip(core, record.dst.space)};
    move.check();
    const std::vector<Touch> touches = move.touches();
    order_accesses(core, record, touches);
    if (core.moves_data()) move.is_simple(touches) ? move.copy_rows() : move.move();
    core.append(cost_of(core.launch.chip, record, static_cast<uint32_t>(plan.fractals()), plan.fractals() * kFractalBytes));
}

namespace {

// Every repeat is work: the register has 8 bits for their number.
void check_repeats(Core &core, const vnpu_record &record) {
    if (record.p[1] <= kMaxRepeats && record.p[2] <= UINT16_MAX) return;
    core.fail(record, "bad_parameter", "SetLoadDataRepeat: repeatTime is 0 to 255, repeatStride 0 to 65535", {{"repeats", record.p[1]}, {"step", record.p[2]}});
}

}  // namespace

void set_image_register(Core &core, const vnpu_record &record) {
    ImageRegisters &image = core.image;
    switch (record.p[0]) {
        case VNPU_IMAGE_SHAPE_LEFT:
        case VNPU_IMAGE_SHAPE_RIGHT:
            image.shape[record.p[0]] = record.scalar;
            break;
        case VNPU_IMAGE_PADDING:
            image.padding = record.scalar;
            break;
        case VNPU_IMAGE_BOUNDARY:
            image.boundary = record.scalar;
            break;
        case VNPU_IMAGE_REPEATS:
            check_repeats(core, record);
            image.repeats = record.p[1];
            image.repeat_step = record.p[2];
            image.is_repeated_sideways = record.p[3] != 0;
            break;
        default:
            core.fail(record, "bad_parameter", "a register of LoadData as convolution that does not exist", {{"value", record.p[0]}});
    }
}

}  // namespace vnpu
