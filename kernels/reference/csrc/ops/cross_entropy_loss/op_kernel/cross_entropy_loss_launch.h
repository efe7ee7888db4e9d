/* The launcher of cross_entropy_loss, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_CROSS_ENTROPY_LOSS_LAUNCH_H
#define REFERENCE_CROSS_ENTROPY_LOSS_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

enum class CrossEntropyTarget : int32_t { kInt32, kInt64, kProbabilities };

enum class CrossEntropyReduction : int32_t { kNone, kSum, kMean };

constexpr int64_t kCrossEntropyWorkspaceBytes = 64;  // per vector core

/* Device memory, dense: input is [outer, classes, inner], target [outer, inner] or as input, loss [outer, inner] or one number. */
struct CrossEntropyTensors {
    void *input;
    void *target;
    void *loss;
    void *workspace;  // kCrossEntropyWorkspaceBytes for each vector core
    int64_t outer;
    int64_t classes;
    int64_t inner;
};

struct CrossEntropyOptions {
    common::ElementType type;
    CrossEntropyTarget target;
    CrossEntropyReduction reduction;
    int64_t ignoreIndex;
};

/* loss = cross_entropy_loss(input, target) for non-empty tensors, on `stream`. */
void LaunchCrossEntropyLoss(const CrossEntropyOptions &options, const CrossEntropyTensors &tensors, void *stream);

/* Vector cores of the device: how many parts the workspace has. */
int64_t CrossEntropyCores();

#endif  // REFERENCE_CROSS_ENTROPY_LOSS_LAUNCH_H
