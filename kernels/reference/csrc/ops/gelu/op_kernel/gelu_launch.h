/* The launcher of gelu, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_GELU_LAUNCH_H
#define REFERENCE_GELU_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* y[i] = gelu(x[i]) for `elements` (> 0) dense elements in device memory, on `stream`; `isTanh` chooses the tanh form. */
void LaunchGelu(common::ElementType type, void *x, void *y, int64_t elements, bool isTanh, void *stream);

#endif  // REFERENCE_GELU_LAUNCH_H
