/* The launcher of softmax, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_SOFTMAX_LAUNCH_H
#define REFERENCE_SOFTMAX_LAUNCH_H

#include <cstdint>

#include "../../../common/axis_shape.h"
#include "../../../common/element_type.h"

/* The dense tensor seen along the axis that softmax runs along. */
using SoftmaxShape = common::AxisShape;

/* Device memory, dense; sums is room for SoftmaxSums floats. */
struct SoftmaxTensors {
    void *x;
    void *y;
    void *sums;
};

/* Of a few very long rows, partial maxima and sums pass from one launch to the next; otherwise 0. */
int64_t SoftmaxSums(const SoftmaxShape &shape);

/* y = softmax(x) for non-empty tensors, on `stream`. */
void LaunchSoftmax(common::ElementType type, const SoftmaxTensors &tensors, const SoftmaxShape &shape, void *stream);

#endif  // REFERENCE_SOFTMAX_LAUNCH_H
