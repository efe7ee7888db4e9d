/* The launcher of apply_rotary_pos_emb, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_APPLY_ROTARY_POS_EMB_LAUNCH_H
#define REFERENCE_APPLY_ROTARY_POS_EMB_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

constexpr int64_t kMostRotaryLength = 4096;  // elements of a head: what fits into the unified buffer in every regime

/*
 * Device memory, dense. query, key and their results are [batches, groups, positions, heads, 2 * pairs], cos and sin [batches, positions, pairs]: layout 0 has
 * its heads inside a position, layout 1 has them as groups, and where all batch entries share the angles they count as groups too.
 */
struct RotaryTensors {
    void *query;
    void *key;
    void *cos;
    void *sin;
    void *queryOut;
    void *keyOut;
    int64_t batches;
    int64_t groups;
    int64_t positions;
    int64_t heads;
    int64_t pairs;
    bool isInterleaved;
};

/* Non-empty tensors with heads of at most kMostRotaryLength elements, on `stream`. */
void LaunchApplyRotaryPosEmb(common::ElementType type, const RotaryTensors &tensors, void *stream);

#endif  // REFERENCE_APPLY_ROTARY_POS_EMB_LAUNCH_H
