/* The launcher of swi_glu, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_SWI_GLU_LAUNCH_H
#define BASELINE_SWI_GLU_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/*
 * y[r] = a[r] * sigmoid(a[r]) * b[r] for `rows` (> 0) rows, each of `columns` (> 0) elements of a and then as many of b, dense in device memory; on `stream`.
 */
void LaunchSwiGlu(baseline::ElementType type, void *x, void *y, int64_t rows, int64_t columns, void *stream);

#endif  // BASELINE_SWI_GLU_LAUNCH_H
