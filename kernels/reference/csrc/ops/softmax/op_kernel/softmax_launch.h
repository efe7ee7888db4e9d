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

/* y = softmax(x) for dense, non-empty tensors in device memory, on `stream`. */
void LaunchSoftmax(common::ElementType type, void *x, void *y, const SoftmaxShape &shape, void *stream);

#endif  // REFERENCE_SOFTMAX_LAUNCH_H
