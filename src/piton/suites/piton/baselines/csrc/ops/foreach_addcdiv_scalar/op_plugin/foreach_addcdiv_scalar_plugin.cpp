/* Binds foreach_addcdiv_scalar to torch: x1[i] + x2[i] / x3[i] * scalar for every tensor of three lists. */
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
    baseline::CheckDense(x);
    TORCH_CHECK(x.sizes() == expected.sizes() && x.scalar_type() == expected.scalar_type(), name, "[", index, "] is ", x.scalar_type(), x.sizes(),
                ", expected ", expected.scalar_type(), expected.sizes());
}

static void CheckArguments(at::TensorList x1, at::TensorList x2, at::TensorList x3) {
    TORCH_CHECK(x1.size() == x2.size() && x1.size() == x3.size(), "x1, x2 and x3 have ", x1.size(), ", ", x2.size(), " and ", x3.size(),
                " tensors, expected lists of equal length");
    for (size_t i = 0; i < x1.size(); ++i) {
        baseline::CheckDense(x1[i]);
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
    const auto type = baseline::ElementTypeOf(x1[0]);
    auto y = foreach_addcdiv_scalar_meta(x1, x2, x3, scalar);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    for (size_t i = 0; i < x1.size(); ++i) {
        const AddcdivAddresses addresses{x1[i].data_ptr(), x2[i].data_ptr(), x3[i].data_ptr(), y[i].data_ptr()};
        const int64_t elements = x1[i].numel();
        if (elements == 0) {
            continue;
        }
        at_npu::native::OpCommand::RunOpApi("ForeachAddcdivScalar", [=]() -> int {
            LaunchAddcdivScalar(type, addresses, elements, static_cast<float>(scalar), stream);
            return 0;
        });
    }
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("foreach_addcdiv_scalar", foreach_addcdiv_scalar_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("foreach_addcdiv_scalar", foreach_addcdiv_scalar_npu); }

}  // namespace cann_bench
