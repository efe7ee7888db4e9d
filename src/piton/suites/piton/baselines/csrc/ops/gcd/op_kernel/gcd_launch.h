/* The launcher of gcd, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_GCD_LAUNCH_H
#define BASELINE_GCD_LAUNCH_H

#include "../../../common/broadcast_rows.h"
#include "../../../common/scalar_type.h"

/* y = gcd(x1, x2), broadcast, for non-empty dense tensors in device memory, on `stream`. */
void LaunchGcd(baseline::ScalarType type, void *x1, void *x2, void *y, const baseline::BroadcastRows &rows, void *stream);

#endif  // BASELINE_GCD_LAUNCH_H
