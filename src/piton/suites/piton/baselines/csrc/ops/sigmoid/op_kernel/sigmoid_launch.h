/* The launcher of sigmoid, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_SIGMOID_LAUNCH_H
#define BASELINE_SIGMOID_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* y[i] = sigmoid(x[i]) for `elements` (> 0) dense elements in device memory, on `stream`. */
void LaunchSigmoid(baseline::ElementType type, void *x, void *y, int64_t elements, void *stream);

#endif  // BASELINE_SIGMOID_LAUNCH_H
