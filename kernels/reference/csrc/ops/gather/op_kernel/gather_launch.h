/* The launcher of gather, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_GATHER_LAUNCH_H
#define REFERENCE_GATHER_LAUNCH_H

#include <cstdint>

struct GatherShape {
    int64_t rank;
    int64_t dim;          // from 0 on
    int64_t shape[2][8];  // of x and of index, outermost axis first
};

struct GatherTypes {
    int32_t elementBytes;  // of x and y: 1, 2, 4 or 8; elements are copied, whatever they are
    int32_t indexBytes;    // 1, 4 or 8
};

/* y[..., i, ...] = x[..., index[..., i, ...], ...] with i on axis dim, for dense, non-empty tensors in device memory, on `stream`. */
void LaunchGather(const GatherTypes &types, void *x, void *index, void *y, const GatherShape &shape, void *stream);

#endif  // REFERENCE_GATHER_LAUNCH_H
