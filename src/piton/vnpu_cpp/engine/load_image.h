/*
 * Registers of the convolution loads, and the plan of one of them.
 *
 * Problem: LoadData with LoadData3DParamsV2 reads a feature map as the matrix that a convolution multiplies (image to column) and loads a part of that.
 * Approach: the matrix has a row per place of the filter's window and a column per (block of channels, place in the filter, channel of the block). A plan
 * knows where in L1 an element of it lies, or that it is padding; and where in L0A or L0B it goes.
 * Limits: see load_image.cpp.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vnpu/abi.h"

namespace vnpu {

struct Core;

// What SetFmatrix, SetLoadDataPaddingValue, SetLoadDataRepeat and SetLoadDataBoundary set; kept until it is set again.
struct ImageRegisters {
    uint64_t shape[2] = {};  // left, right: height | width << 16 | padding left << 32, right << 40, top << 48, bottom << 56
    uint64_t padding = 0;    // bits of an element
    uint64_t boundary = 0;   // bytes of L1, 0: all
    uint32_t repeats = 1, repeat_step = 0;
    bool is_repeated_sideways = false;
};

// A run of channels that lie together: a part of one column block of the matrix.
struct ImageRun {
    uint64_t column;       // first column at the destination
    uint64_t elements;     // columns
    uint64_t block;        // byte of the block of channels, from the source's start
    uint64_t pixel_bytes;  // of one pixel of the block
    uint64_t channel;      // byte within the pixel
    uint64_t filter_y, filter_x;
};

struct ImagePlan {
    uint64_t height, width, left, top, out_width, out_rows;  // out_rows: rows of the whole matrix
    uint64_t stride_y, stride_x, dilation_y, dilation_x;
    uint64_t bits, depth;            // of an element; elements in 32 bytes
    uint64_t rows, columns;          // of the part that is loaded
    bool is_right, is_transposed;    // to L0B; turned over on the way to L0A
    std::vector<uint64_t> from_row;  // row of the matrix for each loaded row
    std::vector<ImageRun> runs;

    uint64_t fractals() const;
    uint64_t target(uint64_t row, uint64_t column) const;  // byte from the destination's start
    // Byte from the source's start; nothing in the padding.
    std::optional<uint64_t> source(const ImageRun &run, uint64_t row) const;
};

ImagePlan plan_image(Core &core, const vnpu_record &record);
void set_image_register(Core &core, const vnpu_record &record);

}  // namespace vnpu
