/*
 * group_norm for float16, bfloat16 and float32: groups without positions (group_norm_short.h), groups that fit (group_norm_whole.h) and larger ones
 * (group_norm_chunks.h). What does not fit the first goes by the second, with one element per line.
 */
#include "kernel_operator.h"

#include "group_norm_chunks.h"
#include "group_norm_short.h"
#include "group_norm_whole.h"

template <typename T>
__global__ __aicore__ void group_norm_whole(GroupNormTensors tensors, GroupTiling tiling, float epsilon) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GroupNormWhole<T> kernel;
    kernel.Init(tensors, tiling, epsilon);
    kernel.Process();
}

template <typename T>
__global__ __aicore__ void group_norm_chunks(GroupNormTensors tensors, GroupTiling tiling, float epsilon) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GroupNormChunks<T> kernel;
    kernel.Init(tensors, tiling, epsilon);
    kernel.Process();
}

template <typename T>
__global__ __aicore__ void group_norm_short(GroupNormTensors tensors, ShortGroupTiling tiling, float epsilon) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GroupNormShort<T> kernel;
    kernel.Init(tensors, tiling, epsilon);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(const GroupNormTensors &tensors, float epsilon, void *stream) {
    if (tensors.positions == 1) {
        const auto few = PlanShortGroups(tensors.samples, tensors.groups, tensors.channels, GroupNormShort<T>::kBytesPerElement, sizeof(T));
        if (few.samplesPerTile > 0) {
            group_norm_short<T><<<few.blocks, nullptr, stream>>>(tensors, few, epsilon);
            return;
        }
    }
    const auto tiling = PlanGroups(tensors.samples, tensors.groups, tensors.channels, tensors.positions, GroupNormBase<T>::kBytesPerElement);
    if (tiling.groupsPerTile > 0) {
        group_norm_whole<T><<<tiling.blocks, nullptr, stream>>>(tensors, tiling, epsilon);
        return;
    }
    group_norm_chunks<T><<<tiling.blocks, nullptr, stream>>>(tensors, tiling, epsilon);
}

void LaunchGroupNorm(common::ElementType type, const GroupNormTensors &tensors, float epsilon, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(tensors, epsilon, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(tensors, epsilon, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(tensors, epsilon, stream);
    }
}
