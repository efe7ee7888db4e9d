/* The launcher of apply_rotary_pos_emb, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_APPLY_ROTARY_POS_EMB_LAUNCH_H
#define BASELINE_APPLY_ROTARY_POS_EMB_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* Device memory, dense: x and y are [batches, positions, heads, 2 * pairs] or, with isHeadFirst, [batches, heads, positions, 2 * pairs]. */
struct RotaryTensors {
    void *x[2];  // query and key
    void *y[2];
    void *cos;
    void *sin;
    int64_t batches;
    int64_t positions;
    int64_t heads;
    int64_t pairs;
    bool isHeadFirst;
    bool isInterleaved;
    bool isShared;  // all batch entries have the angles of the first
};

/* Non-empty tensors with at most 1024 pairs, on `stream`. */
void LaunchApplyRotaryPosEmb(baseline::ElementType type, const RotaryTensors &tensors, void *stream);

#endif  // BASELINE_APPLY_ROTARY_POS_EMB_LAUNCH_H
