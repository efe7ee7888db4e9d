/* softmax for float16, bfloat16 and float32 along any axis: rows that fit (softmax_rows.h), everything else (softmax_strips.h). */
#include "kernel_operator.h"

#include "softmax_launch.h"
#include "softmax_rows.h"
#include "softmax_strips.h"

template <typename T>
using SoftmaxRows = common::RowKernel<T, SoftmaxBody>;

template <typename T>
__global__ __aicore__ void softmax_rows(GM_ADDR x, GM_ADDR y, common::RowTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SoftmaxRows<T> kernel;
    kernel.Init(x, y, tiling);
    kernel.Process();
}

template <typename T>
__global__ __aicore__ void softmax_strips(GM_ADDR x, GM_ADDR y, StripTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SoftmaxStrips<T> kernel;
    kernel.Init(x, y, tiling);
    kernel.Process();
}

template <typename T>
static void LaunchStrips(void *x, void *y, const StripTiling &tiling, void *stream) {
    softmax_strips<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, tiling);
}

template <typename T>
static void LaunchTyped(void *x, void *y, const SoftmaxShape &shape, void *stream) {
    constexpr int64_t kElementsPerLaunch = 1200;  // ten vector cycles per 64 elements
    constexpr StripTraits kStrips{SoftmaxStrips<T>::kBytesPerElement, SoftmaxStrips<T>::kBytesPerLane, SoftmaxStrips<T>::kFixedBytes};
    if (shape.inner > 1) {
        return LaunchStrips<T>(x, y, PlanColumns(shape.outer, shape.length, shape.inner, kStrips), stream);
    }
    const auto tiling = common::PlanRows(shape.outer, shape.length, SoftmaxRows<T>::Traits(0, kElementsPerLaunch));
    if (tiling.rowsPerTile == 0) {
        return LaunchStrips<T>(x, y, PlanLongRows(shape.outer, shape.length, kStrips), stream);
    }
    softmax_rows<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, tiling);
}

void LaunchSoftmax(common::ElementType type, void *x, void *y, const SoftmaxShape &shape, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(x, y, shape, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(x, y, shape, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(x, y, shape, stream);
    }
}
