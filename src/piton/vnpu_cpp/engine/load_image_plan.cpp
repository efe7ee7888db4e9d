/*
 * From the parameters of a convolution load to its plan.
 *
 * Column k of the matrix: blocks of 32 bytes of channels one after another; in a block the places of the filter row by row; in a place the channels. A last
 * block of fewer channels is as narrow in the feature map as it is here. What the page leaves open and is chosen here: rows beyond the last place of the
 * window, and columns beyond kExtension in the last fractal, are undefined; with repeats the blocks are one large matrix, transposed or not.
 */
#include <algorithm>

#include "access.h"
#include "dtypes.h"
#include "load_image.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint64_t kSide = 16;

struct Fields {
    uint64_t m, k, first_row, first_column, channels;
    uint64_t stride_x, stride_y, filter_x, filter_y, dilation_x, dilation_y;
    uint64_t shape;
};

Fields fields_of(const Core &core, const vnpu_record &record) {
    Fields fields{};
    fields.m = record.p[0] & 0xffff;
    fields.k = record.p[0] >> 16;
    fields.first_row = record.p[1] & 0xffff;
    fields.first_column = record.p[1] >> 16;
    fields.stride_x = record.p[2] & 0xff;
    fields.stride_y = record.p[2] >> 8 & 0xff;
    fields.dilation_x = record.p[2] >> 16 & 0xff;
    fields.dilation_y = record.p[2] >> 24;
    fields.filter_x = record.mask[1] & 0xffff;
    fields.filter_y = record.mask[1] >> 16 & 0xffff;
    fields.channels = record.mask[1] >> 32 & 0xffff;
    fields.shape = core.image.shape[record.p[3] & VNPU_IMAGE_RIGHT_SHAPE ? 1 : 0];
    return fields;
}

[[noreturn]] void refuse(Core &core, const vnpu_record &record, const std::string &what, uint64_t value) {
    core.fail(record, "bad_parameter", "LoadData as convolution: " + what, {{"value", static_cast<int64_t>(value)}});
}

// Channels that the unit can read: whole blocks of 32 bytes, and in the last one a quarter, an eighth ... of it (page of the call).
bool are_channels_possible(uint64_t channels, uint64_t depth, uint64_t bits) {
    const uint64_t rest = channels % depth, least = bits == 4 ? 8 : 4;
    return rest == 0 || (rest >= least && (rest & (rest - 1)) == 0);
}

void check_fields(Core &core, const vnpu_record &record, const Fields &fields, const ImagePlan &plan) {
    const bool is_to_l0 = record.dst.space == VNPU_SPACE_L0A || record.dst.space == VNPU_SPACE_L0B;
    if (record.src0.space != VNPU_SPACE_L1 || !is_to_l0 || !plan.bits || plan.bits > 32)
        core.fail(record, "unsupported_api", "LoadData as convolution goes from L1 (TPosition::A1, B1) to L0A (A2) or L0B (B2)");
    if ((plan.is_right || plan.is_transposed) && plan.bits < 16)
        core.fail(record, "unsupported_api",
                  "LoadData as convolution turns elements of 2 and 4 bytes over, which it does on the way to L0B too; smaller ones it cannot");
    if (!are_channels_possible(fields.channels, plan.depth, plan.bits))
        refuse(core, record,
               "channelSize is " + std::to_string(fields.channels) + "; beyond whole blocks of 32 bytes a few small numbers are possible: see the page",
               fields.channels);
    if (fields.first_column % plan.depth) refuse(core, record, "kStartPt has to be a multiple of 32 bytes of elements", fields.first_column);
    if (!fields.stride_x || !fields.stride_y || !fields.dilation_x || !fields.dilation_y) refuse(core, record, "strides and dilations are 1 or more", 0);
}

uint64_t places(Core &core, const vnpu_record &record, uint64_t size, uint64_t filter, uint64_t dilation, uint64_t stride) {
    const uint64_t window = (filter - 1) * dilation + 1;
    if (window > size)
        refuse(core, record, "the filter with its dilation spans " + std::to_string(window) + " of " + std::to_string(size) + " padded pixels", window);
    return (size - window) / stride + 1;
}

void set_geometry(Core &core, const vnpu_record &record, const Fields &fields, ImagePlan &plan) {
    const uint64_t shape = fields.shape;
    plan.height = shape & 0xffff;
    plan.width = shape >> 16 & 0xffff;
    plan.left = shape >> 32 & 0xff;
    plan.top = shape >> 48 & 0xff;
    plan.stride_x = fields.stride_x, plan.stride_y = fields.stride_y;
    plan.dilation_x = fields.dilation_x, plan.dilation_y = fields.dilation_y;
    plan.out_width = places(core, record, plan.width + plan.left + (shape >> 40 & 0xff), fields.filter_x, plan.dilation_x, plan.stride_x);
    plan.out_rows = plan.out_width * places(core, record, plan.height + plan.top + (shape >> 56), fields.filter_y, plan.dilation_y, plan.stride_y);
}

// Columns [first, first + count) of the matrix, as runs; `at`: where the first goes.
void append_runs(Core &core, const vnpu_record &record, const Fields &fields, ImagePlan &plan, uint64_t first, uint64_t at) {
    const uint64_t cells = fields.filter_x * fields.filter_y, whole = fields.channels / plan.depth, rest = fields.channels % plan.depth;
    const uint64_t all = fields.channels * cells, pixels = plan.height * plan.width;
    if (first + fields.k > (all + plan.depth - 1) / plan.depth * plan.depth)
        refuse(core, record, "kStartPt + kExtension is " + std::to_string(first + fields.k) + ", the matrix has " + std::to_string(all) + " columns", all);
    for (uint64_t column = first; column < std::min(first + fields.k, all);) {
        const bool is_last = column >= whole * cells * plan.depth;
        const uint64_t channels = is_last ? rest : plan.depth, block = is_last ? whole : column / (cells * plan.depth);
        const uint64_t inside = column - block * cells * plan.depth, cell = inside / channels, channel = inside % channels;
        const uint64_t count = std::min(channels - channel, first + fields.k - column);
        plan.runs.push_back({at + column - first, count, block * pixels * kBlockBytes, channels * plan.bits / 8, channel * plan.bits / 8,
                             cell / fields.filter_x, cell % fields.filter_x});
        column += count;
    }
}

}  // namespace

uint64_t ImagePlan::fractals() const {
    const auto up = [](uint64_t value, uint64_t unit) { return (value + unit - 1) / unit; };
    if (!is_right && !is_transposed) return up(rows, kSide) * up(columns, depth);
    return up(columns, kSide) * (up(rows, kSide) * kSide / depth);
}

uint64_t ImagePlan::target(uint64_t row, uint64_t column) const {
    const auto place = [this](uint64_t fractal, uint64_t line, uint64_t element) {
        return fractal * 512 + line % kSide * kBlockBytes + element % depth * bits / 8;
    };
    if (is_right) return place(row / depth * ((columns + kSide - 1) / kSide) + column / kSide, column, row);
    if (is_transposed) return place(column / kSide * ((rows + kSide - 1) / kSide * kSide / depth) + row / depth, column, row);
    return place(row / kSide * ((columns + depth - 1) / depth) + column / depth, row, column);
}

std::optional<uint64_t> ImagePlan::source(const ImageRun &run, uint64_t row) const {
    const uint64_t y = row / out_width * stride_y + run.filter_y * dilation_y, x = row % out_width * stride_x + run.filter_x * dilation_x;
    if (y < top || y - top >= height || x < left || x - left >= width) return std::nullopt;
    return run.block + ((y - top) * width + x - left) * run.pixel_bytes + run.channel;
}

ImagePlan plan_image(Core &core, const vnpu_record &record) {
    ImagePlan plan{};
    const Fields fields = fields_of(core, record);
    plan.bits = record.src0.dtype == VNPU_DT_I4 ? 4 : 8 * dtype_bytes(record.src0.dtype);
    plan.depth = plan.bits ? 8 * kBlockBytes / plan.bits : 1;
    plan.is_right = record.dst.space == VNPU_SPACE_L0B;
    plan.is_transposed = !plan.is_right && (record.p[3] & VNPU_IMAGE_TRANSPOSE);
    const bool is_nothing = !(fields.shape & 0xffff) || !(fields.shape >> 16 & 0xffff) || !fields.channels || !fields.k || !fields.m || !fields.filter_x ||
                            !fields.filter_y || !core.image.repeats;
    if (is_nothing) return plan;
    check_fields(core, record, fields, plan);
    set_geometry(core, record, fields, plan);
    const ImageRegisters &image = core.image;
    const uint64_t down = image.is_repeated_sideways ? 1 : image.repeats, across = image.is_repeated_sideways ? image.repeats : 1;
    plan.rows = down * fields.m;
    plan.columns = across * fields.k;
    check_on_chip(core, record, record.dst, plan.fractals() * 512, true, 512);  // before a plan is made of numbers that mean more work than memory
    for (uint64_t repeat = 0; repeat < down; ++repeat)
        for (uint64_t row = 0; row < fields.m; ++row) plan.from_row.push_back(fields.first_row + repeat * image.repeat_step * kSide + row);
    for (uint64_t repeat = 0; repeat < across; ++repeat)
        append_runs(core, record, fields, plan, fields.first_column + repeat * image.repeat_step * plan.depth, repeat * fields.k);
    return plan;
}

}  // namespace vnpu
