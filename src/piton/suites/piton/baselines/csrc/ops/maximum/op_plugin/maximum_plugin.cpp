/* Binds maximum to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/broadcast_arguments.h"
#include "../op_kernel/maximum_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("maximum(Tensor x1, Tensor x2) -> Tensor"); }

at::Tensor maximum_meta(const at::Tensor &x1, const at::Tensor &x2) { return at::empty(at::infer_size(x1.sizes(), x2.sizes()), x1.options()); }

at::Tensor maximum_npu(const at::Tensor &x1, const at::Tensor &x2) {
    const c10::OptionalDeviceGuard guard(x1.device());
    const auto type = baseline::ScalarTypeOf(x1);
    TORCH_CHECK(type != baseline::ScalarType::kInt16, "x1 has dtype int16, expected bfloat16, float16, float32, int8, int32 or int64");
    auto y = at::empty(at::infer_size(x1.sizes(), x2.sizes()), x1.options());
    if (y.numel() == 0) {
        return y;
    }
    const auto rows = baseline::RowsOf(x1, x2);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *first = x1.data_ptr(), *second = x2.data_ptr(), *target = y.data_ptr();
    at_npu::native::OpCommand::RunOpApi("Maximum", [=]() -> int {
        LaunchMaximum(type, first, second, target, rows, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("maximum", maximum_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("maximum", maximum_npu); }

}  // namespace cann_bench
