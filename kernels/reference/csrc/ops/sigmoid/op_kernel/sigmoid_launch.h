/* The launcher of sigmoid, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_SIGMOID_LAUNCH_H
#define REFERENCE_SIGMOID_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* y[i] = sigmoid(x[i]) for `elements` (> 0) dense elements in device memory, on `stream`. */
void LaunchSigmoid(common::ElementType type, void *x, void *y, int64_t elements, void *stream);

#endif  // REFERENCE_SIGMOID_LAUNCH_H
