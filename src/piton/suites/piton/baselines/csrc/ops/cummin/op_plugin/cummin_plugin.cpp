/* Binds cummin to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/cummin_launch.h"

namespace cann_bench {

using Pair = std::tuple<at::Tensor, at::Tensor>;

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("cummin(Tensor input, int dim) -> (Tensor, Tensor)"); }

/* `dim` counted from the start; a tensor without axes counts as having one. */
int64_t cummin_axis(const at::Tensor &x, int64_t dim) {
    const int64_t rank = std::max<int64_t>(x.dim(), 1);
    TORCH_CHECK_INDEX(dim >= -rank && dim < rank, "dim is ", dim, ", expected ", -rank, " to ", rank - 1);
    return dim < 0 ? dim + rank : dim;
}

CumminShape cummin_shape(const at::Tensor &x, int64_t axis) {
    CumminShape shape{1, x.dim() == 0 ? 1 : x.size(axis), 1};
    for (int64_t before = 0; before < axis; ++before) {
        shape.outer *= x.size(before);
    }
    for (int64_t after = axis + 1; after < x.dim(); ++after) {
        shape.inner *= x.size(after);
    }
    return shape;
}

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
    baseline::CheckDense(input);
    const auto type = cummin_type(input);
    const auto shape = cummin_shape(input, cummin_axis(input, dim));
    auto values = at::empty_like(input), indices = at::empty(input.sizes(), input.options().dtype(at::kLong));
    if (input.numel() == 0) {
        return {values, indices};
    }
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = input.data_ptr(), *least = values.data_ptr(), *places = indices.data_ptr();
    at_npu::native::OpCommand::RunOpApi("Cummin", [=]() -> int {
        LaunchCummin(type, source, least, places, shape, stream);
        return 0;
    });
    return {values, indices};
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("cummin", cummin_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("cummin", cummin_npu); }

}  // namespace cann_bench
