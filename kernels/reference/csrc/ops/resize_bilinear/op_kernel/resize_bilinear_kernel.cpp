/* resize_bilinear for float16, bfloat16 and float32, any sizes: resize_tiling.h cuts the work, resize_tiles.h does it. */
#include "kernel_operator.h"

#include "resize_bilinear_launch.h"
#include "resize_tiles.h"
#include "resize_tiling.h"

template <typename T>
__global__ __aicore__ void resize_bilinear(ResizeTensors tensors, ResizeTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    ResizeKernel<T> kernel;
    kernel.Init(tensors, tiling);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(const ResizeTensors &tensors, void *stream) {
    const auto tiling = PlanResize(tensors, sizeof(T), ResizeKernel<T>::kElementsPerLaunch);
    resize_bilinear<T><<<tiling.blocks, nullptr, stream>>>(tensors, tiling);
}

void LaunchResizeBilinear(common::ElementType type, const ResizeTensors &tensors, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(tensors, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(tensors, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(tensors, stream);
    }
}
