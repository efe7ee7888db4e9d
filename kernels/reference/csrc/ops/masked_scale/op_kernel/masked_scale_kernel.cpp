/*
 * y = x * mask * scale for x of float16, bfloat16 and float32 and masks of these, int8 and uint8, any number of elements.
 *
 * Problem: bound by memory, in fifteen combinations of types.
 * Approach: the shared frame of elementwise kernels (element_kernel.h) with a body that widens what is not float32 (masked_scale_body.h).
 * Limits: x, mask and y have as many elements; nothing is broadcast.
 */
#include "kernel_operator.h"

#include "masked_scale_body.h"
#include "masked_scale_launch.h"

template <typename T, typename Mask>
__global__ __aicore__ void masked_scale_kernel(GM_ADDR x, GM_ADDR mask, GM_ADDR y, int64_t elements, common::Tiling tiling, float scale) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::ElementKernel<MaskedScale<T, Mask>> kernel;
    kernel.Init({{x, mask}, {y}}, elements, tiling, scale);
    kernel.Process();
}

template <typename T, typename Mask>
static void LaunchTyped(void *x, void *mask, void *y, int64_t elements, float scale, void *stream) {
    const auto tiling = common::PlanTiling(elements, common::ElementTraits<MaskedScale<T, Mask>>());
    masked_scale_kernel<T, Mask><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)mask, (GM_ADDR)y, elements, tiling, scale);
}

template <typename T>
static void LaunchMasked(MaskType maskType, void *x, void *mask, void *y, int64_t elements, float scale, void *stream) {
    switch (maskType) {
        case MaskType::kInt8:
            return LaunchTyped<T, int8_t>(x, mask, y, elements, scale, stream);
        case MaskType::kUint8:
            return LaunchTyped<T, uint8_t>(x, mask, y, elements, scale, stream);
        case MaskType::kFloat16:
            return LaunchTyped<T, half>(x, mask, y, elements, scale, stream);
        case MaskType::kBfloat16:
            return LaunchTyped<T, bfloat16_t>(x, mask, y, elements, scale, stream);
        case MaskType::kFloat32:
            return LaunchTyped<T, float>(x, mask, y, elements, scale, stream);
    }
}

void LaunchMaskedScale(common::ElementType type, MaskType maskType, void *x, void *mask, void *y, int64_t elements, float scale, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchMasked<half>(maskType, x, mask, y, elements, scale, stream);
        case common::ElementType::kBfloat16:
            return LaunchMasked<bfloat16_t>(maskType, x, mask, y, elements, scale, stream);
        case common::ElementType::kFloat32:
            return LaunchMasked<float>(maskType, x, mask, y, elements, scale, stream);
    }
}
