/* The launcher of mish, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_MISH_LAUNCH_H
#define REFERENCE_MISH_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* y[i] = mish(x[i]) for `elements` (> 0) dense elements in device memory, on `stream`. */
void LaunchMish(common::ElementType type, void *x, void *y, int64_t elements, void *stream);

#endif  // REFERENCE_MISH_LAUNCH_H
