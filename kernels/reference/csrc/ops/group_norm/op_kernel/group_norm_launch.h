/* The launcher of group_norm, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_GROUP_NORM_LAUNCH_H
#define REFERENCE_GROUP_NORM_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* Device memory, dense: x and y are [samples, groups, channels, positions], gamma and beta [groups, channels]. */
struct GroupNormTensors {
    void *x;
    void *gamma;
    void *beta;
    void *y;
    int64_t samples;
    int64_t groups;    // of a sample
    int64_t channels;  // of a group
    int64_t positions;
};

/* y = group_norm(x, gamma, beta) for non-empty tensors, on `stream`. */
void LaunchGroupNorm(common::ElementType type, const GroupNormTensors &tensors, float epsilon, void *stream);

#endif  // REFERENCE_GROUP_NORM_LAUNCH_H
