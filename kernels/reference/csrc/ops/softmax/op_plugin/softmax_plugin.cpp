/* Binds softmax to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../../../common/torch_axis.h"
#include "../op_kernel/softmax_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("softmax(Tensor x, int dim=-1) -> Tensor"); }

at::Tensor softmax_meta(const at::Tensor &x, int64_t) { return at::empty_like(x); }

at::Tensor softmax_npu(const at::Tensor &x, int64_t dim) {
    const c10::OptionalDeviceGuard guard(x.device());
    const SoftmaxShape shape = common::AxisShapeOf(x, common::AxisOf(x, dim));
    common::CheckDense(x);
    const auto type = common::ElementTypeOf(x);
    auto y = at::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
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
