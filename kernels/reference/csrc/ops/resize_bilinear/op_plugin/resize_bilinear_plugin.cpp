/* Binds resize_bilinear to torch: checks, the size of y, and each axis in whole numbers (or, where it has none, as a table). */
#include <algorithm>
#include <cmath>
#include <optional>
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
        TORCH_CHECK(size || (*factors)[axis] > 0, "scale_factor has ", factors ? (*factors)[axis] : 0, ", expected factors above 0");
        shape[2 + axis] = size ? (*size)[axis] : static_cast<int64_t>(std::floor(x.size(2 + axis) * (*factors)[axis]));
        TORCH_CHECK(shape[2 + axis] >= 0, "y would have ", shape[2 + axis], " rows or columns");
    }
    return shape;
}

at::Tensor resize_bilinear_meta(const at::Tensor &x, at::OptionalIntArrayRef size, bool, Factors factors) {
    return at::empty(resized_shape(x, size, factors), x.options());
}

/* The position of new pixel `place` with a scale factor: one division, so that what is whole comes out whole. */
double position_of(double place, double factor) { return std::max((2 * place + 1 - factor) / (2 * factor), 0.0); }

/* Whole numbers for a factor of m / 2^k with small m and k: ((2 i + 1) 2^k - m) / (2 m). None of them may leave what the kernel computes with. */
void set_factor(ResizeAxis &axis, double factor) {
    constexpr double kMostDivisor = 1 << 20, kMostNumerator = 1 << 30;
    double scaled = factor, power = 1;
    while (scaled != std::floor(scaled) && power < kMostDivisor) {
        scaled *= 2;
        power *= 2;
    }
    axis.pitch = 1 / factor;
    if (scaled == std::floor(scaled) && 2 * scaled <= kMostDivisor && 2 * power * (axis.size + 64) + scaled < kMostNumerator) {
        axis.step = static_cast<int64_t>(2 * power);
        axis.start = static_cast<int64_t>(power - scaled);
        axis.divisor = static_cast<int64_t>(2 * scaled);
    }
}

ResizeAxis axis_of(int64_t old, int64_t size, bool align_corners, const Factors &factors, size_t number) {
    ResizeAxis axis{old, size, 0, 0, 0, 0.0, nullptr};
    if (align_corners) {
        axis.step = old - 1;
        axis.divisor = std::max<int64_t>(size - 1, 1);
    } else if (factors) {
        set_factor(axis, (*factors)[number]);
        return axis;
    } else {
        axis.step = 2 * old;
        axis.start = old - size;
        axis.divisor = 2 * size;
    }
    axis.pitch = static_cast<double>(axis.step) / static_cast<double>(axis.divisor);
    return axis;
}

/* Lower neighbours and shares as the definition forms them, for a factor that has no small whole numbers. */
at::Tensor table_of(const ResizeAxis &axis, double factor, const at::Device &device) {
    auto table = at::empty({3, axis.size}, at::TensorOptions().dtype(at::kFloat));
    auto *low = static_cast<int32_t *>(table.data_ptr());
    auto *shares = static_cast<float *>(table.data_ptr()) + axis.size;
    for (int64_t place = 0; place < axis.size; ++place) {
        const double position = position_of(static_cast<double>(place), factor), whole = std::min(std::floor(position), static_cast<double>(axis.old - 1));
        low[place] = static_cast<int32_t>(whole);
        shares[place] = static_cast<float>(1 - (position - whole));
        shares[axis.size + place] = static_cast<float>(position - whole);
    }
    return table.to(device);
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
    std::vector<at::Tensor> tables;
    ResizeAxis *axes[] = {&tensors.rows, &tensors.columns};
    for (const size_t number : {0, 1}) {
        auto &axis = *axes[number];
        axis = axis_of(x.size(2 + number), y.size(2 + number), align_corners, factors, number);
        if (axis.divisor == 0) {
            tables.push_back(table_of(axis, (*factors)[number], x.device()));
            axis.table = tables.back().data_ptr();
        }
    }
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    at_npu::native::OpCommand::RunOpApi("ResizeBilinear", [=]() -> int {
        LaunchResizeBilinear(type, tensors, stream);
        return tables.size() > 2;  // keeps the tables until the launch
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("resize_bilinear", resize_bilinear_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("resize_bilinear", resize_bilinear_npu); }

}  // namespace cann_bench
