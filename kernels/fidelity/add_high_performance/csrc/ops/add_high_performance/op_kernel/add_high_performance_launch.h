/* The launcher, callable from code that knows nothing of Ascend C. */
#ifndef ADD_HIGH_PERFORMANCE_LAUNCH_H
#define ADD_HIGH_PERFORMANCE_LAUNCH_H

#include <cstdint>

/* z = x + y, dense float16 matrices in device memory with a multiple of 16 columns; `variant` is 2 to 6, see README.md. */
void LaunchAddHighPerformance(void *x, void *y, void *z, int64_t rows, int64_t columns, int64_t variant, void *stream);

#endif  // ADD_HIGH_PERFORMANCE_LAUNCH_H
