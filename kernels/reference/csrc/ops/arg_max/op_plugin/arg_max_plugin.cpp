/* Binds arg_max to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../../../common/torch_axis.h"
#include "../op_kernel/arg_max_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("arg_max(Tensor input, int dim, bool keepdim=False) -> Tensor"); }

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

at::Tensor arg_max_meta(const at::Tensor &input, int64_t dim, bool keepdim) { return empty_indices(input, common::AxisOf(input, dim), keepdim); }

at::Tensor arg_max_npu(const at::Tensor &input, int64_t dim, bool keepdim) {
    const c10::OptionalDeviceGuard guard(input.device());
    common::CheckDense(input, "input");
    const auto type = arg_max_type(input);
    const int64_t axis = common::AxisOf(input, dim);
    const auto shape = common::AxisShapeOf(input, axis);
    auto indices = empty_indices(input, axis, keepdim);
    if (indices.numel() == 0) {
        return indices;
    }
    TORCH_CHECK_INDEX(shape.length > 0, "axis ", axis, " is empty, expected at least one element");
    common::CheckPlaces(shape);
    const auto workspace = at::empty({ArgMaxWorkspaceBytes(shape)}, input.options().dtype(at::kByte));
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = input.data_ptr(), *target = indices.data_ptr(), *scratch = workspace.data_ptr();
    at_npu::native::OpCommand::RunOpApi("ArgMax", [=]() -> int {
        LaunchArgMax(type, source, target, scratch, shape, stream);
        return 0;
    });
    return indices;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("arg_max", arg_max_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("arg_max", arg_max_npu); }

}  // namespace cann_bench
