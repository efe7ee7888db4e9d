/* Binds unsorted_segment_sum to torch: sums of the rows of data by segment. */
#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/index_arguments.h"
#include "../../../common/torch_arguments.h"
#include "../op_kernel/unsorted_segment_sum_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("unsorted_segment_sum(Tensor data, Tensor segment_ids, int num_segments) -> Tensor"); }

at::Tensor empty_sums(const at::Tensor &data, int64_t segments) {
    TORCH_CHECK(segments >= 1, "num_segments is ", segments, ", expected at least 1");
    common::CheckRank(data, "data");
    auto sizes = data.sizes().vec();
    sizes[0] = segments;
    return at::empty(sizes, data.options());
}

at::Tensor unsorted_segment_sum_meta(const at::Tensor &data, const at::Tensor &, int64_t segments) { return empty_sums(data, segments); }

SegmentType segment_type(const at::Tensor &data) {
    switch (data.scalar_type()) {
        case at::kHalf:
            return SegmentType::kFloat16;
        case at::kBFloat16:
            return SegmentType::kBfloat16;
        case at::kFloat:
            return SegmentType::kFloat32;
        case at::kInt:
            return SegmentType::kInt32;
        case at::kLong:
            return SegmentType::kInt64;
        default:
            TORCH_CHECK(false, "data has dtype ", data.scalar_type(), ", expected float16, bfloat16, float32, int32 or int64");
    }
}

at::Tensor unsorted_segment_sum_npu(const at::Tensor &data, const at::Tensor &segment_ids, int64_t num_segments) {
    const c10::OptionalDeviceGuard guard(data.device());
    auto y = empty_sums(data, num_segments);
    common::CheckDense(data, "data");
    common::CheckDense(segment_ids, "segment_ids");
    common::CheckIndexType(segment_ids, "segment_ids", false);
    TORCH_CHECK(segment_ids.dim() == 1 && segment_ids.size(0) == data.size(0), "segment_ids has shape ", segment_ids.sizes(), ", expected [", data.size(0),
                "]");
    const auto type = segment_type(data);
    if (y.numel() == 0) {
        return y;
    }
    TORCH_CHECK(data.size(0) > 0, "data has no rows, expected at least one");
    const SegmentShape shape{data.size(0), y.numel() / num_segments, num_segments};
    const int64_t idBytes = segment_ids.element_size();
    const auto workspace = at::empty({UnsortedSegmentSumWorkspace(type, idBytes, shape)}, data.options().dtype(at::kByte));
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = data.data_ptr(), *ids = segment_ids.data_ptr(), *target = y.data_ptr(), *space = workspace.data_ptr();
    at_npu::native::OpCommand::RunOpApi("UnsortedSegmentSum", [=]() -> int {
        LaunchUnsortedSegmentSum(type, idBytes, source, ids, target, space, shape, stream);
        return 0;
    });
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("unsorted_segment_sum", unsorted_segment_sum_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("unsorted_segment_sum", unsorted_segment_sum_npu); }

}  // namespace cann_bench
