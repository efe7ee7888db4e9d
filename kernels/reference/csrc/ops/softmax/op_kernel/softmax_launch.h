/* The launcher of softmax, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_SOFTMAX_LAUNCH_H
#define REFERENCE_SOFTMAX_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* The dense tensor seen as [outer, length, inner]; softmax runs along the middle axis. */
struct SoftmaxShape {
    int64_t outer;
    int64_t length;
    int64_t inner;
};

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
