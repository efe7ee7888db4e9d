/* The launcher of scatter, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_SCATTER_LAUNCH_H
#define REFERENCE_SCATTER_LAUNCH_H

#include <cstdint>

enum class ScatterType : int32_t { kFloat16, kBfloat16, kFloat32, kInt32, kInt64 };

enum class Reduction : int32_t { kNone, kAdd, kMultiply, kMin, kMax };

struct ScatterShape {
    int64_t rank;
    int64_t dim;          // from 0 on
    int64_t shape[3][8];  // of data, indices and updates, outermost axis first; indices has no axis of length 0
};

struct ScatterTensors {
    void *data;
    void *indices;
    void *updates;
    void *y;
};

/* y = data, then y[..., indices[..., i, ...], ...] = (reduction of itself and) updates[..., i, ...], i on axis dim; dense tensors in device memory, on
 * `stream`. */
void LaunchScatter(ScatterType type, int32_t indexBytes, Reduction reduction, const ScatterTensors &tensors, const ScatterShape &shape, void *stream);

/* y = data: `bytes` (> 0) of them. */
void LaunchScatterCopy(void *data, void *y, int64_t bytes, void *stream);

#endif  // REFERENCE_SCATTER_LAUNCH_H
