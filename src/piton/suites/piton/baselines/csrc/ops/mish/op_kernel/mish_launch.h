/* The launcher of mish, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_MISH_LAUNCH_H
#define BASELINE_MISH_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* y[i] = mish(x[i]) for `elements` (> 0) dense elements in device memory, on `stream`. */
void LaunchMish(baseline::ElementType type, void *x, void *y, int64_t elements, void *stream);

#endif  // BASELINE_MISH_LAUNCH_H
