/* Binds resize_bilinear to torch: checks, the size of y, and each axis in whole numbers. */
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/resize_bilinear_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) {
    m.def("resize_bilinear(Tensor x, int[]? output_size=None, bool align_corners=False, float[]? scale_factor=None) -> Tensor");
}

using Factors = std::optional<at::ArrayRef<double>>;

std::vector<int64_t> resized_shape(const at::Tensor &x, const at::OptionalIntArrayRef &size, const Factors &factors) {
    TORCH_CHECK(x.dim() == 4, "x has ", x.dim(), " axes, expected the 4 of [N, C, H, W]");
    TORCH_CHECK(size.has_value() != factors.has_value(), "expected either output_size or scale_factor");
    TORCH_CHECK((size ? size->size() : factors->size()) == 2, "output_size and scale_factor have a number for rows and one for columns");
    std::vector<int64_t> shape(x.sizes().begin(), x.sizes().end());
    for (const size_t axis : {0, 1}) {
        const double factor = size ? 1.0 : (*factors)[axis];
        TORCH_CHECK(factor > 0 && std::isfinite(factor), "scale_factor has ", factor, ", expected finite factors above 0");
        shape[2 + axis] = size ? (*size)[axis] : static_cast<int64_t>(std::floor(x.size(2 + axis) * factor));
        TORCH_CHECK(shape[2 + axis] >= 0, "y would have ", shape[2 + axis], " rows or columns");
    }
    return shape;
}

at::Tensor resize_bilinear_meta(const at::Tensor &x, at::OptionalIntArrayRef size, bool, Factors factors) {
    return at::empty(resized_shape(x, size, factors), x.options());
}

/* A fraction over / under close to the factor: its continued fraction, up to what the kernel can compute with. Sixteenths and the like come out exactly. */
void set_factor(ResizeAxis &axis, double factor) {
    const int64_t mostOver = 1 << 19, mostUnder = ((int64_t{1} << 29) - mostOver) / (axis.size + 65);
    int64_t over = 1, under = 0, lastOver = 0, lastUnder = 1;
    for (double rest = factor;;) {
        const double whole = std::floor(rest);
        if (whole * over + lastOver > mostOver || whole * under + lastUnder > mostUnder) {
            break;
        }
        const auto times = static_cast<int64_t>(whole);
        lastOver = std::exchange(over, times * over + lastOver);
        lastUnder = std::exchange(under, times * under + lastUnder);
        if (rest == whole || static_cast<double>(over) / static_cast<double>(under) == factor) {
            break;
        }
        rest = 1 / (rest - whole);
    }
    axis.step = 2 * under;
    axis.start = under - over;
    axis.divisor = 2 * over;
}

ResizeAxis axis_of(int64_t old, int64_t size, bool align_corners, const Factors &factors, size_t number) {
    ResizeAxis axis{old, size, 0, 0, 0, 0.0};
    if (align_corners) {
        axis.step = old - 1;
        axis.divisor = std::max<int64_t>(size - 1, 1);
    } else if (factors) {
        set_factor(axis, (*factors)[number]);
    } else {
        axis.step = 2 * old;
        axis.start = old - size;
        axis.divisor = 2 * size;
    }
    // The launcher's limits: positions are formed in 32 bits.
    const bool isSmall = axis.step * (size + 64) + axis.start < int64_t{1} << 30 && axis.divisor <= 1 << 20;
    TORCH_CHECK(isSmall, "from ", old, " to ", size, " pixels is more than the kernel can compute positions for");
    axis.pitch = static_cast<double>(axis.step) / static_cast<double>(axis.divisor);
    return axis;
}

at::Tensor resize_bilinear_npu(const at::Tensor &x, at::OptionalIntArrayRef size, bool align_corners, Factors factors) {
    const c10::OptionalDeviceGuard guard(x.device());
    common::CheckDense(x);
    const auto type = common::ElementTypeOf(x);
    auto y = at::empty(resized_shape(x, size, factors), x.options());
    if (y.numel() == 0) {
        return y;
    }
    TORCH_CHECK(x.numel() > 0, "x is empty, y is not");
    ResizeTensors tensors{x.data_ptr(), y.data_ptr(), x.size(0) * x.size(1), {}, {}};
    tensors.rows = axis_of(x.size(2), y.size(2), align_corners, factors, 0);
    tensors.columns = axis_of(x.size(3), y.size(3), align_corners, factors, 1);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    at_npu::native::OpCommand::RunOpApi("ResizeBilinear", [=]() -> int {
        LaunchResizeBilinear(type, tensors, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("resize_bilinear", resize_bilinear_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("resize_bilinear", resize_bilinear_npu); }

}  // namespace cann_bench
