/* The launcher of exp, callable from code that knows nothing of Ascend C. */
#ifndef EXP_SUBMISSION_EXP_LAUNCH_H
#define EXP_SUBMISSION_EXP_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* y[i] = e^(factor * x[i] + offset) for `elements` (> 0) dense elements in device memory, on `stream`. */
void LaunchExp(common::ElementType type, void *x, void *y, int64_t elements, float factor, float offset, void *stream);

#endif  // EXP_SUBMISSION_EXP_LAUNCH_H
