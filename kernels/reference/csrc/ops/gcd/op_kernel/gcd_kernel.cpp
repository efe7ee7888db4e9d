/*
 * y = gcd(x1, x2), broadcast, for int16, int32 and int64.
 *
 * Broadcasting and the flow of tiles are in broadcast_kernel.h, the algorithm in gcd_euclid.h. Unlike its neighbours this operator is bound by the vector unit:
 * a step of Euclid's algorithm takes eight cycles for 64 numbers, and a tile needs as many steps as its slowest pair.
 */
#include "kernel_operator.h"

#include "../../../common/broadcast_kernel.h"
#include "gcd_bodies.h"
#include "gcd_launch.h"

template <typename T, typename Body>
__global__ __aicore__ void gcd_kernel(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, common::BroadcastPlan plan) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::BroadcastKernel<T, Body> kernel;
    kernel.Init(x1, x2, y, plan);
    kernel.Process();
}

template <typename T, typename Body>
static void LaunchTyped(void *x1, void *x2, void *y, const common::BroadcastShapes &shapes, void *stream) {
    const auto plan = common::PlanBroadcast(shapes, common::BroadcastKernel<T, Body>::Traits());
    gcd_kernel<T, Body><<<plan.blocks, nullptr, stream>>>((GM_ADDR)x1, (GM_ADDR)x2, (GM_ADDR)y, plan);
}

void LaunchGcd(common::ScalarType type, void *x1, void *x2, void *y, const common::BroadcastShapes &shapes, void *stream) {
    switch (type) {
        case common::ScalarType::kInt16:
            return LaunchTyped<int16_t, GcdOfShorts>(x1, x2, y, shapes, stream);
        case common::ScalarType::kInt32:
            return LaunchTyped<int32_t, GcdOfWords>(x1, x2, y, shapes, stream);
        case common::ScalarType::kInt64:
            return LaunchTyped<int64_t, GcdOfLongs>(x1, x2, y, shapes, stream);
        default:
            return;
    }
}
