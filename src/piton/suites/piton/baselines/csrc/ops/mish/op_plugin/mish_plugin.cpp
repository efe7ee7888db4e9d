/* Binds mish to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/mish_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("mish(Tensor x) -> Tensor"); }

at::Tensor mish_meta(const at::Tensor &x) { return at::empty_like(x); }

at::Tensor mish_npu(const at::Tensor &x) {
    const c10::OptionalDeviceGuard guard(x.device());
    baseline::CheckDense(x);
    const auto type = baseline::ElementTypeOf(x);
    auto y = at::empty_like(x);
    const int64_t elements = x.numel();
    if (elements == 0) {
        return y;
    }
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = x.data_ptr();
    void *target = y.data_ptr();
    at_npu::native::OpCommand::RunOpApi("Mish", [=]() -> int {
        LaunchMish(type, source, target, elements, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("mish", mish_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("mish", mish_npu); }

}  // namespace cann_bench
