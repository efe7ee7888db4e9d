/* The launcher of resize_bilinear, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_RESIZE_BILINEAR_LAUNCH_H
#define BASELINE_RESIZE_BILINEAR_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* One axis: new pixel i comes from the position max(step * i + start, 0) / divisor among `old` pixels. */
struct ResizeAxis {
    int64_t old;
    int64_t size;
    int64_t step;
    int64_t start;
    int64_t divisor;
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
void LaunchResizeBilinear(baseline::ElementType type, const ResizeTensors &tensors, void *stream);

#endif  // BASELINE_RESIZE_BILINEAR_LAUNCH_H
