/* Binds exp to torch: y = e^(scale * x + shift), or base^(scale * x + shift) when base is positive. */
#include <cmath>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/exp_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("exp(Tensor x, float base=-1.0, float scale=1.0, float shift=0.0) -> Tensor"); }

at::Tensor exp_meta(const at::Tensor &x, double, double, double) { return at::empty_like(x); }

at::Tensor exp_npu(const at::Tensor &x, double base, double scale, double shift) {
    const c10::OptionalDeviceGuard guard(x.device());
    common::CheckDense(x);
    const auto type = common::ElementTypeOf(x);
    auto y = at::empty_like(x);
    const int64_t elements = x.numel();
    if (elements == 0) {
        return y;
    }
    // base^t = e^(t ln base): one multiplication on the host instead of one per element, rounded once from double.
    const double logarithm = base > 0 ? std::log(base) : 1.0;
    const auto factor = static_cast<float>(scale * logarithm);
    const auto offset = static_cast<float>(shift * logarithm);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = x.data_ptr();
    void *target = y.data_ptr();
    at_npu::native::OpCommand::RunOpApi("Exp", [=]() -> int {
        LaunchExp(type, source, target, elements, factor, offset, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("exp", exp_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("exp", exp_npu); }

}  // namespace cann_bench
