/* Binds foreach_norm to torch: the norm of each tensor of a list, over all its elements. */
#include <algorithm>
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
        common::CheckDense(item);
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
    const auto type = common::ElementTypeOf(x[0]);
    auto norms = foreach_norm_meta(x, scalar);
    const auto tensors = static_cast<int64_t>(x.size());
    const auto longest = static_cast<int32_t>(std::min<int64_t>(tensors, common::kMostListed));
    auto workspace = at::empty({ForeachNormWorkspaceBytes(longest)}, x[0].options().dtype(at::kByte));
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *parts = workspace.data_ptr();
    for (int64_t begin = 0; begin < tensors; begin += common::kMostListed) {
        NormList list{};
        list.tensors = static_cast<int32_t>(std::min<int64_t>(tensors - begin, common::kMostListed));
        for (int32_t i = 0; i < list.tensors; ++i) {
            list.elements[i] = x[begin + i].numel();
            list.addresses[i][0] = reinterpret_cast<uint64_t>(x[begin + i].data_ptr());
            list.addresses[i][1] = reinterpret_cast<uint64_t>(norms[begin + i].data_ptr());
        }
        at_npu::native::OpCommand::RunOpApi("ForeachNorm", [=]() -> int {
            LaunchForeachNorm(type, list, static_cast<float>(scalar), parts, stream);
            return 0;
        });
    }
    return norms;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("foreach_norm", foreach_norm_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("foreach_norm", foreach_norm_npu); }

}  // namespace cann_bench
