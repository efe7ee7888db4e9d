/* Binds cummin to torch. */
#include <tuple>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../../../common/torch_axis.h"
#include "../op_kernel/cummin_launch.h"

namespace cann_bench {

using Pair = std::tuple<at::Tensor, at::Tensor>;

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("cummin(Tensor input, int dim) -> (Tensor, Tensor)"); }

CumminType cummin_type(const at::Tensor &input) {
    switch (input.scalar_type()) {
        case at::kHalf:
            return CumminType::kFloat16;
        case at::kBFloat16:
            return CumminType::kBfloat16;
        case at::kFloat:
            return CumminType::kFloat32;
        case at::kInt:
            return CumminType::kInt32;
        default:
            TORCH_CHECK(false, "input has dtype ", input.scalar_type(), ", expected float16, bfloat16, float32 or int32");
    }
}

Pair cummin_meta(const at::Tensor &input, int64_t) { return {at::empty_like(input), at::empty(input.sizes(), input.options().dtype(at::kLong))}; }

Pair cummin_npu(const at::Tensor &input, int64_t dim) {
    const c10::OptionalDeviceGuard guard(input.device());
    common::CheckDense(input, "input");
    const auto type = cummin_type(input);
    const auto shape = common::AxisShapeOf(input, common::AxisOf(input, dim));
    auto values = at::empty_like(input), indices = at::empty(input.sizes(), input.options().dtype(at::kLong));
    if (input.numel() == 0) {
        return {values, indices};
    }
    common::CheckPlaces(shape);
    const auto workspace = at::empty({CumminWorkspaceBytes(shape)}, input.options().dtype(at::kByte));
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    const CumminTensors tensors{input.data_ptr(), values.data_ptr(), indices.data_ptr(), workspace.data_ptr()};
    at_npu::native::OpCommand::RunOpApi("Cummin", [=]() -> int {
        LaunchCummin(type, tensors, shape, stream);
        return 0;
    });
    return {values, indices};
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("cummin", cummin_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("cummin", cummin_npu); }

}  // namespace cann_bench
