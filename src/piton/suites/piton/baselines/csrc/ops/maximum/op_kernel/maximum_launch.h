/* The launcher of maximum, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_MAXIMUM_LAUNCH_H
#define BASELINE_MAXIMUM_LAUNCH_H

#include "../../../common/broadcast_rows.h"
#include "../../../common/scalar_type.h"

/* y = maximum(x1, x2), broadcast, for non-empty dense tensors in device memory, on `stream`. */
void LaunchMaximum(baseline::ScalarType type, void *x1, void *x2, void *y, const baseline::BroadcastRows &rows, void *stream);

#endif  // BASELINE_MAXIMUM_LAUNCH_H
