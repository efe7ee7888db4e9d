/* Binds gather to torch: elements of x picked along an axis by a tensor of indices. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/index_arguments.h"
#include "../../../common/torch_arguments.h"
#include "../../../common/torch_axis.h"
#include "../op_kernel/gather_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("gather(Tensor x, Tensor index, int dim=0) -> Tensor"); }

at::Tensor gather_meta(const at::Tensor &x, const at::Tensor &index, int64_t) { return at::empty(index.sizes(), x.options()); }

GatherShape gather_shape(const at::Tensor &x, const at::Tensor &index, int64_t dim) {
    TORCH_CHECK(index.dim() == x.dim(), "index has rank ", index.dim(), ", expected that of x, ", x.dim());
    GatherShape shape{x.dim(), common::AxisOf(x, dim), {}};
    for (int64_t axis = 0; axis < x.dim(); ++axis) {
        TORCH_CHECK(axis == shape.dim || index.size(axis) <= x.size(axis), "index has length ", index.size(axis), " on axis ", axis, ", x ", x.size(axis));
    }
    common::CopyShape(x, shape.shape[0]);
    common::CopyShape(index, shape.shape[1]);
    return shape;
}

void check_gather(const at::Tensor &x, const at::Tensor &index) {
    common::CheckRank(x, "x");
    common::CheckDense(x, "x");
    common::CheckDense(index, "index");
    common::CheckIndexType(index, "index", true);
    const auto type = x.scalar_type();
    TORCH_CHECK(type == at::kHalf || type == at::kBFloat16 || type == at::kFloat || type == at::kChar || type == at::kInt || type == at::kLong, "x has dtype ",
                type, ", expected float16, bfloat16, float32, int8, int32 or int64");
}

at::Tensor gather_npu(const at::Tensor &x, const at::Tensor &index, int64_t dim) {
    const c10::OptionalDeviceGuard guard(x.device());
    check_gather(x, index);
    const GatherShape shape = gather_shape(x, index, dim);
    auto y = at::empty(index.sizes(), x.options());
    if (y.numel() == 0) {
        return y;
    }
    TORCH_CHECK(x.numel() > 0, "x is empty, but index is not");
    const GatherTypes types{static_cast<int32_t>(x.element_size()), static_cast<int32_t>(index.element_size())};
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = x.data_ptr(), *places = index.data_ptr(), *target = y.data_ptr();
    at_npu::native::OpCommand::RunOpApi("Gather", [=]() -> int {
        LaunchGather(types, source, places, target, shape, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("gather", gather_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("gather", gather_npu); }

}  // namespace cann_bench
