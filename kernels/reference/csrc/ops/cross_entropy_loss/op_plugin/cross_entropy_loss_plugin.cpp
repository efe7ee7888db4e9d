/* Binds cross_entropy_loss to torch. */
#include <string>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/cross_entropy_loss_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("cross_entropy_loss(Tensor input, Tensor target, str reduction=\"mean\", int ignore_index=-100) -> Tensor"); }

CrossEntropyReduction loss_reduction(c10::string_view name) {
    if (name == "none") {
        return CrossEntropyReduction::kNone;
    }
    TORCH_CHECK(name == "sum" || name == "mean", "reduction is \"", std::string(name), "\", expected \"none\", \"mean\" or \"sum\"");
    return name == "sum" ? CrossEntropyReduction::kSum : CrossEntropyReduction::kMean;
}

/* The shape of input without its classes. */
std::vector<int64_t> loss_shape(const at::Tensor &input) {
    TORCH_CHECK(input.dim() >= 2, "input has ", input.dim(), " axes, expected at least two");
    auto shape = input.sizes().vec();
    shape.erase(shape.begin() + 1);
    return shape;
}

at::Tensor cross_entropy_loss_meta(const at::Tensor &input, const at::Tensor &, c10::string_view reduction, int64_t) {
    const bool isReduced = loss_reduction(reduction) != CrossEntropyReduction::kNone;
    return at::empty(isReduced ? std::vector<int64_t>{} : loss_shape(input), input.options());
}

CrossEntropyTarget loss_target(const at::Tensor &input, const at::Tensor &target) {
    common::CheckDense(target, "target");
    const auto type = target.scalar_type();
    if (type == input.scalar_type()) {
        TORCH_CHECK(target.sizes() == input.sizes(), "target has shape ", target.sizes(), ", expected that of input, ", input.sizes());
        return CrossEntropyTarget::kProbabilities;
    }
    TORCH_CHECK(type == at::kInt || type == at::kLong, "target has dtype ", type, ", expected int32, int64 or that of input, ", input.scalar_type());
    const auto shape = loss_shape(input);
    TORCH_CHECK(target.sizes() == at::IntArrayRef(shape), "target has shape ", target.sizes(), ", expected ", at::IntArrayRef(shape));
    return type == at::kInt ? CrossEntropyTarget::kInt32 : CrossEntropyTarget::kInt64;
}

at::Tensor cross_entropy_loss_npu(const at::Tensor &input, const at::Tensor &target, c10::string_view reduction, int64_t ignore_index) {
    const c10::OptionalDeviceGuard guard(input.device());
    common::CheckDense(input, "input");
    auto loss = cross_entropy_loss_meta(input, target, reduction, ignore_index);
    const CrossEntropyOptions options{common::ElementTypeOf(input, "input"), loss_target(input, target), loss_reduction(reduction), ignore_index};
    TORCH_CHECK(input.numel() > 0 || loss.numel() == 0, "input has no elements, expected some");
    if (loss.numel() == 0) {
        return loss;
    }
    const int64_t outer = input.size(0), classes = input.size(1);
    const auto workspace = at::empty({CrossEntropyCores() * kCrossEntropyWorkspaceBytes}, input.options().dtype(at::kByte));
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    const CrossEntropyTensors tensors{
        input.data_ptr(), target.data_ptr(), loss.data_ptr(), workspace.data_ptr(), outer, classes, input.numel() / outer / classes};
    at_npu::native::OpCommand::RunOpApi("CrossEntropyLoss", [=]() -> int {
        LaunchCrossEntropyLoss(options, tensors, stream);
        return 0;
    });
    return loss;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("cross_entropy_loss", cross_entropy_loss_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("cross_entropy_loss", cross_entropy_loss_npu); }

}  // namespace cann_bench
