/* cummin for float16, bfloat16, float32 and int32: lanes (cummin_lanes.h), fed as the tiling says (axis_tiling.h). */
#include "kernel_operator.h"

#include "cummin_lanes.h"
#include "cummin_launch.h"

template <typename T>
__global__ __aicore__ void cummin_lanes(CumminTensors tensors, common::AxisTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    CumminLanes<T> kernel;
    kernel.Init(tensors, tiling);
    kernel.Process();
}

/* The same with cores that wait for each other, which needs another kind of launch. */
template <typename T>
__global__ __aicore__ void cummin_parts(CumminTensors tensors, common::AxisTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    CumminLanes<T> kernel;
    kernel.Init(tensors, tiling);
    kernel.Process();
}

template <typename T>
static common::AxisTiling PlanTyped(const common::AxisShape &shape) {
    using Kernel = CumminLanes<T>;
    constexpr int64_t kElementsPerLaunch = 300, kPriceOfParts = 160;  // some forty vector cycles per 64 elements; parts are looked through first
    const common::AxisTraits kernel{sizeof(T),           common::kLines,     Kernel::kBytesOfRows, Kernel::kBytesOfLines, Kernel::kBytesPerLane,
                                    Kernel::kFixedBytes, kElementsPerLaunch, kPriceOfParts};
    if (shape.inner > 1) {
        return common::PlanLines(shape, kernel);
    }
    return common::IsWorthParts(shape, kernel) ? common::PlanExactParts(shape, kernel) : common::PlanWholeRows(shape, kernel);
}

template <typename T>
static void LaunchTyped(const CumminTensors &tensors, const common::AxisShape &shape, void *stream) {
    const auto tiling = PlanTyped<T>(shape);
    if (tiling.mode == common::AxisMode::kParts) {
        cummin_parts<T><<<tiling.blocks, nullptr, stream>>>(tensors, tiling);
    } else {
        cummin_lanes<T><<<tiling.blocks, nullptr, stream>>>(tensors, tiling);
    }
}

/* A record for each part of a row: at most one more than there are cores for each. */
int64_t CumminWorkspaceBytes(const common::AxisShape &shape) {
    const bool mayHaveParts = shape.inner == 1 && shape.length >= common::kWorthParts;
    const int64_t parts = std::max<int64_t>(common::VectorCores() / shape.outer, 1) + 1;
    return mayHaveParts ? shape.outer * parts * kCumminPartBytes : 0;
}

void LaunchCummin(CumminType type, const CumminTensors &tensors, const common::AxisShape &shape, void *stream) {
    switch (type) {
        case CumminType::kFloat16:
            return LaunchTyped<half>(tensors, shape, stream);
        case CumminType::kBfloat16:
            return LaunchTyped<bfloat16_t>(tensors, shape, stream);
        case CumminType::kFloat32:
            return LaunchTyped<float>(tensors, shape, stream);
        case CumminType::kInt32:
            return LaunchTyped<int32_t>(tensors, shape, stream);
    }
}
