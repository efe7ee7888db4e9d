/* The launcher of masked_scale, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_MASKED_SCALE_LAUNCH_H
#define BASELINE_MASKED_SCALE_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

enum class MaskType : int32_t { kInt8, kUint8, kFloat16, kBfloat16, kFloat32 };

/* y[i] = x[i] * mask[i] * scale for `elements` (> 0) dense elements in device memory, on `stream`. */
void LaunchMaskedScale(baseline::ElementType type, MaskType maskType, void *x, void *mask, void *y, int64_t elements, float scale, void *stream);

#endif  // BASELINE_MASKED_SCALE_LAUNCH_H
