/* Binds scatter to torch: a copy of data with updates written to, or combined with, the elements that indices name along an axis. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/index_arguments.h"
#include "../../../common/torch_arguments.h"
#include "../../../common/torch_axis.h"
#include "../op_kernel/scatter_launch.h"

namespace cann_bench {

using ReduceName = c10::optional<c10::string_view>;

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("scatter(Tensor data, int dim, Tensor indices, Tensor updates, str? reduce=None) -> Tensor"); }

at::Tensor scatter_meta(const at::Tensor &data, int64_t, const at::Tensor &, const at::Tensor &, ReduceName) { return at::empty_like(data); }

ScatterType scatter_type(const at::Tensor &data) {
    switch (data.scalar_type()) {
        case at::kHalf:
            return ScatterType::kFloat16;
        case at::kBFloat16:
            return ScatterType::kBfloat16;
        case at::kFloat:
            return ScatterType::kFloat32;
        case at::kInt:
            return ScatterType::kInt32;
        case at::kLong:
            return ScatterType::kInt64;
        default:
            TORCH_CHECK(false, "data has dtype ", data.scalar_type(), ", expected float16, bfloat16, float32, int32 or int64");
    }
}

Reduction scatter_reduction(ReduceName reduce) {
    const c10::string_view name = reduce.has_value() ? *reduce : "update";
    if (name == "update") {
        return Reduction::kNone;
    }
    if (name == "add") {
        return Reduction::kAdd;
    }
    if (name == "multiply") {
        return Reduction::kMultiply;
    }
    TORCH_CHECK(name == "amin" || name == "amax", "reduce is ", std::string(name), ", expected None, update, add, multiply, amin or amax");
    return name == "amin" ? Reduction::kMin : Reduction::kMax;
}

ScatterShape scatter_shape(const at::Tensor &data, int64_t dim, const at::Tensor &indices, const at::Tensor &updates) {
    const int64_t rank = data.dim();
    TORCH_CHECK(indices.dim() == rank && updates.dim() == rank, "indices and updates have ranks ", indices.dim(), " and ", updates.dim(), ", expected ", rank);
    ScatterShape shape{rank, common::AxisOf(data, dim), {}};
    for (int64_t axis = 0; axis < rank; ++axis) {
        const int64_t length = indices.size(axis);
        TORCH_CHECK(length <= updates.size(axis), "indices has length ", length, " on axis ", axis, ", updates ", updates.size(axis));
        TORCH_CHECK(axis == shape.dim || length <= data.size(axis), "indices has length ", length, " on axis ", axis, ", data ", data.size(axis));
    }
    common::CopyShape(data, shape.shape[0]);
    common::CopyShape(indices, shape.shape[1]);
    common::CopyShape(updates, shape.shape[2]);
    return shape;
}

void check_scatter(const at::Tensor &data, const at::Tensor &indices, const at::Tensor &updates) {
    common::CheckRank(data, "data");
    common::CheckDense(data, "data");
    common::CheckDense(indices, "indices");
    common::CheckDense(updates, "updates");
    common::CheckIndexType(indices, "indices", false);
    TORCH_CHECK(updates.scalar_type() == data.scalar_type(), "updates has dtype ", updates.scalar_type(), ", expected that of data, ", data.scalar_type());
}

at::Tensor scatter_npu(const at::Tensor &data, int64_t dim, const at::Tensor &indices, const at::Tensor &updates, ReduceName reduce) {
    const c10::OptionalDeviceGuard guard(data.device());
    check_scatter(data, indices, updates);
    const auto type = scatter_type(data);
    const auto reduction = scatter_reduction(reduce);
    const ScatterShape shape = scatter_shape(data, dim, indices, updates);
    auto y = at::empty_like(data);
    if (data.numel() == 0) {
        return y;
    }
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    const ScatterTensors tensors{data.data_ptr(), indices.data_ptr(), updates.data_ptr(), y.data_ptr()};
    const auto indexBytes = static_cast<int32_t>(indices.element_size());
    const int64_t bytes = indices.numel() == 0 ? data.numel() * data.element_size() : 0;
    at_npu::native::OpCommand::RunOpApi("Scatter", [=]() -> int {
        if (bytes > 0) {
            LaunchScatterCopy(tensors.data, tensors.y, bytes, stream);
        } else {
            LaunchScatter(type, indexBytes, reduction, tensors, shape, stream);
        }
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("scatter", scatter_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("scatter", scatter_npu); }

}  // namespace cann_bench
