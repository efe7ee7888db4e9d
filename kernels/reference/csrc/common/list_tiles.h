/*
 * How a list of tensors is spread over the vector cores and cut into tiles.
 *
 * The tensors are laid end to end, in granules of 512 bytes, and each core gets a piece of that: part of one tensor, or the end of one, some whole ones
 * and the beginning of another. So ten small tensors keep as many cores busy as one large one, and loads of the next tensor overlap the work on this one.
 * A tile belongs to one tensor. Each tensor and each core begin at an address that global memory likes.
 */
#ifndef REFERENCE_LIST_TILES_H
#define REFERENCE_LIST_TILES_H

#include "kernel_operator.h"

#include "shares.h"
#include "tensor_list.h"
#include "tiling.h"

namespace common {

constexpr int64_t kElementsPerTensor = 1000;  // what the tensor's own copies and barriers are worth, beside its elements

/* Granules that tensor `index` counts for: at least one, so that empty ones get their turn too. */
template <typename List>
__host_aicore__ inline int64_t GranulesOf(const List &list, int32_t index) {
    return list.elements[index] > list.granule ? (list.elements[index] + list.granule - 1) / list.granule : 1;
}

template <typename List>
__host_aicore__ inline Shares SharesOf(const List &list) {
    return {list.first, list.fewer};
}

/* Host: sets the list's granule, tile and shares; the result is the number of cores. */
template <typename List>
inline uint32_t PlanList(List &list, const KernelTraits &kernel) {
    list.granule = static_cast<uint32_t>(kBurstBytes / kernel.elementBytes);
    int64_t granules = 0, work = 0;
    for (int32_t i = 0; i < list.tensors; ++i) {
        granules += GranulesOf(list, i);
        work += list.elements[i] + kElementsPerTensor;
    }
    const Shares shares = PlanShares(granules, list.granule, work, kernel);
    list.first = shares.first;
    list.fewer = shares.fewer;
    list.perTile = PlanTile(shares, list.granule, kernel);
    return BlocksOf(shares, granules);
}

struct ListTile {
    int32_t tensor;
    int64_t first;   // element of the tensor
    uint32_t count;  // elements; 0 for an empty tensor
    bool isFirst;    // of this core's part of the tensor
    bool isLast;
};

/* The tiles of this core, in order. */
template <typename List>
class ListTiles {
public:
    __aicore__ inline explicit ListTiles(const List &list) : list_(list), left_(LengthOf(SharesOf(list), AscendC::GetBlockIdx())) {
        int64_t before = StartOf(SharesOf(list), AscendC::GetBlockIdx());
        while (tensor_ < list.tensors && before >= GranulesOf(list, tensor_)) {
            before -= GranulesOf(list, tensor_);
            ++tensor_;
        }
        offset_ = before * list.granule;
    }

    /* False when there is none left. */
    __aicore__ inline bool Next(ListTile &tile) {
        if (tensor_ >= list_.tensors || left_ == 0) {
            return false;
        }
        const int64_t rest = list_.elements[tensor_] - offset_, share = left_ * list_.granule;
        const int64_t part = rest < share ? rest : share;
        const uint32_t count = part < list_.perTile ? part : list_.perTile;
        tile = {tensor_, offset_, count, isNew_, count == part};
        left_ -= count <= list_.granule ? 1 : (count + list_.granule - 1) / list_.granule;
        offset_ += count;
        isNew_ = count == part;
        if (count == rest) {
            ++tensor_;
            offset_ = 0;
        }
        return true;
    }

private:
    const List &list_;
    int32_t tensor_ = 0;
    int64_t offset_ = 0;
    int64_t left_;
    bool isNew_ = true;
};

}  // namespace common

#endif  // REFERENCE_LIST_TILES_H
