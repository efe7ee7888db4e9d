/* Binds softmax to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/softmax_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("softmax(Tensor x, int dim=-1) -> Tensor"); }

at::Tensor softmax_meta(const at::Tensor &x, int64_t) { return at::empty_like(x); }

/* x as [outer, length, inner] with `axis` in the middle. */
SoftmaxShape softmax_shape(const at::Tensor &x, int64_t axis) {
    SoftmaxShape shape{1, x.size(axis), 1};
    for (int64_t before = 0; before < axis; ++before) {
        shape.outer *= x.size(before);
    }
    for (int64_t after = axis + 1; after < x.dim(); ++after) {
        shape.inner *= x.size(after);
    }
    return shape;
}

at::Tensor softmax_npu(const at::Tensor &x, int64_t dim) {
    const c10::OptionalDeviceGuard guard(x.device());
    TORCH_CHECK(dim >= -x.dim() && dim < x.dim(), "dim is ", dim, ", expected ", -x.dim(), " to ", x.dim() - 1);
    common::CheckDense(x);
    const auto type = common::ElementTypeOf(x);
    auto y = at::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
    const SoftmaxShape shape = softmax_shape(x, dim < 0 ? dim + x.dim() : dim);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    const auto sums = at::empty({SoftmaxSums(shape)}, x.options().dtype(at::kFloat));
    const SoftmaxTensors tensors{x.data_ptr(), y.data_ptr(), sums.data_ptr()};
    at_npu::native::OpCommand::RunOpApi("Softmax", [=]() -> int {
        LaunchSoftmax(type, tensors, shape, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("softmax", softmax_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("softmax", softmax_npu); }

}  // namespace cann_bench
