/* Binds the launcher to torch with everything it takes, so that Python decides what a call does. */
#include <ATen/core/Tensor.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"

#include "../op_kernel/exp_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("run(Tensor x, Tensor(a!) y, int elements, float factor, float offset) -> ()"); }

void run(const at::Tensor &x, at::Tensor &y, int64_t elements, double factor, double offset) {
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    LaunchExp(x.data_ptr(), y.data_ptr(), elements, static_cast<float>(factor), static_cast<float>(offset), stream);
}

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("run", run); }

}  // namespace cann_bench
