/* The launcher of grid_sampler_3d, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_GRID_SAMPLER_3D_LAUNCH_H
#define BASELINE_GRID_SAMPLER_3D_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

enum class GridPadding : int32_t { kZeros, kBorder, kReflection };

/* Device memory, dense: x is [batch, channels, depth, height, width], grid [batch, points, 3], y [batch, channels, points]. */
struct GridTensors {
    void *x;
    void *grid;
    void *y;
    int64_t batch;
    int64_t channels;
    int64_t depth;
    int64_t height;
    int64_t width;
    int64_t points;
    GridPadding padding;
    bool isNearest;
    bool isAligned;
};

/* y = x sampled at the points of the grid, for non-empty tensors, on `stream`. */
void LaunchGridSampler3d(baseline::ElementType type, const GridTensors &tensors, void *stream);

#endif  // BASELINE_GRID_SAMPLER_3D_LAUNCH_H
