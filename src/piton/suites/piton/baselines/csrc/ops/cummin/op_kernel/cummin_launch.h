/* The launcher of cummin, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_CUMMIN_LAUNCH_H
#define BASELINE_CUMMIN_LAUNCH_H

#include <cstdint>

enum class CumminType : int32_t { kFloat16, kBfloat16, kFloat32, kInt32 };

/* input is [outer, length, inner], the axis the middle one. */
struct CumminShape {
    int64_t outer;
    int64_t length;
    int64_t inner;
};

void LaunchCummin(CumminType type, void *input, void *values, void *indices, const CumminShape &shape, void *stream);

#endif  // BASELINE_CUMMIN_LAUNCH_H
