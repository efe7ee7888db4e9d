/* The axis that an operator works along, for plugins. */
#ifndef REFERENCE_TORCH_AXIS_H
#define REFERENCE_TORCH_AXIS_H

#include <algorithm>
#include <cstdint>

#include <ATen/ATen.h>

#include "axis_shape.h"

namespace common {

/* `dim` counted from the start; a tensor without axes counts as having one. */
inline int64_t AxisOf(const at::Tensor &x, int64_t dim) {
    const int64_t rank = std::max<int64_t>(x.dim(), 1);
    TORCH_CHECK_INDEX(dim >= -rank && dim < rank, "dim is ", dim, ", expected ", -rank, " to ", rank - 1);
    return dim < 0 ? dim + rank : dim;
}

inline AxisShape AxisShapeOf(const at::Tensor &x, int64_t axis) {
    AxisShape shape{1, x.dim() == 0 ? 1 : x.size(axis), 1};
    for (int64_t before = 0; before < axis; ++before) {
        shape.outer *= x.size(before);
    }
    for (int64_t after = axis + 1; after < x.dim(); ++after) {
        shape.inner *= x.size(after);
    }
    return shape;
}

/* For kernels that count places on the axis in 32 bits. */
inline void CheckPlaces(const AxisShape &shape) {
    TORCH_CHECK(shape.length <= INT32_MAX, "the axis has ", shape.length, " elements, expected at most ", INT32_MAX);
}

}  // namespace common

#endif  // REFERENCE_TORCH_AXIS_H
