/* The launcher of resize_bilinear, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_RESIZE_BILINEAR_LAUNCH_H
#define REFERENCE_RESIZE_BILINEAR_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/*
 * One axis. New pixel i comes from the position max(step * i + start, 0) / divisor among the old ones: whole numbers, so that what is whole comes out whole.
 * step * i + start has to stay below 2^30 for i up to size + 64, divisor is at most 2^20.
 */
struct ResizeAxis {
    int64_t old;
    int64_t size;
    int64_t step;
    int64_t start;
    int64_t divisor;
    double pitch;  // old pixels from one new pixel to the next
};

/* Device memory: x is [planes, rows.old, columns.old], y is [planes, rows.size, columns.size]; both dense. */
struct ResizeTensors {
    void *x;
    void *y;
    int64_t planes;
    ResizeAxis rows;
    ResizeAxis columns;
};

/* y = x resized, for non-empty tensors, on `stream`. */
void LaunchResizeBilinear(common::ElementType type, const ResizeTensors &tensors, void *stream);

#endif  // REFERENCE_RESIZE_BILINEAR_LAUNCH_H
