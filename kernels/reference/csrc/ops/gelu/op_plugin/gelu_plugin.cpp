/* Binds gelu to torch: approximate is "none" or "tanh", as in torch.nn.functional.gelu. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/gelu_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("gelu(Tensor x, str approximate=\"none\") -> Tensor"); }

at::Tensor gelu_meta(const at::Tensor &x, c10::string_view) { return at::empty_like(x); }

at::Tensor gelu_npu(const at::Tensor &x, c10::string_view approximate) {
    const c10::OptionalDeviceGuard guard(x.device());
    TORCH_CHECK(approximate == "none" || approximate == "tanh", "approximate is '", approximate, "', expected 'none' or 'tanh'");
    common::CheckDense(x);
    const auto type = common::ElementTypeOf(x);
    const bool isTanh = approximate == "tanh";
    auto y = at::empty_like(x);
    const int64_t elements = x.numel();
    if (elements == 0) {
        return y;
    }
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = x.data_ptr();
    void *target = y.data_ptr();
    at_npu::native::OpCommand::RunOpApi("Gelu", [=]() -> int {
        LaunchGelu(type, source, target, elements, isTanh, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("gelu", gelu_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("gelu", gelu_npu); }

}  // namespace cann_bench
