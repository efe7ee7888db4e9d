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

template <typename T, StripPhase kPhase>
__global__ __aicore__ void softmax_strips(GM_ADDR x, GM_ADDR y, GM_ADDR sums, StripTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SoftmaxStrips<T, kPhase> kernel;
    kernel.Init(x, y, sums, tiling);
    kernel.Process();
}

template <typename T, StripPhase kPhase>
static void LaunchPhase(const SoftmaxTensors &tensors, const StripTiling &tiling, void *stream) {
    softmax_strips<T, kPhase><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)tensors.x, (GM_ADDR)tensors.y, (GM_ADDR)tensors.sums, tiling);
}

template <typename T>
static void LaunchStrips(const SoftmaxTensors &tensors, const StripTiling &tiling, void *stream) {
    if (tiling.pieces == 1) {
        return LaunchPhase<T, StripPhase::kAll>(tensors, tiling, stream);
    }
    LaunchPhase<T, StripPhase::kSums>(tensors, tiling, stream);
    LaunchPhase<T, StripPhase::kResults>(tensors, tiling, stream);
}

template <typename T>
static void LaunchTyped(const SoftmaxTensors &tensors, const SoftmaxShape &shape, void *stream) {
    using Strips = SoftmaxStrips<T, StripPhase::kAll>;
    constexpr int64_t kElementsPerLaunch = 1200;  // ten vector cycles per 64 elements
    constexpr StripTraits kStrips{Strips::kBytesPerElement, Strips::kBytesPerLane, Strips::kFixedBytes};
    if (shape.inner > 1) {
        return LaunchStrips<T>(tensors, PlanColumns(shape.outer, shape.length, shape.inner, kStrips), stream);
    }
    const auto tiling = common::PlanRows(shape.outer, shape.length, SoftmaxRows<T>::Traits(0, kElementsPerLaunch));
    if (tiling.rowsPerTile == 0) {
        return LaunchStrips<T>(tensors, PlanLongRows(shape.outer, shape.length, kStrips), stream);
    }
    softmax_rows<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)tensors.x, (GM_ADDR)tensors.y, tiling);
}

int64_t SoftmaxSums(const SoftmaxShape &shape) {
    const int64_t pieces = shape.inner > 1 ? 1 : common::PiecesPerRow(shape.outer, shape.length);
    return pieces == 1 ? 0 : 2 * shape.outer * pieces * common::kSlice;
}

void LaunchSoftmax(common::ElementType type, const SoftmaxTensors &tensors, const SoftmaxShape &shape, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(tensors, shape, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(tensors, shape, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(tensors, shape, stream);
    }
}
