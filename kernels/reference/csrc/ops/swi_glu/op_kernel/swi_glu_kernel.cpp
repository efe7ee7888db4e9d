/*
 * y = a * sigmoid(a) * b for the halves a and b of an axis, for float16, bfloat16 and float32.
 *
 * Problem: bound by memory, but the halves of a row lie apart, and short rows make many short transfers.
 * Approach: the input is rows of a and b, whatever the axis (the plugin folds the axes before it into rows, those behind it into the halves). Long halves are
 * copied one by one (swi_glu_rows.h), short ones that do not begin on bursts come in whole tiles of rows and are told apart on chip (swi_glu_lanes.h).
 * 16-bit types in float32, rounded once.
 */
#include "kernel_operator.h"

#include "swi_glu_lanes.h"
#include "swi_glu_launch.h"
#include "swi_glu_rows.h"

template <typename T>
__global__ __aicore__ void swi_glu_lanes_kernel(GM_ADDR x, GM_ADDR y, LanesTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SwiGluLanes<T> kernel;
    kernel.Init(x, y, tiling);
    kernel.Process();
}

template <typename T>
__global__ __aicore__ void swi_glu_rows_kernel(GM_ADDR x, GM_ADDR y, SwiGluTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SwiGluRows<T> kernel;
    kernel.Init(x, y, tiling);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t rows, int64_t columns, void *stream) {
    const LanesTiling lanes = PlanLanes<T>(rows, columns);
    if (lanes.blocks > 0) {
        swi_glu_lanes_kernel<T><<<lanes.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, lanes);
        return;
    }
    const auto tiling = PlanSwiGlu(rows, columns, {sizeof(T), SwiGluRows<T>::kBytesPerElement, 0, SwiGluRows<T>::kElementsPerLaunch});
    swi_glu_rows_kernel<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, tiling);
}

void LaunchSwiGlu(common::ElementType type, void *x, void *y, int64_t rows, int64_t columns, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(x, y, rows, columns, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(x, y, rows, columns, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(x, y, rows, columns, stream);
    }
}
