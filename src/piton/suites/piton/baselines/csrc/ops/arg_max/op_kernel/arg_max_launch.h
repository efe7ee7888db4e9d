/* The launcher of arg_max, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_ARG_MAX_LAUNCH_H
#define BASELINE_ARG_MAX_LAUNCH_H

#include <cstdint>

enum class ArgMaxType : int32_t { kFloat16, kBfloat16, kFloat32, kInt32, kInt64 };

/* input is [outer, length, inner], the axis the middle one. */
struct ArgMaxShape {
    int64_t outer;
    int64_t length;
    int64_t inner;
};

void LaunchArgMax(ArgMaxType type, void *input, void *indices, const ArgMaxShape &shape, void *stream);

#endif  // BASELINE_ARG_MAX_LAUNCH_H
