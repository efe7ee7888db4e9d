/*
 * cross_entropy_loss of float16, bfloat16 and float32 scores, for classes (int32, int64) and class probabilities.
 *
 * Of each loss only a few numbers outlive the scores: the maximum m, s = sum exp(x - m), and the chosen score, or a = sum w (x - m) and W = sum w. So scores
 * are read once, also where the classes of a loss do not fit into the unified buffer: a chunk that raises m scales s by exp(old m - new m) and corrects a by
 * W (old m - new m). All of that is done for the losses of a tile together, one lane each; how scores lie is the layout's affair (cross_entropy_layouts.h).
 *
 * The operator is bound by memory where it has weights or float32 scores, else nearly so: a dozen vector cycles per 64 scores against seven for two bytes.
 * Limits: classes outside 0..C - 1 give the score of the nearest class, but for those on the side where ignore_index is, if it is outside: they are ignored.
 */
#include "kernel_operator.h"

#include "cross_entropy_pass.h"

template <typename T, typename Target, typename Layout>
__global__ __aicore__ void cross_entropy_loss(CrossEntropyTensors tensors, CrossEntropyTiling tiling, CrossEntropyReduction reduction, int32_t ignored) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // vector cores that can wait for one another
    CrossEntropyLoss<T, Target, Layout> kernel;
    kernel.Init(tensors, tiling, reduction, ignored);
    kernel.Process();
}

template <typename T, typename Target>
static void LaunchTyped(const CrossEntropyOptions &options, const CrossEntropyTensors &tensors, void *stream) {
    const auto ignored = static_cast<int32_t>(std::clamp<int64_t>(options.ignoreIndex, -1, tensors.classes));
    if (tensors.inner == 1) {
        const auto tiling = PlanLossRows(tensors.outer, tensors.classes, CrossEntropyLoss<T, Target, RowsLayout>::kBytesPerElement, sizeof(T));
        cross_entropy_loss<T, Target, RowsLayout><<<tiling.blocks, nullptr, stream>>>(tensors, tiling, options.reduction, ignored);
        return;
    }
    const auto tiling = PlanLossColumns(tensors.outer, tensors.classes, tensors.inner, CrossEntropyLoss<T, Target, ColumnsLayout>::kBytesPerElement);
    cross_entropy_loss<T, Target, ColumnsLayout><<<tiling.blocks, nullptr, stream>>>(tensors, tiling, options.reduction, ignored);
}

template <typename T>
static void LaunchFor(const CrossEntropyOptions &options, const CrossEntropyTensors &tensors, void *stream) {
    switch (options.target) {
        case CrossEntropyTarget::kInt32:
            return LaunchTyped<T, int32_t>(options, tensors, stream);
        case CrossEntropyTarget::kInt64:
            return LaunchTyped<T, int64_t>(options, tensors, stream);
        case CrossEntropyTarget::kProbabilities:
            return LaunchTyped<T, T>(options, tensors, stream);
    }
}

void LaunchCrossEntropyLoss(const CrossEntropyOptions &options, const CrossEntropyTensors &tensors, void *stream) {
    switch (options.type) {
        case common::ElementType::kFloat16:
            return LaunchFor<half>(options, tensors, stream);
        case common::ElementType::kBfloat16:
            return LaunchFor<bfloat16_t>(options, tensors, stream);
        case common::ElementType::kFloat32:
            return LaunchFor<float>(options, tensors, stream);
    }
}

int64_t CrossEntropyCores() { return common::VectorCores(); }
