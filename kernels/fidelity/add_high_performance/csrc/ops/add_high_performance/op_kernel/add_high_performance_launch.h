/* The launcher, callable from code that knows nothing of Ascend C. */
#ifndef ADD_HIGH_PERFORMANCE_LAUNCH_H
#define ADD_HIGH_PERFORMANCE_LAUNCH_H

#include <cstdint>

/* z[i] = x[i] + y[i] for `elements` (a multiple of 256) float16 values in device memory; `variant` is 2 to 6, see README.md. */
void LaunchAddHighPerformance(void *x, void *y, void *z, int64_t elements, int64_t variant, void *stream);

#endif  // ADD_HIGH_PERFORMANCE_LAUNCH_H
