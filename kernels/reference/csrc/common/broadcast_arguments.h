/* What the plugins of operators with two broadcast sides check, and how they describe shapes to a launcher; host code. */
#ifndef REFERENCE_BROADCAST_ARGUMENTS_H
#define REFERENCE_BROADCAST_ARGUMENTS_H

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

#include "broadcast_shapes.h"
#include "scalar_type.h"

namespace common {

inline ScalarType ScalarTypeOf(const at::Tensor &tensor) {
    switch (tensor.scalar_type()) {
        case at::kHalf:
            return ScalarType::kFloat16;
        case at::kBFloat16:
            return ScalarType::kBfloat16;
        case at::kFloat:
            return ScalarType::kFloat32;
        case at::kChar:
            return ScalarType::kInt8;
        case at::kShort:
            return ScalarType::kInt16;
        case at::kInt:
            return ScalarType::kInt32;
        case at::kLong:
            return ScalarType::kInt64;
        default:
            TORCH_CHECK(false, "x1 has dtype ", tensor.scalar_type(), ", which no operator takes");
    }
}

inline void CheckSides(const at::Tensor &x1, const at::Tensor &x2) {
    TORCH_CHECK(x1.scalar_type() == x2.scalar_type(), "x1 has dtype ", x1.scalar_type(), " and x2 ", x2.scalar_type(), ", expected one dtype");
    TORCH_CHECK(x1.is_contiguous() && x2.is_contiguous(), "x1 has strides ", x1.strides(), " and x2 ", x2.strides(), ", expected contiguous tensors");
    TORCH_CHECK(x1.dim() <= kMostAxes && x2.dim() <= kMostAxes, "x1 has rank ", x1.dim(), " and x2 ", x2.dim(), ", expected at most ", kMostAxes);
}

/* The shape of both sides broadcast; throws where they do not fit. */
inline std::vector<int64_t> BroadcastShape(const at::Tensor &x1, const at::Tensor &x2) { return at::infer_size(x1.sizes(), x2.sizes()); }

/* Both shapes aligned at their last axes, with 1 for the axes that one lacks. */
inline BroadcastShapes ShapesOf(const at::Tensor &x1, const at::Tensor &x2) {
    BroadcastShapes shapes{};
    shapes.axes = static_cast<int32_t>(std::max(x1.dim(), x2.dim()));
    for (int32_t axis = 0; axis < shapes.axes; ++axis) {
        const int64_t first = axis - shapes.axes + x1.dim(), second = axis - shapes.axes + x2.dim();
        shapes.sizes[0][axis] = first < 0 ? 1 : x1.size(first);
        shapes.sizes[1][axis] = second < 0 ? 1 : x2.size(second);
    }
    return shapes;
}

}  // namespace common

#endif  // REFERENCE_BROADCAST_ARGUMENTS_H
