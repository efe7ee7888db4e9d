/*
 * y = max(x1, x2), broadcast, for float16, bfloat16, float32, int8, int32 and int64.
 *
 * Bound by memory: what a core computes takes less time than its tiles take to come and go (broadcast_kernel.h), but for a column of bfloat16, which is spread
 * and converted for every tile. Nothing is rounded: bfloat16 is compared in float32 and int8 in half, which hold all their values; int64 word by word
 * (maximum_int64.h).
 */
#include "kernel_operator.h"

#include "../../../common/broadcast_kernel.h"
#include "maximum_bodies.h"
#include "maximum_int64.h"
#include "maximum_launch.h"

template <typename T, typename Body>
__global__ __aicore__ void maximum_kernel(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, common::BroadcastPlan plan) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::BroadcastKernel<T, Body> kernel;
    kernel.Init(x1, x2, y, plan);
    kernel.Process();
}

template <typename T, typename Body>
static void LaunchTyped(void *x1, void *x2, void *y, const common::BroadcastShapes &shapes, void *stream) {
    const auto plan = common::PlanBroadcast(shapes, common::BroadcastKernel<T, Body>::Traits());
    maximum_kernel<T, Body><<<plan.blocks, nullptr, stream>>>((GM_ADDR)x1, (GM_ADDR)x2, (GM_ADDR)y, plan);
}

void LaunchMaximum(common::ScalarType type, void *x1, void *x2, void *y, const common::BroadcastShapes &shapes, void *stream) {
    switch (type) {
        case common::ScalarType::kFloat16:
            return LaunchTyped<half, MaximumOfFloats<half, half>>(x1, x2, y, shapes, stream);
        case common::ScalarType::kBfloat16:
            return LaunchTyped<bfloat16_t, MaximumOfFloats<bfloat16_t, float>>(x1, x2, y, shapes, stream);
        case common::ScalarType::kFloat32:
            return LaunchTyped<float, MaximumOfFloats<float, float>>(x1, x2, y, shapes, stream);
        case common::ScalarType::kInt8:
            return LaunchTyped<int8_t, MaximumOfBytes>(x1, x2, y, shapes, stream);
        case common::ScalarType::kInt32:
            return LaunchTyped<int32_t, MaximumOfWords>(x1, x2, y, shapes, stream);
        case common::ScalarType::kInt64:
            return LaunchTyped<int64_t, MaximumOfLongs>(x1, x2, y, shapes, stream);
        case common::ScalarType::kInt16:
            return;
    }
}
