/* Binds rms_norm to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/rms_norm_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("rms_norm(Tensor x, Tensor gamma, float epsilon=1e-6) -> Tensor"); }

at::Tensor rms_norm_meta(const at::Tensor &x, const at::Tensor &, double) { return at::empty_like(x); }

void check_gamma(const at::Tensor &x, const at::Tensor &gamma) {
    TORCH_CHECK(x.dim() > 0, "x has no axis, expected at least one");
    TORCH_CHECK(gamma.dim() == 1 && gamma.size(0) == x.size(-1), "gamma has shape ", gamma.sizes(), ", expected [", x.size(-1), "]");
    TORCH_CHECK(gamma.scalar_type() == x.scalar_type(), "gamma has dtype ", gamma.scalar_type(), ", expected that of x, ", x.scalar_type());
    common::CheckDense(gamma, "gamma");
}

at::Tensor rms_norm_npu(const at::Tensor &x, const at::Tensor &gamma, double epsilon) {
    const c10::OptionalDeviceGuard guard(x.device());
    common::CheckDense(x);
    check_gamma(x, gamma);
    const auto type = common::ElementTypeOf(x);
    auto y = at::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
    const int64_t rows = x.numel() / x.size(-1), columns = x.size(-1);
    const auto sums = at::empty({RmsNormSums(rows, columns)}, x.options().dtype(at::kFloat));
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    const RmsNormTensors tensors{x.data_ptr(), gamma.data_ptr(), y.data_ptr(), sums.data_ptr(), rows, columns};
    at_npu::native::OpCommand::RunOpApi("RmsNorm", [=]() -> int {
        LaunchRmsNorm(type, tensors, static_cast<float>(epsilon), stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("rms_norm", rms_norm_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("rms_norm", rms_norm_npu); }

}  // namespace cann_bench
