/* What the plugins of operators with two broadcast sides check, and how they describe them to a launcher; host code. */
#ifndef BASELINE_BROADCAST_ARGUMENTS_H
#define BASELINE_BROADCAST_ARGUMENTS_H

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

#include "broadcast_rows.h"
#include "scalar_type.h"

namespace baseline {

inline ScalarType ScalarTypeOf(const at::Tensor &x) {
    switch (x.scalar_type()) {
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
            TORCH_CHECK(false, "x1 has dtype ", x.scalar_type(), ", which no operator takes");
    }
}

inline BroadcastRows RowsOf(const at::Tensor &x1, const at::Tensor &x2) {
    TORCH_CHECK(x1.scalar_type() == x2.scalar_type(), "x1 has dtype ", x1.scalar_type(), " and x2 ", x2.scalar_type(), ", expected one dtype");
    TORCH_CHECK(x1.is_contiguous() && x2.is_contiguous(), "x1 and x2 have to be contiguous");
    const int64_t axes = std::max<int64_t>({x1.dim(), x2.dim(), 1});
    TORCH_CHECK(axes <= kMostAxes, "x1 has rank ", x1.dim(), " and x2 ", x2.dim(), ", expected at most ", kMostAxes);
    int64_t shapes[2][kMostAxes];
    for (int64_t axis = 0; axis < axes; ++axis) {
        const int64_t first = axis - axes + x1.dim(), second = axis - axes + x2.dim();
        shapes[0][axis] = first < 0 ? 1 : x1.size(first);
        shapes[1][axis] = second < 0 ? 1 : x2.size(second);
    }
    return RowsOf(static_cast<int32_t>(axes), shapes[0], shapes[1]);
}

}  // namespace baseline

#endif  // BASELINE_BROADCAST_ARGUMENTS_H
