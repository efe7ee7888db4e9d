/*
 * unsorted_segment_sum for float16, bfloat16, float32, int32 and int64, in one of three ways: few long rows (segment_fetch.h), many rows (segment_add.h),
 * single elements (segment_sort.h). The tiling estimates what each would take.
 */
#include "kernel_operator.h"

#include "segment_add.h"
#include "segment_fetch.h"
#include "segment_sort.h"
#include "segment_tiling.h"
#include "segment_totals.h"
#include "unsorted_segment_sum_launch.h"

template <typename T>
__global__ __aicore__ void segment_fetch(GM_ADDR data, GM_ADDR ids, GM_ADDR y, FetchTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SegmentFetch<T> kernel;
    kernel.Init(data, ids, y, tiling);
    kernel.Process();
}

/* Kernels whose cores meet need a type that the chip schedules together. */
template <typename T>
__global__ __aicore__ void segment_add(GM_ADDR data, GM_ADDR ids, GM_ADDR y, GM_ADDR workspace, AddTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    SegmentTotals<T> totals;
    totals.Init(y, workspace, tiling.shape.segments * tiling.shape.columns);
    totals.Clear();
    AscendC::SyncAll();
    for (int64_t row = 0; row < tiling.shape.rows; row += tiling.perRound) {
        const int64_t left = tiling.shape.rows - row;
        const bool isLast = left <= tiling.perRound;
        {
            AscendC::TPipe pipe;
            SegmentAdd<T> add;
            add.Init(pipe, data, ids, SegmentElement<T>::kIsItself ? y : workspace, tiling);
            for (uint32_t part = 0; part < tiling.parts; ++part) {
                add.SetPart(part);
                add.Process(row, isLast ? left : tiling.perRound);
            }
            add.Flush();
        }
        if constexpr (!SegmentElement<T>::kIsItself) {
            AscendC::SyncAll();
            totals.Finish(isLast);
        }
        if (!isLast) {
            AscendC::SyncAll();
        }
    }
}

template <typename T>
__global__ __aicore__ void segment_sort(GM_ADDR data, GM_ADDR ids, GM_ADDR y, GM_ADDR workspace, SortTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    SegmentTotals<T> totals;
    totals.Init(y, workspace, tiling.shape.segments);
    totals.Clear();
    AscendC::SyncAll();
    {
        AscendC::TPipe pipe;
        SegmentSort<T> sort;
        sort.Init(pipe, data, ids, SegmentElement<T>::kIsItself ? y : workspace, tiling);
        sort.Process();
    }
    if constexpr (!SegmentElement<T>::kIsItself) {
        AscendC::SyncAll();
        totals.Finish(true);
    }
}

struct SegmentTensors {
    GM_ADDR data;
    GM_ADDR ids;
    GM_ADDR y;
    GM_ADDR workspace;
};

template <typename T>
static void LaunchTyped(int64_t idBytes, const SegmentTensors &tensors, const SegmentShape &shape, void *stream) {
    const auto plan = segment_tiling::Plan(segment_tiling::TraitsOf<T>(), shape, idBytes);
    switch (plan.way) {
        case SegmentWay::kFetch:
            segment_fetch<T><<<plan.blocks, nullptr, stream>>>(tensors.data, tensors.ids, tensors.y, plan.fetch);
            return;
        case SegmentWay::kAdd:
            segment_add<T><<<plan.blocks, nullptr, stream>>>(tensors.data, tensors.ids, tensors.y, tensors.workspace, plan.add);
            return;
        case SegmentWay::kSort:
            segment_sort<T><<<plan.blocks, nullptr, stream>>>(tensors.data, tensors.ids, tensors.y, tensors.workspace, plan.sort);
            return;
    }
}

template <typename T>
static int64_t WorkspaceOf(int64_t idBytes, const SegmentShape &shape) {
    using Element = SegmentElement<T>;
    const bool isWanted = !Element::kIsItself && segment_tiling::Plan(segment_tiling::TraitsOf<T>(), shape, idBytes).way != SegmentWay::kFetch;
    return isWanted ? shape.segments * shape.columns * 4 * Element::kWords * Element::kPlanes : 32;
}

int64_t UnsortedSegmentSumWorkspace(SegmentType type, int64_t idBytes, const SegmentShape &shape) {
    switch (type) {
        case SegmentType::kFloat16:
            return WorkspaceOf<half>(idBytes, shape);
        case SegmentType::kBfloat16:
            return WorkspaceOf<bfloat16_t>(idBytes, shape);
        case SegmentType::kInt64:
            return WorkspaceOf<int64_t>(idBytes, shape);
        default:
            return 32;
    }
}

void LaunchUnsortedSegmentSum(SegmentType type, int64_t idBytes, void *data, void *ids, void *y, void *workspace, const SegmentShape &shape, void *stream) {
    const SegmentTensors tensors{(GM_ADDR)data, (GM_ADDR)ids, (GM_ADDR)y, (GM_ADDR)workspace};
    switch (type) {
        case SegmentType::kFloat16:
            return LaunchTyped<half>(idBytes, tensors, shape, stream);
        case SegmentType::kBfloat16:
            return LaunchTyped<bfloat16_t>(idBytes, tensors, shape, stream);
        case SegmentType::kFloat32:
            return LaunchTyped<float>(idBytes, tensors, shape, stream);
        case SegmentType::kInt32:
            return LaunchTyped<int32_t>(idBytes, tensors, shape, stream);
        case SegmentType::kInt64:
            return LaunchTyped<int64_t>(idBytes, tensors, shape, stream);
    }
}
