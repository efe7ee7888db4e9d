/* What a kernel is told of a list of tensors: lengths and addresses, by value, so that one launch does for a whole list. */
#ifndef REFERENCE_TENSOR_LIST_H
#define REFERENCE_TENSOR_LIST_H

#include <cstdint>

namespace common {

constexpr int32_t kMostListed = 32;  // tensors of one launch: longer lists take several, so that the arguments stay below 2 KiB

template <int32_t kOperands>
struct TensorList {
    int32_t tensors;
    uint32_t granule;  // elements; a core's share of a tensor begins at a multiple of them
    uint32_t perTile;  // elements, a multiple of the granule
    int64_t first;     // granules of the first core, over all tensors
    int64_t fewer;     // of each core than of the one before; see PlanShares in tiling.h
    int64_t elements[kMostListed];
    uint64_t addresses[kMostListed][kOperands];
};

}  // namespace common

#endif  // REFERENCE_TENSOR_LIST_H
