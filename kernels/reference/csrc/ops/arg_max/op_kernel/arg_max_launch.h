/* The launcher of arg_max, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_ARG_MAX_LAUNCH_H
#define REFERENCE_ARG_MAX_LAUNCH_H

#include <cstdint>

#include "../../../common/axis_shape.h"

enum class ArgMaxType : int32_t { kFloat16, kBfloat16, kFloat32, kInt32, kInt64 };

/* Bytes of scratch memory in device memory that the launch needs. */
int64_t ArgMaxWorkspaceBytes(const common::AxisShape &shape);

void LaunchArgMax(ArgMaxType type, void *input, void *indices, void *workspace, const common::AxisShape &shape, void *stream);

#endif  // REFERENCE_ARG_MAX_LAUNCH_H
