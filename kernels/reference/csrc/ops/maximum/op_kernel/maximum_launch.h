/* The launcher of maximum, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_MAXIMUM_LAUNCH_H
#define REFERENCE_MAXIMUM_LAUNCH_H

#include "../../../common/broadcast_shapes.h"
#include "../../../common/scalar_type.h"

/* y = max(x1, x2), broadcast, for non-empty dense tensors in device memory, on `stream`. Takes every type but int16. */
void LaunchMaximum(common::ScalarType type, void *x1, void *x2, void *y, const common::BroadcastShapes &shapes, void *stream);

#endif  // REFERENCE_MAXIMUM_LAUNCH_H
