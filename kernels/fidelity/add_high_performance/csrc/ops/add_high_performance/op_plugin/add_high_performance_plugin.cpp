/* Binds add_high_performance(x, y, variant) to torch. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../op_kernel/add_high_performance_launch.h"

namespace piton_fidelity {

TORCH_LIBRARY_FRAGMENT(piton_fidelity, m) { m.def("add_high_performance(Tensor x, Tensor y, int variant) -> Tensor"); }

at::Tensor add_high_performance_npu(const at::Tensor &x, const at::Tensor &y, int64_t variant) {
    const c10::OptionalDeviceGuard guard(x.device());
    TORCH_CHECK(x.sizes() == y.sizes(), "x has shape ", x.sizes(), ", y has ", y.sizes());
    TORCH_CHECK(x.scalar_type() == at::kHalf && y.scalar_type() == at::kHalf, "x and y must be float16");
    TORCH_CHECK(x.is_contiguous() && y.is_contiguous(), "x and y must be contiguous");
    TORCH_CHECK(x.dim() == 2 && x.numel() > 0 && x.size(1) % 16 == 0, "x has shape ", x.sizes(), ", expected a matrix with a multiple of 16 columns");
    TORCH_CHECK(variant >= 2 && variant <= 6, "variant is ", variant, ", expected 2 to 6");
    auto z = at::empty_like(x);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *first = x.data_ptr();
    void *second = y.data_ptr();
    void *sum = z.data_ptr();
    const int64_t rows = x.size(0);
    const int64_t columns = x.size(1);
    at_npu::native::OpCommand::RunOpApi("AddHighPerformance", [=]() -> int {
        LaunchAddHighPerformance(first, second, sum, rows, columns, variant, stream);
        return 0;
    });
    return z;
}

TORCH_LIBRARY_IMPL(piton_fidelity, PrivateUse1, m) { m.impl("add_high_performance", add_high_performance_npu); }

}  // namespace piton_fidelity
