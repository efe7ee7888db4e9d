/*
 * arg_max for float16, bfloat16, float32, int32 and int64: lanes (arg_max_lanes.h), fed as the tiling says (axis_tiling.h); rows of 16-bit elements that are
 * not too long have a way of their own (arg_max_narrow.h).
 */
#include "kernel_operator.h"

#include "arg_max_lanes.h"
#include "arg_max_launch.h"
#include "arg_max_narrow.h"

template <typename T>
__global__ __aicore__ void arg_max_lanes(GM_ADDR input, GM_ADDR indices, GM_ADDR workspace, common::AxisTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    ArgMaxLanes<T> kernel;
    kernel.Init(input, indices, workspace, tiling);
    kernel.Process();
}

/* The same with cores that wait for each other, which needs another kind of launch. */
template <typename T>
__global__ __aicore__ void arg_max_parts(GM_ADDR input, GM_ADDR indices, GM_ADDR workspace, common::AxisTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    ArgMaxLanes<T> kernel;
    kernel.Init(input, indices, workspace, tiling);
    kernel.Process();
}

template <typename T>
__global__ __aicore__ void arg_max_narrow(GM_ADDR input, GM_ADDR indices, common::RowTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    ArgMaxNarrow<T> kernel;
    kernel.Init(input, indices, tiling);
    kernel.Process();
}

/* Are there rows for it? */
template <typename T>
static bool LaunchNarrow(void *input, void *indices, const common::AxisShape &shape, const common::AxisTiling &lanes, void *stream) {
    if constexpr (sizeof(T) == 2) {
        if (lanes.mode == common::AxisMode::kRows && shape.length <= kArgMaxLongestNarrow) {
            const auto tiling = ArgMaxNarrow<T>::Plan(shape.outer, shape.length);
            arg_max_narrow<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)input, (GM_ADDR)indices, tiling);
            return true;
        }
    }
    return false;
}

template <typename T>
static common::AxisTiling PlanTyped(const common::AxisShape &shape) {
    using Kernel = ArgMaxLanes<T>;
    constexpr int64_t kElementsPerLaunch = 1000, kPriceOfParts = 125;  // about twelve vector cycles per 64 elements
    const common::AxisTraits kernel{sizeof(T),           Kernel::Keys::kPerSegment, Kernel::kBytesOfRows, Kernel::kBytesOfLines, Kernel::kBytesPerLane,
                                    Kernel::kFixedBytes, kElementsPerLaunch,        kPriceOfParts};
    if (shape.inner > 1) {
        return common::PlanLines(shape, kernel);
    }
    return common::IsWorthParts(shape, kernel) ? common::PlanFullParts(shape, kernel) : common::PlanWholeRows(shape, kernel);
}

template <typename T>
static void LaunchTyped(void *input, void *indices, void *workspace, const common::AxisShape &shape, void *stream) {
    const auto tiling = PlanTyped<T>(shape);
    if (LaunchNarrow<T>(input, indices, shape, tiling, stream)) {
        return;
    }
    if (tiling.mode == common::AxisMode::kParts && tiling.perOuter > 1) {
        arg_max_parts<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)input, (GM_ADDR)indices, (GM_ADDR)workspace, tiling);
    } else {
        arg_max_lanes<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)input, (GM_ADDR)indices, (GM_ADDR)workspace, tiling);
    }
}

/* A record for each part of a row; the number of parts is at most that of cores for each row that is cut. */
int64_t ArgMaxWorkspaceBytes(const common::AxisShape &shape) {
    const bool isShared = shape.inner == 1 && shape.outer < common::VectorCores();
    return isShared ? shape.outer * (common::VectorCores() + 1) * kArgMaxPartBytes : 0;
}

void LaunchArgMax(ArgMaxType type, void *input, void *indices, void *workspace, const common::AxisShape &shape, void *stream) {
    switch (type) {
        case ArgMaxType::kFloat16:
            return LaunchTyped<half>(input, indices, workspace, shape, stream);
        case ArgMaxType::kBfloat16:
            return LaunchTyped<bfloat16_t>(input, indices, workspace, shape, stream);
        case ArgMaxType::kFloat32:
            return LaunchTyped<float>(input, indices, workspace, shape, stream);
        case ArgMaxType::kInt32:
            return LaunchTyped<int32_t>(input, indices, workspace, shape, stream);
        case ArgMaxType::kInt64:
            return LaunchTyped<int64_t>(input, indices, workspace, shape, stream);
    }
}
