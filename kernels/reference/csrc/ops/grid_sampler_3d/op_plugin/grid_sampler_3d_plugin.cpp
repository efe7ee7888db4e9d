/* Binds grid_sampler_3d to torch. */
#include <string>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/grid_sampler_3d_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) {
    m.def("grid_sampler_3d(Tensor x, Tensor grid, str interpolation_mode=\"bilinear\", str padding_mode=\"zeros\", bool align_corners=False) -> Tensor");
}

at::Tensor sampled_like(const at::Tensor &x, const at::Tensor &grid) {
    TORCH_CHECK(x.dim() == 5, "x has shape ", x.sizes(), ", expected [N, C, D, H, W]");
    TORCH_CHECK(grid.dim() == 5 && grid.size(4) == 3 && grid.size(0) == x.size(0), "grid has shape ", grid.sizes(), ", expected [", x.size(0),
                ", OD, OH, OW, 3]");
    return at::empty({x.size(0), x.size(1), grid.size(1), grid.size(2), grid.size(3)}, x.options());
}

at::Tensor grid_sampler_3d_meta(const at::Tensor &x, const at::Tensor &grid, c10::string_view, c10::string_view, bool) { return sampled_like(x, grid); }

GridPadding padding_of(const std::string &mode) {
    TORCH_CHECK(mode == "zeros" || mode == "border" || mode == "reflection", "padding_mode is ", mode, ", expected zeros, border or reflection");
    return mode == "zeros" ? GridPadding::kZeros : mode == "border" ? GridPadding::kBorder : GridPadding::kReflection;
}

at::Tensor grid_sampler_3d_npu(const at::Tensor &x, const at::Tensor &grid, c10::string_view interpolation, c10::string_view padding, bool align_corners) {
    const c10::OptionalDeviceGuard guard(x.device());
    const std::string mode(interpolation.begin(), interpolation.end());
    TORCH_CHECK(mode == "bilinear" || mode == "nearest", "interpolation_mode is ", mode, ", expected bilinear or nearest");
    common::CheckDense(x);
    common::CheckDense(grid, "grid");
    TORCH_CHECK(x.scalar_type() == at::kHalf || x.scalar_type() == at::kFloat, "x has dtype ", x.scalar_type(), ", expected float16 or float32");
    TORCH_CHECK(grid.scalar_type() == x.scalar_type(), "grid has dtype ", grid.scalar_type(), ", expected that of x, ", x.scalar_type());
    auto y = sampled_like(x, grid);
    const auto pad = padding_of(std::string(padding.begin(), padding.end()));
    if (y.numel() == 0) {
        return y;
    }
    TORCH_CHECK(x.numel() > 0, "x has shape ", x.sizes(), ", expected volumes of at least one voxel");
    GridTensors tensors{x.data_ptr(), grid.data_ptr(),   y.data_ptr(), nullptr,   x.size(0),
                        x.size(1),    x.size(2),         x.size(3),    x.size(4), grid.numel() / (3 * grid.size(0)),
                        pad,          mode == "nearest", align_corners};
    const auto workspace = at::empty({GridWorkspaceBytes(tensors)}, x.options().dtype(at::kByte));
    tensors.workspace = workspace.data_ptr();
    const auto type = common::ElementTypeOf(x);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    at_npu::native::OpCommand::RunOpApi("GridSampler3D", [=]() -> int {
        LaunchGridSampler3d(type, tensors, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("grid_sampler_3d", grid_sampler_3d_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("grid_sampler_3d", grid_sampler_3d_npu); }

}  // namespace cann_bench
