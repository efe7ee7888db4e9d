/*
 * Two sides that are broadcast to each other, plain: row by row of the result, in chunks of one tile. A side that is repeated along the row is read as one
 * number. Equal shapes are one row.
 */
#ifndef BASELINE_BROADCAST_ROWS_H
#define BASELINE_BROADCAST_ROWS_H

#include <algorithm>
#include <cstdint>

namespace baseline {

constexpr int32_t kMostAxes = 8;

/* Axes of the result but the last, which is the row; steps of the two sides, 0 where they are repeated. */
struct BroadcastRows {
    int32_t axes;
    int64_t sizes[kMostAxes];
    int64_t steps[2][kMostAxes];
    int64_t rows;
    int64_t length;    // of a row
    bool isNumber[2];  // the side has one number for a row
};

/* Shapes are aligned, with 1 where a side is repeated; host code. */
inline BroadcastRows RowsOf(int32_t axes, const int64_t *first, const int64_t *second) {
    BroadcastRows rows{};
    const int64_t *shapes[2] = {first, second};
    if (std::equal(first, first + axes, second)) {
        rows.rows = rows.length = 1;
        for (int32_t axis = 0; axis < axes; ++axis) rows.length *= first[axis];
        return rows;
    }
    rows.axes = axes - 1;
    rows.rows = 1;
    rows.length = std::max(first[axes - 1], second[axes - 1]);
    for (int32_t side = 0; side < 2; ++side) {
        rows.isNumber[side] = shapes[side][axes - 1] == 1 && rows.length > 1;
        int64_t step = shapes[side][axes - 1];
        for (int32_t axis = axes - 2; axis >= 0; --axis) {
            rows.sizes[axis] = std::max(first[axis], second[axis]);
            rows.steps[side][axis] = shapes[side][axis] == 1 ? 0 : step;
            step *= shapes[side][axis];
        }
    }
    for (int32_t axis = 0; axis < axes - 1; ++axis) rows.rows *= rows.sizes[axis];
    return rows;
}

}  // namespace baseline

#endif  // BASELINE_BROADCAST_ROWS_H
