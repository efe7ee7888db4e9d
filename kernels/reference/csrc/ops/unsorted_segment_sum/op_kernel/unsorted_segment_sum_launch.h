/* The launcher of unsorted_segment_sum, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_UNSORTED_SEGMENT_SUM_LAUNCH_H
#define REFERENCE_UNSORTED_SEGMENT_SUM_LAUNCH_H

#include <cstdint>

enum class SegmentType : int32_t { kFloat16, kBfloat16, kFloat32, kInt32, kInt64 };

struct SegmentShape {
    int64_t rows;      // at least 1
    int64_t columns;   // of a row, at least 1
    int64_t segments;  // at least 1
};

/* Bytes of device memory that the launch needs besides its tensors: room for sums that the type itself cannot hold. */
int64_t UnsortedSegmentSumWorkspace(SegmentType type, int64_t idBytes, const SegmentShape &shape);

/* y[s] = sum of data[i] over all i with ids[i] = s; dense tensors in device memory, ids of 4 or 8 bytes. */
void LaunchUnsortedSegmentSum(SegmentType type, int64_t idBytes, void *data, void *ids, void *y, void *workspace, const SegmentShape &shape, void *stream);

#endif  // REFERENCE_UNSORTED_SEGMENT_SUM_LAUNCH_H
