/* The launcher of dynamic_quant, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_DYNAMIC_QUANT_LAUNCH_H
#define REFERENCE_DYNAMIC_QUANT_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

constexpr int64_t kMostQuantColumns = 16384;  // what fits into the unified buffer with two tiles in flight

/* Device memory: x and y are [rows, columns], scale is [rows]; all dense. */
struct DynamicQuantTensors {
    void *x;
    void *y;
    void *scale;
    int64_t rows;
    int64_t columns;
};

/* y, scale = dynamic_quant(x) for non-empty tensors of at most kMostQuantColumns columns, on `stream`. x is float16 or bfloat16. */
void LaunchDynamicQuant(common::ElementType type, const DynamicQuantTensors &tensors, void *stream);

#endif  // REFERENCE_DYNAMIC_QUANT_LAUNCH_H
