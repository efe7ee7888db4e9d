/* Binds gcd to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/broadcast_arguments.h"
#include "../op_kernel/gcd_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("gcd(Tensor x1, Tensor x2) -> Tensor"); }

at::Tensor gcd_meta(const at::Tensor &x1, const at::Tensor &x2) { return at::empty(at::infer_size(x1.sizes(), x2.sizes()), x1.options()); }

at::Tensor gcd_npu(const at::Tensor &x1, const at::Tensor &x2) {
    const c10::OptionalDeviceGuard guard(x1.device());
    using baseline::ScalarType;
    const auto type = baseline::ScalarTypeOf(x1);
    const bool isTaken = type == ScalarType::kInt16 || type == ScalarType::kInt32 || type == ScalarType::kInt64;
    TORCH_CHECK(isTaken, "x1 has dtype ", x1.scalar_type(), ", expected int16, int32 or int64");
    auto y = at::empty(at::infer_size(x1.sizes(), x2.sizes()), x1.options());
    if (y.numel() == 0) {
        return y;
    }
    const auto rows = baseline::RowsOf(x1, x2);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *first = x1.data_ptr(), *second = x2.data_ptr(), *target = y.data_ptr();
    at_npu::native::OpCommand::RunOpApi("Gcd", [=]() -> int {
        LaunchGcd(type, first, second, target, rows, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("gcd", gcd_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("gcd", gcd_npu); }

}  // namespace cann_bench
