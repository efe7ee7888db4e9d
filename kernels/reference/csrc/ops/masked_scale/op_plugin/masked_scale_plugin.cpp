/* Binds masked_scale to torch: y = x * mask * scale. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/masked_scale_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("masked_scale(Tensor x, Tensor mask, float scale=1.0) -> Tensor"); }

at::Tensor masked_scale_meta(const at::Tensor &x, const at::Tensor &, double) { return at::empty_like(x); }

static MaskType MaskTypeOf(const at::Tensor &mask) {
    switch (mask.scalar_type()) {
        case at::kChar:
            return MaskType::kInt8;
        case at::kByte:
            return MaskType::kUint8;
        case at::kHalf:
            return MaskType::kFloat16;
        case at::kBFloat16:
            return MaskType::kBfloat16;
        case at::kFloat:
            return MaskType::kFloat32;
        default:
            TORCH_CHECK(false, "mask has dtype ", mask.scalar_type(), ", expected int8, uint8, float16, bfloat16 or float32");
    }
}

at::Tensor masked_scale_npu(const at::Tensor &x, const at::Tensor &mask, double scale) {
    const c10::OptionalDeviceGuard guard(x.device());
    common::CheckDense(x);
    common::CheckDense(mask, "mask");
    TORCH_CHECK(x.sizes() == mask.sizes(), "mask has shape ", mask.sizes(), ", expected that of x, ", x.sizes());
    const auto type = common::ElementTypeOf(x);
    const auto maskType = MaskTypeOf(mask);
    auto y = at::empty_like(x);
    const int64_t elements = x.numel();
    if (elements == 0) {
        return y;
    }
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = x.data_ptr();
    void *factors = mask.data_ptr();
    void *target = y.data_ptr();
    at_npu::native::OpCommand::RunOpApi("MaskedScale", [=]() -> int {
        LaunchMaskedScale(type, maskType, source, factors, target, elements, static_cast<float>(scale), stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("masked_scale", masked_scale_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("masked_scale", masked_scale_npu); }

}  // namespace cann_bench
