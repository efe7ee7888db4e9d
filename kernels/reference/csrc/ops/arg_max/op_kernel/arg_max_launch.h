/* The launcher of arg_max, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_ARG_MAX_LAUNCH_H
#define REFERENCE_ARG_MAX_LAUNCH_H

#include <cstdint>

enum class ArgMaxType : int32_t { kFloat16, kBfloat16, kFloat32, kInt32, kInt64 };

/* input is [outer, length, inner], the axis the middle one. */
struct ArgMaxShape {
    int64_t outer;
    int64_t length;
    int64_t inner;
};

/* Bytes of scratch memory in device memory that the launch needs. */
int64_t ArgMaxWorkspaceBytes(const ArgMaxShape &shape);

void LaunchArgMax(ArgMaxType type, void *input, void *indices, void *workspace, const ArgMaxShape &shape, void *stream);

#endif  // REFERENCE_ARG_MAX_LAUNCH_H
