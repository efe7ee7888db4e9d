/* Binds apply_adam_w to torch: one step of the AdamW optimiser. */
#include <cmath>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/apply_adam_w_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) {
    m.def(
        "apply_adam_w(Tensor var, Tensor grad, Tensor m, Tensor v, float lr, float beta1, float beta2, float weight_decay, float epsilon=1e-8, int step=1, "
        "bool maximize=False) -> Tensor");
}

at::Tensor apply_adam_w_meta(const at::Tensor &var, const at::Tensor &, const at::Tensor &, const at::Tensor &, double, double, double, double, double, int64_t,
                             bool) {
    return at::empty_like(var);
}

static void CheckLike(const char *name, const at::Tensor &x, const at::Tensor &var) {
    common::CheckDense(x, name);
    TORCH_CHECK(x.sizes() == var.sizes() && x.scalar_type() == var.scalar_type(), name, " is ", x.scalar_type(), x.sizes(), ", expected what var is, ",
                var.scalar_type(), var.sizes());
}

/* In double: in float32, 1 - 0.999 is off by 3e-5. */
static AdamWFactors FactorsOf(double lr, double beta1, double beta2, double decay, double epsilon, double step, bool maximize) {
    const double signedRate = maximize ? lr : -lr;
    const double first = signedRate / (1 - std::pow(beta1, step)), second = 1 / (1 - std::pow(beta2, step));
    return {static_cast<float>(first * beta1),  static_cast<float>(first * (1 - beta1)),
            static_cast<float>(second * beta2), static_cast<float>(second * (1 - beta2)),
            static_cast<float>(epsilon),        static_cast<float>(signedRate * decay)};
}

at::Tensor apply_adam_w_npu(const at::Tensor &var, const at::Tensor &grad, const at::Tensor &m, const at::Tensor &v, double lr, double beta1, double beta2,
                            double weightDecay, double epsilon, int64_t step, bool maximize) {
    const c10::OptionalDeviceGuard guard(var.device());
    TORCH_CHECK(step >= 1, "step is ", step, ", expected 1 or more");
    common::CheckDense(var, "var");
    CheckLike("grad", grad, var);
    CheckLike("m", m, var);
    CheckLike("v", v, var);
    const auto type = common::ElementTypeOf(var, "var");
    auto y = at::empty_like(var);
    const int64_t elements = var.numel();
    if (elements == 0) {
        return y;
    }
    const auto factors = FactorsOf(lr, beta1, beta2, weightDecay, epsilon, static_cast<double>(step), maximize);
    const AdamWAddresses addresses{var.data_ptr(), grad.data_ptr(), m.data_ptr(), v.data_ptr(), y.data_ptr()};
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    at_npu::native::OpCommand::RunOpApi("ApplyAdamW", [=]() -> int {
        LaunchApplyAdamW(type, addresses, elements, factors, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("apply_adam_w", apply_adam_w_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("apply_adam_w", apply_adam_w_npu); }

}  // namespace cann_bench
