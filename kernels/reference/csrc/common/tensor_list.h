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
    int64_t perBlock;  // granules of one core, over all tensors
    int64_t elements[kMostListed];
    uint64_t addresses[kMostListed][kOperands];
};

/* Granules that tensor `index` counts for: at least one, so that empty ones get their turn too. */
template <typename List>
constexpr int64_t GranulesOf(const List &list, int32_t index) {
    return list.elements[index] > list.granule ? (list.elements[index] + list.granule - 1) / list.granule : 1;
}

}  // namespace common

#endif  // REFERENCE_TENSOR_LIST_H
