/*
 * scatter for float16, bfloat16, float32, int32 and int64, by what the axis and the reduction allow: comparing every place with every index
 * (scatter_compare.h), sorting (scatter_sort.h), or the scalar unit (scatter_scalar.h).
 */
#include "kernel_operator.h"

#include "../../../common/copy_kernel.h"
#include "scatter_compare.h"
#include "scatter_launch.h"
#include "scatter_scalar.h"
#include "scatter_sort.h"
#include "scatter_tiling.h"

/* What the planes of indices do not reach of data goes to y; or all of it, and the kernel goes on from there. */
__aicore__ inline void CopyRest(GM_ADDR data, GM_ADDR y, const ScatterCommon &plan) {
    common::CopyKernel copy;
    copy.Run(y + plan.copyFrom, data + plan.copyFrom, plan.copyBytes);
    if (plan.isInPlace) {
        AscendC::SyncAll();
    }
}

template <typename T, template <typename> class Way>
__aicore__ inline void RunItems(GM_ADDR data, GM_ADDR indices, GM_ADDR updates, GM_ADDR y, const ItemTiling &tiling) {
    CopyRest(data, y, tiling.common);
    GM_ADDR tensors[4] = {data, indices, updates, y};
    AscendC::TPipe pipe;
    Way<T> way;
    way.Init(pipe, tensors, tiling);
    way.Process();
}

template <typename T>
__global__ __aicore__ void scatter_scalar(GM_ADDR data, GM_ADDR indices, GM_ADDR updates, GM_ADDR y, ItemTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    RunItems<T, ScatterScalar>(data, indices, updates, y, tiling);
}

template <typename T>
__global__ __aicore__ void scatter_compare(GM_ADDR data, GM_ADDR indices, GM_ADDR updates, GM_ADDR y, ItemTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    RunItems<T, ScatterCompare>(data, indices, updates, y, tiling);
}

template <typename T>
__global__ __aicore__ void scatter_sort(GM_ADDR data, GM_ADDR indices, GM_ADDR updates, GM_ADDR y, ItemTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    RunItems<T, ScatterSort>(data, indices, updates, y, tiling);
}

__global__ __aicore__ void scatter_copy(GM_ADDR data, GM_ADDR y, int64_t bytes) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::CopyKernel copy;
    copy.Run(y, data, bytes);
}

template <typename T>
static void LaunchTyped(int32_t indexBytes, Reduction reduction, const ScatterTensors &tensors, const ScatterShape &shape, void *stream) {
    const auto plan = scatter_tiling::PlanCommon(shape, reduction, indexBytes, sizeof(T));
    const auto data = (GM_ADDR)tensors.data, indices = (GM_ADDR)tensors.indices, updates = (GM_ADDR)tensors.updates, y = (GM_ADDR)tensors.y;
    const scatter_tiling::Rates rates{sizeof(T), reduction != Reduction::kNone};
    const auto compared = scatter_tiling::PlanCompare(plan, rates), sorted = scatter_tiling::PlanSort(plan, rates);
    if (compared.items > 0 && (sorted.items == 0 || scatter_tiling::CompareCycles(compared, rates) <= scatter_tiling::SortCycles(sorted, rates))) {
        scatter_compare<T><<<compared.blocks, nullptr, stream>>>(data, indices, updates, y, compared);
        return;
    }
    if constexpr (sizeof(T) < 8) {
        if (sorted.items > 0) {
            scatter_sort<T><<<sorted.blocks, nullptr, stream>>>(data, indices, updates, y, sorted);
            return;
        }
    }
    const auto tiling = scatter_tiling::PlanScalar(plan, sizeof(T));
    scatter_scalar<T><<<tiling.blocks, nullptr, stream>>>(data, indices, updates, y, tiling);
}

void LaunchScatter(ScatterType type, int32_t indexBytes, Reduction reduction, const ScatterTensors &tensors, const ScatterShape &shape, void *stream) {
    switch (type) {
        case ScatterType::kFloat16:
            return LaunchTyped<half>(indexBytes, reduction, tensors, shape, stream);
        case ScatterType::kBfloat16:
            return LaunchTyped<bfloat16_t>(indexBytes, reduction, tensors, shape, stream);
        case ScatterType::kFloat32:
            return LaunchTyped<float>(indexBytes, reduction, tensors, shape, stream);
        case ScatterType::kInt32:
            return LaunchTyped<int32_t>(indexBytes, reduction, tensors, shape, stream);
        case ScatterType::kInt64:
            return LaunchTyped<int64_t>(indexBytes, reduction, tensors, shape, stream);
    }
}

void LaunchScatterCopy(void *data, void *y, int64_t bytes, void *stream) {
    const auto blocks = static_cast<uint32_t>(common::WorthwhileCores(bytes, 8192));
    scatter_copy<<<blocks, nullptr, stream>>>((GM_ADDR)data, (GM_ADDR)y, bytes);
}
