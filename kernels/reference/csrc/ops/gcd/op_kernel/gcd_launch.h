/* The launcher of gcd, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_GCD_LAUNCH_H
#define REFERENCE_GCD_LAUNCH_H

#include "../../../common/broadcast_shapes.h"
#include "../../../common/scalar_type.h"

/* y = gcd(x1, x2), broadcast, for non-empty dense tensors in device memory, on `stream`. Takes int16, int32 and int64. */
void LaunchGcd(common::ScalarType type, void *x1, void *x2, void *y, const common::BroadcastShapes &shapes, void *stream);

#endif  // REFERENCE_GCD_LAUNCH_H
