/* The launcher of cummin, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_CUMMIN_LAUNCH_H
#define REFERENCE_CUMMIN_LAUNCH_H

#include <cstdint>

#include "../../../common/axis_shape.h"

enum class CumminType : int32_t { kFloat16, kBfloat16, kFloat32, kInt32 };

/* Addresses in device memory; `workspace` has CumminWorkspaceBytes. */
struct CumminTensors {
    void *input;
    void *values;
    void *indices;
    void *workspace;
};

int64_t CumminWorkspaceBytes(const common::AxisShape &shape);

void LaunchCummin(CumminType type, const CumminTensors &tensors, const common::AxisShape &shape, void *stream);

#endif  // REFERENCE_CUMMIN_LAUNCH_H
