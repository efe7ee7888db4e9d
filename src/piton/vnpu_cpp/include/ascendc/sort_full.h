/*
 * Concat, Sort, Extract, MrgSort of lists, GetSortOffset, GetSortLen, TopK: whole sorts made of Sort32 and MrgSort.
 *
 * Problem: the instructions sort 32 scores and merge four lists; between them a score and its index lie in a structure of 8 bytes.
 * Approach: as documented for the Ascend 910B: Sort32 over everything, then passes that merge four lists of equal length each, to and fro between the
 * destination and the temporary memory; Extract is two GatherMasks. TopK sorts row by row (what is to be smallest is multiplied by -1), takes k structures of
 * each and, in Small mode, packs the rows with one pattern for all of them. Their time is that of these instructions.
 * Limits: half and float. Concat makes `concat` the tensor `src`, since a chip that has Sort32 needs no proposals. Of the tiling of TopK nothing is used.
 */
#ifndef PITON_ASCENDC_SORT_FULL_H
#define PITON_ASCENDC_SORT_FULL_H

#include "copy.h"
#include "duplicate.h"
#include "gather.h"
#include "pipe.h"
#include "scratch.h"
#include "sort.h"
#include "vector_scalar.h"

namespace piton {

constexpr uint32_t kSortedAtOnce = 32, kStructureBytes = 8;

template <typename T>
constexpr uint32_t kElementsOfStructure = kStructureBytes / sizeof(T);

/* A list of sorted lists: `count` structures, `length` in each list but perhaps the last. */
template <typename T>
struct SortedLists {
    AscendC::LocalTensor<T> structures;
    uint32_t count;
    uint32_t length;

    PITON_API AscendC::LocalTensor<T> From(uint32_t structure) const { return structures[(structure < count ? structure : 0) * kElementsOfStructure<T>]; }
    PITON_API uint16_t LengthAt(uint32_t structure) const {
        const uint32_t left = structure < count ? count - structure : 0;
        return static_cast<uint16_t>(left < length ? left : length);
    }
};

/* Merges the up to four lists from structure `first` on. */
template <typename T>
PITON_API void MergeLists(const AscendC::LocalTensor<T> &dst, const SortedLists<T> &lists, uint32_t first, Location at) {
    const uint32_t step = lists.length, left = lists.count - first, number = left > 3 * step ? 4 : (left + step - 1) / step;
    const AscendC::LocalTensor<T> to = dst[first * kElementsOfStructure<T>];
    if (number == 1) {
        AscendC::DataCopy(to, lists.From(first), (left * kElementsOfStructure<T> * sizeof(T) + kBlockBytes - 1) / kBlockBytes * kBlockBytes / sizeof(T), at);
    } else {
        const uint16_t lengths[4] = {lists.LengthAt(first), lists.LengthAt(first + step), lists.LengthAt(first + 2 * step), lists.LengthAt(first + 3 * step)};
        const AscendC::MrgSortSrcList<T> sources{lists.From(first), lists.From(first + step), lists.From(first + 2 * step), lists.From(first + 3 * step)};
        AscendC::MrgSort(to, sources, AscendC::MrgSort4Info(lengths, false, (1u << number) - 1, 1, at), at);
    }
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}

/* One sorted list in `dst` out of sorted groups of 32 there. */
template <typename T>
PITON_API void MergeAll(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &tmp, uint32_t count, Location at) {
    SortedLists<T> lists{dst, count, kSortedAtOnce};
    bool isInDst = true;
    for (; lists.length < count; lists.length *= 4) {
        const AscendC::LocalTensor<T> to = isInDst ? tmp : dst;
        for (uint32_t first = 0; first < count; first += 4 * lists.length) {
            MergeLists(to, lists, first, at);
        }
        lists.structures = to;
        isInDst = !isInDst;
    }
    if (!isInDst) {
        AscendC::DataCopy(dst, tmp, count * kElementsOfStructure<T>, at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    }
}

/* Structures of `count` scores (whole groups of 32), each group sorted. */
template <typename T>
PITON_API void SortGroups(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &scores, const AscendC::LocalTensor<uint32_t> &index,
                          uint32_t count, Location at) {
    constexpr uint32_t kMost = 255 * kSortedAtOnce;
    for (uint32_t done = 0; done < count; done += kMost) {
        const uint32_t part = count - done < kMost ? count - done : kMost;
        AscendC::Sort32(dst[done * kElementsOfStructure<T>], scores[done], index[done], static_cast<int32_t>(part / kSortedAtOnce), at);
    }
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}

template <typename T>
PITON_API void RequireSortMemory(const char *api, const AscendC::LocalTensor<T> &tmp, uint32_t bytes, Location at) {
    if (tmp.GetSize() * sizeof(T) < bytes) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, at, bytes, tmp.GetSize() * sizeof(T));
    }
}

/* Scores and indices of `count` structures that lie one behind the other. */
template <typename T>
PITON_API void ExtractStructures(const AscendC::LocalTensor<T> &value, const AscendC::LocalTensor<uint32_t> &index, const AscendC::LocalTensor<T> &structures,
                                 uint32_t count, Location at) {
    constexpr uint8_t kValue = sizeof(T) == sizeof(float) ? 1 : 3, kIndex = 2; /* every second or fourth lane from the first; every second from the second */
    uint64_t taken = 0;
    AscendC::GatherMask(value, structures, kValue, true, count * kElementsOfStructure<T>, {1, 1, 8, 0}, taken, at);
    AscendC::GatherMask(index, structures.template ReinterpretCast<uint32_t>(), kIndex, true, count * 2, {1, 1, 8, 0}, taken, at);
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}

}  // namespace piton

namespace AscendC {

/* Structures begin here in a tensor of T. */
template <typename T>
PITON_API uint32_t GetSortOffset(const uint32_t elemOffset) {
    static_assert(piton::kIsFloat<T>, "GetSortOffset supports half, float on the Ascend 910B");
    return elemOffset * piton::kElementsOfStructure<T>;
}
/* Elements of T that structures take. */
template <typename T>
PITON_API uint32_t GetSortLen(const uint32_t elemCount) {
    static_assert(piton::kIsFloat<T>, "GetSortLen supports half, float on the Ascend 910B");
    return elemCount * piton::kElementsOfStructure<T>;
}

/* 16 elements per repeat. */
template <typename T>
PITON_API void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const int32_t repeatTime,
                      piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Concat", piton::kIsFloat<T>, "half, float");
    piton::RequireRange("Concat", 3, repeatTime, 0, 255, at);
    (void)tmp;
    concat = src;
}

/* 32 elements per repeat, largest first; isFullSort: all of them, else each repeat by itself. */
template <typename T, bool isFullSort>
PITON_API void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat, const LocalTensor<uint32_t> &index, const LocalTensor<T> &tmp,
                    const int32_t repeatTime, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Sort", piton::kIsFloat<T>, "half, float");
    piton::RequireRange("Sort", 4, repeatTime, 0, 0xFFFF, at);
    const uint32_t count = static_cast<uint32_t>(repeatTime) * piton::kSortedAtOnce, bytes = count * piton::kStructureBytes;
    if (isFullSort && repeatTime > 1) {
        piton::RequireSortMemory("Sort", tmp, bytes, at);
        piton::RequireApart("Sort", dst.Operand(), bytes, tmp.Operand(), bytes, at);
    }
    piton::SortGroups(dst, concat, index, count, at);
    if constexpr (isFullSort) {
        piton::MergeAll(dst, tmp, count, at);
    }
}

/* 32 structures per repeat. */
template <typename T>
PITON_API void Extract(const LocalTensor<T> &dstValue, const LocalTensor<uint32_t> &dstIndex, const LocalTensor<T> &sorted, const int32_t repeatTime,
                       piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Extract", piton::kIsFloat<T>, "half, float");
    piton::RequireRange("Extract", 3, repeatTime, 0, 255, at);
    piton::ExtractStructures(dstValue, dstIndex, sorted, static_cast<uint32_t>(repeatTime) * piton::kSortedAtOnce, at);
}

/* MrgSort that tells how many structures of each list it took where it stops at the first that is used up. */
template <typename T, bool isExhaustedSuspension = false>
PITON_API void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &sortList, const uint16_t elementCountList[4], uint32_t sortedNum[4],
                       uint16_t validBit, const int32_t repeatTime, piton::Location at = piton::Location()) {
    piton::RequireRange("MrgSort", 5, repeatTime, 1, 255, at);
    MrgSort(dst, sortList, MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, repeatTime, at), at);
    if constexpr (isExhaustedSuspension) {
        uint16_t taken[4];
        GetMrgSortResult(taken[0], taken[1], taken[2], taken[3], at);
        for (uint32_t i = 0; i < 4; ++i) {
            sortedNum[i] = taken[i];
        }
    }
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_SORT_FULL_H */
