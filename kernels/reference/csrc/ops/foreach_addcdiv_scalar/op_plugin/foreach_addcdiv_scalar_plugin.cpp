/* Binds foreach_addcdiv_scalar to torch: x1[i] + x2[i] / x3[i] * scalar for every tensor of three lists. */
#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/foreach_addcdiv_scalar_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("foreach_addcdiv_scalar(Tensor[] x1, Tensor[] x2, Tensor[] x3, float scalar) -> Tensor[]"); }

std::vector<at::Tensor> foreach_addcdiv_scalar_meta(at::TensorList x1, at::TensorList, at::TensorList, double) {
    std::vector<at::Tensor> y;
    for (const at::Tensor &item : x1) {
        y.push_back(at::empty_like(item));
    }
    return y;
}

static void CheckLike(const char *name, const at::Tensor &x, const at::Tensor &expected, int64_t index) {
    common::CheckDense(x, name);
    TORCH_CHECK(x.sizes() == expected.sizes() && x.scalar_type() == expected.scalar_type(), name, "[", index, "] is ", x.scalar_type(), x.sizes(),
                ", expected ", expected.scalar_type(), expected.sizes());
}

static void CheckArguments(at::TensorList x1, at::TensorList x2, at::TensorList x3) {
    TORCH_CHECK(x1.size() == x2.size() && x1.size() == x3.size(), "x1, x2 and x3 have ", x1.size(), ", ", x2.size(), " and ", x3.size(),
                " tensors, expected lists of equal length");
    for (size_t i = 0; i < x1.size(); ++i) {
        common::CheckDense(x1[i], "x1");
        TORCH_CHECK(x1[i].scalar_type() == x1[0].scalar_type(), "x1 has tensors of ", x1[i].scalar_type(), " and ", x1[0].scalar_type(),
                    ", expected one dtype");
        CheckLike("x2", x2[i], x1[i], static_cast<int64_t>(i));
        CheckLike("x3", x3[i], x1[i], static_cast<int64_t>(i));
    }
}

std::vector<at::Tensor> foreach_addcdiv_scalar_npu(at::TensorList x1, at::TensorList x2, at::TensorList x3, double scalar) {
    CheckArguments(x1, x2, x3);
    if (x1.empty()) {
        return {};
    }
    const c10::OptionalDeviceGuard guard(x1[0].device());
    const auto type = common::ElementTypeOf(x1[0], "x1");
    auto y = foreach_addcdiv_scalar_meta(x1, x2, x3, scalar);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    const auto tensors = static_cast<int64_t>(x1.size());
    for (int64_t begin = 0; begin < tensors; begin += common::kMostListed) {
        AddcdivList list{};
        list.tensors = static_cast<int32_t>(std::min<int64_t>(tensors - begin, common::kMostListed));
        for (int32_t i = 0; i < list.tensors; ++i) {
            const void *operands[] = {x1[begin + i].data_ptr(), x2[begin + i].data_ptr(), x3[begin + i].data_ptr(), y[begin + i].data_ptr()};
            list.elements[i] = x1[begin + i].numel();
            std::transform(std::begin(operands), std::end(operands), list.addresses[i], [](const void *item) { return reinterpret_cast<uint64_t>(item); });
        }
        at_npu::native::OpCommand::RunOpApi("ForeachAddcdivScalar", [=]() -> int {
            LaunchForeachAddcdivScalar(type, list, static_cast<float>(scalar), stream);
            return 0;
        });
    }
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("foreach_addcdiv_scalar", foreach_addcdiv_scalar_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("foreach_addcdiv_scalar", foreach_addcdiv_scalar_npu); }

}  // namespace cann_bench
