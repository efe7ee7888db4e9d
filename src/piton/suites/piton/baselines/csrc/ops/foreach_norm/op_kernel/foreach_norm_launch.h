/* The launcher of foreach_norm, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_FOREACH_NORM_LAUNCH_H
#define BASELINE_FOREACH_NORM_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* Device memory that a launch needs beside the tensors. */
int64_t NormWorkspaceBytes();

/* y[0] = norm of x, for one tensor of `elements` dense elements in device memory, on `stream`. */
void LaunchNorm(baseline::ElementType type, void *x, void *y, int64_t elements, float order, void *workspace, void *stream);

#endif  // BASELINE_FOREACH_NORM_LAUNCH_H
