/* The launcher of resize_bilinear, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_RESIZE_BILINEAR_LAUNCH_H
#define REFERENCE_RESIZE_BILINEAR_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/*
 * One axis. New pixel i comes from the position max(step * i + start, 0) / divisor among the old ones: whole numbers, so that what is whole comes out whole.
 * Where no small ones exist (divisor 0: a scale factor such as 0.7), a table in device memory holds the positions: `size` lower neighbours (int32), then
 * `size` shares of the lower and `size` of the upper neighbour (float).
 */
struct ResizeAxis {
    int64_t old;
    int64_t size;
    int64_t step;
    int64_t start;
    int64_t divisor;
    double pitch;  // old pixels from one new pixel to the next
    void *table;
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
