/* The launcher of rms_norm, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_RMS_NORM_LAUNCH_H
#define REFERENCE_RMS_NORM_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* Device memory: x and y are [rows, columns], gamma is [columns]; all dense. sums is room for RmsNormSums floats. */
struct RmsNormTensors {
    void *x;
    void *gamma;
    void *y;
    void *sums;
    int64_t rows;
    int64_t columns;
};

/* Of a few very long rows, partial sums pass from one launch to the next; otherwise 0. */
int64_t RmsNormSums(int64_t rows, int64_t columns);

/* y = rms_norm(x, gamma) for non-empty tensors, on `stream`. */
void LaunchRmsNorm(common::ElementType type, const RmsNormTensors &tensors, float epsilon, void *stream);

#endif  // REFERENCE_RMS_NORM_LAUNCH_H
