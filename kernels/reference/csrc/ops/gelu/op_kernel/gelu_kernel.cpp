/*
 * gelu for float16, bfloat16 and float32, any number of elements, in both of torch's forms.
 *
 * The vector unit is the bound for "none" and for the 16-bit types, so what counts is the number of vector instructions (gelu_math.h) and that none of them has
 * a bank conflict: every binary one pairs x with y or with the work tensor, which float_map.h places for that.
 */
#include "kernel_operator.h"

#include "../../../common/float_map.h"
#include "gelu_launch.h"
#include "gelu_math.h"

template <typename T, bool kIsTanh>
using GeluBody = common::FloatMap<T, std::conditional_t<kIsTanh, GeluTanh, GeluExact<T>>>;

template <typename T, bool kIsTanh>
__global__ __aicore__ void gelu_kernel(common::ElementTensors<GeluBody<T, kIsTanh>> tensors, int64_t elements, common::Tiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::ElementKernel<GeluBody<T, kIsTanh>> kernel;
    kernel.Init(tensors, elements, tiling);
    kernel.Process();
}

template <typename T, bool kIsTanh>
static void LaunchForm(void *x, void *y, int64_t elements, void *stream) {
    using Body = GeluBody<T, kIsTanh>;
    const common::ElementTensors<Body> tensors{{(GM_ADDR)x}, {(GM_ADDR)y}};
    const auto tiling = common::PlanTiling(elements, common::ElementTraits<Body>());
    gelu_kernel<T, kIsTanh><<<tiling.blocks, nullptr, stream>>>(tensors, elements, tiling);
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t elements, bool isTanh, void *stream) {
    if (isTanh) {
        LaunchForm<T, true>(x, y, elements, stream);
    } else {
        LaunchForm<T, false>(x, y, elements, stream);
    }
}

void LaunchGelu(common::ElementType type, void *x, void *y, int64_t elements, bool isTanh, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(x, y, elements, isTanh, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(x, y, elements, isTanh, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(x, y, elements, isTanh, stream);
    }
}
