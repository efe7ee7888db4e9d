/* Binds group_norm to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/group_norm_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("group_norm(Tensor x, Tensor gamma, Tensor beta, int num_groups, float epsilon) -> Tensor"); }

at::Tensor group_norm_meta(const at::Tensor &x, const at::Tensor &, const at::Tensor &, int64_t, double) { return at::empty_like(x); }

void check_channel_argument(const char *name, const at::Tensor &x, const at::Tensor &item) {
    TORCH_CHECK(item.dim() == 1 && item.size(0) == x.size(1), name, " has shape ", item.sizes(), ", expected [", x.size(1), "]");
    TORCH_CHECK(item.scalar_type() == x.scalar_type(), name, " has dtype ", item.scalar_type(), ", expected that of x, ", x.scalar_type());
    common::CheckDense(item, name);
}

at::Tensor group_norm_npu(const at::Tensor &x, const at::Tensor &gamma, const at::Tensor &beta, int64_t num_groups, double epsilon) {
    const c10::OptionalDeviceGuard guard(x.device());
    TORCH_CHECK(x.dim() >= 2, "x has ", x.dim(), " axes, expected at least two");
    common::CheckDense(x);
    check_channel_argument("gamma", x, gamma);
    check_channel_argument("beta", x, beta);
    TORCH_CHECK(num_groups > 0 && x.size(1) % num_groups == 0, x.size(1), " channels cannot be divided into ", num_groups, " groups");
    const auto type = common::ElementTypeOf(x);
    auto y = at::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    const int64_t samples = x.size(0), channels = x.size(1);
    const GroupNormTensors tensors{x.data_ptr(), gamma.data_ptr(), beta.data_ptr(),       y.data_ptr(),
                                   samples,      num_groups,       channels / num_groups, x.numel() / samples / channels};
    at_npu::native::OpCommand::RunOpApi("GroupNorm", [=]() -> int {
        LaunchGroupNorm(type, tensors, static_cast<float>(epsilon), stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("group_norm", group_norm_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("group_norm", group_norm_npu); }

}  // namespace cann_bench
