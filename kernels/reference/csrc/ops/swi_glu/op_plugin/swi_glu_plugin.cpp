/* Binds swi_glu to torch: a * sigmoid(a) * b for the halves a and b of one axis. */
#include <ATen/ATen.h>
#include <ATen/WrapDimUtils.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../../../common/torch_axis.h"
#include "../op_kernel/swi_glu_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("swi_glu(Tensor input, int dim=-1) -> Tensor"); }

at::Tensor swi_glu_meta(const at::Tensor &input, int64_t dim) {
    TORCH_CHECK(input.dim() > 0, "input has no axis, expected one to split");
    const int64_t axis = common::AxisOf(input, dim);
    TORCH_CHECK(input.size(axis) % 2 == 0, "axis ", dim, " of input has ", input.size(axis), " elements, and has to be even");
    auto sizes = input.sizes().vec();
    sizes[axis] /= 2;
    return at::empty(sizes, input.options());
}

at::Tensor swi_glu_npu(const at::Tensor &input, int64_t dim) {
    const c10::OptionalDeviceGuard guard(input.device());
    common::CheckDense(input, "input");
    const auto type = common::ElementTypeOf(input, "input");
    auto y = swi_glu_meta(input, dim);
    if (y.numel() == 0) {
        return y;
    }
    // The axes before `dim` become rows, those behind it belong to the halves.
    const int64_t rows = common::AxisShapeOf(input, common::AxisOf(input, dim)).outer, columns = y.numel() / rows;
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = input.data_ptr();
    void *target = y.data_ptr();
    at_npu::native::OpCommand::RunOpApi("SwiGlu", [=]() -> int {
        LaunchSwiGlu(type, source, target, rows, columns, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("swi_glu", swi_glu_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("swi_glu", swi_glu_npu); }

}  // namespace cann_bench
