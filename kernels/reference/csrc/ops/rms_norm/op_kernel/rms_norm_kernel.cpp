/* rms_norm for float16, bfloat16 and float32: very short rows (rms_norm_short.h), rows that fit (rms_norm_rows.h) and longer ones (rms_norm_long.h). */
#include "kernel_operator.h"

#include "rms_norm_launch.h"
#include "rms_norm_long.h"
#include "rms_norm_rows.h"
#include "rms_norm_short.h"

template <typename T>
using RmsNormRows = common::RowKernel<T, RmsNormBody<T>>;

template <typename T>
using RmsNormShort = common::RowKernel<T, RmsNormShortBody<T>>;

template <typename Kernel>
__global__ __aicore__ void rms_norm_rows(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, common::RowTiling tiling, float epsilon) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    Kernel kernel;
    kernel.Init(x, y, tiling, gamma, epsilon);
    kernel.Process();
}

template <typename T, LongPhase kPhase>
__global__ __aicore__ void rms_norm_long(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR sums, LongRowTiling tiling, float epsilon) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    RmsNormLong<T, kPhase> kernel;
    kernel.Init(x, gamma, y, sums, tiling, epsilon);
    kernel.Process();
}

template <typename T, LongPhase kPhase>
static void LaunchLong(const RmsNormTensors &tensors, const LongRowTiling &tiling, float epsilon, void *stream) {
    const auto x = (GM_ADDR)tensors.x, gamma = (GM_ADDR)tensors.gamma, y = (GM_ADDR)tensors.y, sums = (GM_ADDR)tensors.sums;
    rms_norm_long<T, kPhase><<<tiling.blocks, nullptr, stream>>>(x, gamma, y, sums, tiling, epsilon);
}

template <typename T>
static void LaunchLongRows(const RmsNormTensors &tensors, float epsilon, void *stream) {
    using Kernel = RmsNormLong<T, LongPhase::kAll>;
    const auto tiling = PlanLongRows(tensors.rows, tensors.columns, Kernel::kBytesPerElement, Kernel::kFixedBytes);
    if (tiling.pieces == 1) {
        return LaunchLong<T, LongPhase::kAll>(tensors, tiling, epsilon, stream);
    }
    LaunchLong<T, LongPhase::kSums>(tensors, tiling, epsilon, stream);
    LaunchLong<T, LongPhase::kResults>(tensors, tiling, epsilon, stream);
}

template <typename T>
static void LaunchTyped(const RmsNormTensors &tensors, float epsilon, void *stream) {
    constexpr int64_t kElementsPerLaunch = 1500;  // eight vector cycles per 64 elements
    const auto x = (GM_ADDR)tensors.x, gamma = (GM_ADDR)tensors.gamma, y = (GM_ADDR)tensors.y;
    if (tensors.columns <= kShortWidth) {
        const auto few = PlanShortRows(tensors.rows, tensors.columns, RmsNormShort<T>::Traits(0, kElementsPerLaunch));
        rms_norm_rows<RmsNormShort<T>><<<few.blocks, nullptr, stream>>>(x, gamma, y, few, epsilon);
        return;
    }
    const auto traits = RmsNormRows<T>::Traits(RmsNormBody<T>::kBytesPerColumn, kElementsPerLaunch);
    const auto tiling = common::PlanRows(tensors.rows, tensors.columns, traits);
    if (tiling.rowsPerTile > 0) {
        rms_norm_rows<RmsNormRows<T>><<<tiling.blocks, nullptr, stream>>>(x, gamma, y, tiling, epsilon);
        return;
    }
    LaunchLongRows<T>(tensors, epsilon, stream);
}

int64_t RmsNormSums(int64_t rows, int64_t columns) {
    const int64_t pieces = common::PiecesPerRow(rows, columns);
    return pieces == 1 ? 0 : rows * pieces * common::kBlockFloats;
}

void LaunchRmsNorm(common::ElementType type, const RmsNormTensors &tensors, float epsilon, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(tensors, epsilon, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(tensors, epsilon, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(tensors, epsilon, stream);
    }
}
