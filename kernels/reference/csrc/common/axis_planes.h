/*
 * Tensors that an index runs along one axis of, seen as planes: what gather and scatter share.
 *
 * Problem: gather and scatter take tensors of one rank whose axes may differ in length; an element of the index tensor names a place on axis `dim`, in the
 * same place of all other axes.
 * Approach: the axes but `dim` are dropped where the index has length 1 and merged where all tensors allow it. A plane is then [length, width]: `dim`, and the
 * innermost of the other axes (elements side by side in every tensor; width 1 where dim is the last axis). What remains of the axes counts the planes; the
 * planes of the innermost of these, a run, lie at equal distances. Limits: ranks up to 8. Host code but for the structure and PlaneStart.
 */
#ifndef REFERENCE_AXIS_PLANES_H
#define REFERENCE_AXIS_PLANES_H

#include <cstdint>

#include "kernel_operator.h"

namespace common {

constexpr int32_t kMostAxes = 8;
constexpr int32_t kMostTensors = 3;

struct AxisPlanes {
    int64_t length[kMostTensors];           // of dim
    int64_t step[kMostTensors];             // elements from one place on dim to the next
    int64_t width;                          // of the innermost axis; 1 where dim is that
    int64_t planes;                         // all of them
    int32_t axes;                           // that count planes, outermost first
    int64_t count[kMostAxes];               // their lengths
    int64_t move[kMostTensors][kMostAxes];  // elements from one plane to the next
};

/* Planes of the innermost axis that counts them, and how far apart they are. */
constexpr int64_t RunOf(const AxisPlanes &planes) { return planes.axes > 0 ? planes.count[planes.axes - 1] : 1; }
constexpr int64_t RunMove(const AxisPlanes &planes, int32_t tensor) { return planes.axes > 0 ? planes.move[tensor][planes.axes - 1] : 0; }

/* Element of a tensor where a plane begins. */
__aicore__ inline int64_t PlaneStart(const AxisPlanes &planes, int32_t tensor, int64_t plane) {
    int64_t start = 0;
    for (int32_t axis = planes.axes - 1; axis >= 0; --axis) {
        start += plane % planes.count[axis] * planes.move[tensor][axis];
        plane /= planes.count[axis];
    }
    return start;
}

/* Adds an axis outside of those that are there; merges it into the outermost where every tensor allows it. */
inline void AddAxis(AxisPlanes &planes, int32_t tensors, int64_t count, const int64_t *move) {
    bool isMerged = planes.axes > 0;
    for (int32_t tensor = 0; tensor < tensors && isMerged; ++tensor) {
        isMerged = move[tensor] == planes.move[tensor][0] * planes.count[0];
    }
    if (isMerged) {
        planes.count[0] *= count;
        return;
    }
    for (int32_t axis = planes.axes; axis > 0; --axis) {
        planes.count[axis] = planes.count[axis - 1];
        for (int32_t tensor = 0; tensor < tensors; ++tensor) {
            planes.move[tensor][axis] = planes.move[tensor][axis - 1];
        }
    }
    planes.count[0] = count;
    for (int32_t tensor = 0; tensor < tensors; ++tensor) {
        planes.move[tensor][0] = move[tensor];
    }
    ++planes.axes;
}

/* The innermost axis becomes the planes' width where its elements lie side by side in every tensor. */
inline void TakeWidth(AxisPlanes &planes, int32_t tensors) {
    bool isDense = planes.axes > 0;
    for (int32_t tensor = 0; tensor < tensors && isDense; ++tensor) {
        isDense = planes.move[tensor][planes.axes - 1] == 1;
    }
    if (isDense) {
        planes.width = planes.count[--planes.axes];
    }
}

/* `shapes[tensor][axis]` of dense tensors of one rank; `counted` is the index among them, whose places are counted; `dim` from 0 on. */
template <typename Shapes>
inline AxisPlanes PlanPlanes(const Shapes &shapes, int32_t tensors, int32_t counted, int64_t rank, int64_t dim) {
    AxisPlanes planes{};
    planes.width = 1;
    int64_t move[kMostTensors] = {1, 1, 1};
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
        if (axis == dim) {
            for (int32_t tensor = 0; tensor < tensors; ++tensor) {
                planes.length[tensor] = shapes[tensor][axis];
                planes.step[tensor] = move[tensor];
            }
        } else if (shapes[counted][axis] > 1) {
            AddAxis(planes, tensors, shapes[counted][axis], move);
        }
        for (int32_t tensor = 0; tensor < tensors; ++tensor) {
            move[tensor] *= shapes[tensor][axis];
        }
    }
    TakeWidth(planes, tensors);
    planes.planes = 1;
    for (int32_t axis = 0; axis < planes.axes; ++axis) {
        planes.planes *= planes.count[axis];
    }
    return planes;
}

}  // namespace common

#endif  // REFERENCE_AXIS_PLANES_H
