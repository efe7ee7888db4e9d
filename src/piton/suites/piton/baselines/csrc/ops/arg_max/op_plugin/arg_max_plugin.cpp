/* Binds arg_max to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/arg_max_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("arg_max(Tensor input, int dim, bool keepdim=False) -> Tensor"); }

/* `dim` counted from the start; a tensor without axes counts as having one. */
int64_t arg_max_axis(const at::Tensor &x, int64_t dim) {
    const int64_t rank = std::max<int64_t>(x.dim(), 1);
    TORCH_CHECK_INDEX(dim >= -rank && dim < rank, "dim is ", dim, ", expected ", -rank, " to ", rank - 1);
    return dim < 0 ? dim + rank : dim;
}

ArgMaxShape arg_max_shape(const at::Tensor &x, int64_t axis) {
    ArgMaxShape shape{1, x.dim() == 0 ? 1 : x.size(axis), 1};
    for (int64_t before = 0; before < axis; ++before) {
        shape.outer *= x.size(before);
    }
    for (int64_t after = axis + 1; after < x.dim(); ++after) {
        shape.inner *= x.size(after);
    }
    return shape;
}

ArgMaxType arg_max_type(const at::Tensor &input) {
    switch (input.scalar_type()) {
        case at::kHalf:
            return ArgMaxType::kFloat16;
        case at::kBFloat16:
            return ArgMaxType::kBfloat16;
        case at::kFloat:
            return ArgMaxType::kFloat32;
        case at::kInt:
            return ArgMaxType::kInt32;
        case at::kLong:
            return ArgMaxType::kInt64;
        default:
            TORCH_CHECK(false, "input has dtype ", input.scalar_type(), ", expected float16, bfloat16, float32, int32 or int64");
    }
}

at::Tensor empty_indices(const at::Tensor &input, int64_t axis, bool keepdim) {
    std::vector<int64_t> sizes = input.sizes().vec();
    if (!sizes.empty() && keepdim) {
        sizes[axis] = 1;
    } else if (!sizes.empty()) {
        sizes.erase(sizes.begin() + axis);
    }
    return at::empty(sizes, input.options().dtype(at::kLong));
}

at::Tensor arg_max_meta(const at::Tensor &input, int64_t dim, bool keepdim) { return empty_indices(input, arg_max_axis(input, dim), keepdim); }

at::Tensor arg_max_npu(const at::Tensor &input, int64_t dim, bool keepdim) {
    const c10::OptionalDeviceGuard guard(input.device());
    baseline::CheckDense(input);
    const auto type = arg_max_type(input);
    const int64_t axis = arg_max_axis(input, dim);
    const auto shape = arg_max_shape(input, axis);
    auto indices = empty_indices(input, axis, keepdim);
    if (indices.numel() == 0) {
        return indices;
    }
    TORCH_CHECK_INDEX(shape.length > 0, "axis ", axis, " is empty, expected at least one element");
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = input.data_ptr(), *target = indices.data_ptr();
    at_npu::native::OpCommand::RunOpApi("ArgMax", [=]() -> int {
        LaunchArgMax(type, source, target, shape, stream);
        return 0;
    });
    return indices;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("arg_max", arg_max_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("arg_max", arg_max_npu); }

}  // namespace cann_bench
