/* Binds dynamic_quant to torch. */
#include <tuple>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/dynamic_quant_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("dynamic_quant(Tensor x) -> (Tensor y, Tensor scale)"); }

/* y and scale, not yet computed. */
std::tuple<at::Tensor, at::Tensor> dynamic_quant_meta(const at::Tensor &x) {
    TORCH_CHECK(x.dim() > 0, "x has no axis, expected at least one");
    return {at::empty(x.sizes(), x.options().dtype(at::kChar)), at::empty(x.sizes().slice(0, x.dim() - 1), x.options().dtype(at::kFloat))};
}

void check_quant_argument(const at::Tensor &x) {
    common::CheckDense(x);
    TORCH_CHECK(x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16, "x has dtype ", x.scalar_type(), ", expected float16 or bfloat16");
    TORCH_CHECK(x.size(-1) <= kMostQuantColumns, "x has rows of ", x.size(-1), " elements, expected at most ", kMostQuantColumns);
}

std::tuple<at::Tensor, at::Tensor> dynamic_quant_npu(const at::Tensor &x) {
    const c10::OptionalDeviceGuard guard(x.device());
    auto results = dynamic_quant_meta(x);
    check_quant_argument(x);
    const auto type = common::ElementTypeOf(x);
    if (x.numel() == 0) {
        return results;
    }
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    const DynamicQuantTensors tensors{x.data_ptr(), std::get<0>(results).data_ptr(), std::get<1>(results).data_ptr(), x.numel() / x.size(-1), x.size(-1)};
    at_npu::native::OpCommand::RunOpApi("DynamicQuant", [=]() -> int {
        LaunchDynamicQuant(type, tensors, stream);
        return 0;
    });
    return results;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("dynamic_quant", dynamic_quant_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("dynamic_quant", dynamic_quant_npu); }

}  // namespace cann_bench
