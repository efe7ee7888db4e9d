/* Binds foreach_norm to torch: the norm of each tensor of a list, over all its elements. */
#include <cmath>
#include <vector>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/foreach_norm_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("foreach_norm(Tensor[] x, float scalar) -> Tensor[]"); }

std::vector<at::Tensor> foreach_norm_meta(at::TensorList x, double) {
    std::vector<at::Tensor> norms;
    for (const at::Tensor &item : x) {
        norms.push_back(at::empty({}, item.options()));
    }
    return norms;
}

static void CheckArguments(at::TensorList x, double scalar) {
    TORCH_CHECK(scalar == scalar, "scalar is NaN, expected the order of a norm");
    for (const at::Tensor &item : x) {
        baseline::CheckDense(item);
        TORCH_CHECK(item.scalar_type() == x[0].scalar_type(), "x has tensors of ", item.scalar_type(), " and ", x[0].scalar_type(), ", expected one dtype");
        TORCH_CHECK(item.numel() != 0 || !std::isinf(scalar), "x has a tensor without elements, of which order ", scalar, " takes none");
    }
}

std::vector<at::Tensor> foreach_norm_npu(at::TensorList x, double scalar) {
    if (x.empty()) {
        return {};
    }
    const c10::OptionalDeviceGuard guard(x[0].device());
    CheckArguments(x, scalar);
    const auto type = baseline::ElementTypeOf(x[0]);
    auto norms = foreach_norm_meta(x, scalar);
    auto workspace = at::empty({NormWorkspaceBytes()}, x[0].options().dtype(at::kByte));
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *parts = workspace.data_ptr();
    for (size_t i = 0; i < x.size(); ++i) {
        void *source = x[i].data_ptr();
        void *target = norms[i].data_ptr();
        const int64_t elements = x[i].numel();
        at_npu::native::OpCommand::RunOpApi("ForeachNorm", [=]() -> int {
            LaunchNorm(type, source, target, elements, static_cast<float>(scalar), parts, stream);
            return 0;
        });
    }
    return norms;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("foreach_norm", foreach_norm_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("foreach_norm", foreach_norm_npu); }

}  // namespace cann_bench
