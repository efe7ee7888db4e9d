/*
 * TopK: the k largest or smallest of each row, with their indices.
 *
 * Problem: rows are sorted one by one in Normal mode and all at once, 32 elements each, in Small mode, where k results per row are packed.
 * Approach: the documented steps on sort_full.h: indices from 0 where none are given, scores times -1 for the smallest, a sort, GatherMask of the first k, of
 * packed rows by a pattern that Duplicate writes; a finished row's indices become n.
 * Limits: half and float; the memory is used from its beginning in the order index, negated scores, structures, merged structures; of the tiling nothing is.
 */
#ifndef PITON_ASCENDC_TOP_K_H
#define PITON_ASCENDC_TOP_K_H

#include "sort_full.h"

namespace AscendC {

enum TopKMode { TOPK_NORMAL, TOPK_NSMALL };

/* Rows, their length in memory (a multiple of 32) and their length. */
struct TopKInfo {
    int32_t outter = 1;
    int32_t inner;
    int32_t n;
};

}  // namespace AscendC

namespace piton {

template <typename T>
struct TopKTensors {
    const AscendC::LocalTensor<T> &value;
    const AscendC::LocalTensor<int32_t> &index;
    const AscendC::LocalTensor<T> &src;
    const AscendC::LocalTensor<int32_t> &srcIndex;
    const AscendC::LocalTensor<bool> &finish;
};

struct TopKShape {
    uint32_t rows, inner, n, k;
    bool isLargest;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }
};

/* Memory of `elements` scores that are sorted together. */
template <typename T>
struct TopKMemory {
    AscendC::LocalTensor<uint32_t> index;
    AscendC::LocalTensor<T> scores, structures, merged;
    uint64_t used;

    PITON_API TopKMemory(const AscendC::LocalTensor<uint8_t> &memory, uint32_t elements, Location at) {
        const uint32_t bytes[] = {elements * 4, elements * static_cast<uint32_t>(sizeof(T)), elements * kStructureBytes, elements * kStructureBytes};
        used = uint64_t(bytes[0]) + bytes[1] + bytes[2] + bytes[3];
        RequireSortMemory("TopK", memory, static_cast<uint32_t>(used), at);
        index = memory.ReinterpretCast<uint32_t>();
        scores = memory[bytes[0]].template ReinterpretCast<T>();
        structures = memory[bytes[0] + bytes[1]].template ReinterpretCast<T>();
        merged = memory[bytes[0] + bytes[1] + bytes[2]].template ReinterpretCast<T>();
    }

    /* Results, `told` of each, and scores, `given` of them, lie outside. */
    PITON_API void RequireOthersApart(const TopKTensors<T> &x, uint64_t given, uint64_t told, Location at) const {
        RequireApart("TopK", x.src.Operand(), given * sizeof(T), index.Operand(), used, at);
        RequireApart("TopK", x.value.Operand(), told * sizeof(T), index.Operand(), used, at);
        RequireApart("TopK", x.index.Operand(), told * sizeof(int32_t), index.Operand(), used, at);
    }
};

/* The scores from `from` on, negated where the smallest are asked for. */
template <typename T>
PITON_API AscendC::LocalTensor<T> TopKScores(const TopKMemory<T> &memory, const AscendC::LocalTensor<T> &from, uint32_t count, const TopKShape &shape) {
    if (shape.isLargest) {
        return from;
    }
    AscendC::Muls(memory.scores, from, static_cast<T>(-1.0f), static_cast<int32_t>(count), shape.at);
    shape.Barrier();
    return memory.scores;
}

template <typename T>
PITON_API void TopKOfRow(const TopKTensors<T> &x, const TopKMemory<T> &memory, const AscendC::LocalTensor<uint32_t> &index, uint32_t row,
                         const TopKShape &shape) {
    constexpr uint32_t kValues = kBlockBytes / sizeof(T), kIndices = kBlockBytes / sizeof(int32_t);
    const auto value = x.value[row * ((shape.k + kValues - 1) / kValues * kValues)];
    const auto told = x.index[row * ((shape.k + kIndices - 1) / kIndices * kIndices)];
    SortGroups(memory.structures, TopKScores(memory, x.src[row * shape.inner], shape.inner, shape), index, shape.inner, shape.at);
    MergeAll(memory.structures, memory.merged, shape.inner, shape.at);
    ExtractStructures(value, told.template ReinterpretCast<uint32_t>(), memory.structures, shape.k, shape.at);
    if (!shape.isLargest) {
        AscendC::Muls(value, value, static_cast<T>(-1.0f), static_cast<int32_t>(shape.k), shape.at);
        shape.Barrier();
    }
}

template <bool isInitIndex, bool isHasfinish, typename T>
PITON_API void TopKOfRows(const TopKTensors<T> &x, const AscendC::LocalTensor<uint8_t> &scratch, const TopKShape &shape) {
    constexpr uint32_t kIndices = kBlockBytes / sizeof(int32_t);
    const TopKMemory<T> memory(scratch, shape.inner, shape.at);
    memory.RequireOthersApart(x, uint64_t(shape.rows) * shape.inner, uint64_t(shape.rows) * shape.k, shape.at);
    auto index = x.srcIndex.template ReinterpretCast<uint32_t>();
    if constexpr (!isInitIndex) {
        index = memory.index;
        AscendC::CreateVecIndex(index.template ReinterpretCast<int32_t>(), int32_t(0), shape.inner, shape.at);
        shape.Barrier();
    }
    for (uint32_t row = 0; row < shape.rows; ++row) {
        TopKOfRow(x, memory, index, row, shape);
        if (isHasfinish && x.finish.GetValue(row, shape.at)) {
            const auto told = x.index[row * ((shape.k + kIndices - 1) / kIndices * kIndices)];
            AscendC::Duplicate(told, static_cast<int32_t>(shape.n), static_cast<int32_t>(shape.k), shape.at);
            shape.Barrier();
        }
    }
}

/* The first k of every 32 lanes' structures: word by word of U, by a mask of one lane. */
template <typename U>
PITON_API void WritePattern(const AscendC::LocalTensor<U> &pattern, uint32_t k, uint32_t lanesOfStructure, uint32_t lane, const TopKShape &shape) {
    constexpr uint32_t kBits = 8 * sizeof(U);
    const uint32_t words = kSortedAtOnce * lanesOfStructure / kBits, inWord = kBits / lanesOfStructure;
    for (uint32_t word = 0; word < words; ++word) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < inWord && word * inWord + i < k; ++i) {
            bits |= 1u << (i * lanesOfStructure + lane);
        }
        const uint64_t mask[2] = {uint64_t(1) << word, 0};
        AscendC::Duplicate(pattern, static_cast<U>(bits), mask, 1, 1, 8, shape.at);
    }
    shape.Barrier();
}

template <typename T, typename U>
PITON_API void PackStructures(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &structures, const AscendC::LocalTensor<U> &pattern,
                              uint32_t lane, const TopKShape &shape) {
    uint64_t taken = 0;
    WritePattern(pattern, shape.k, kElementsOfStructure<T>, lane, shape);
    AscendC::GatherMask(dst, structures, pattern, false, 0, {1, shape.rows, 8, 0}, taken, shape.at);
    shape.Barrier();
}

/* Rows of 32 elements; results lie one row directly behind the other. */
template <bool isInitIndex, typename T>
PITON_API void TopKOfShortRows(const TopKTensors<T> &x, const AscendC::LocalTensor<uint8_t> &scratch, const TopKShape &shape) {
    using U = std::conditional_t<sizeof(T) == sizeof(float), uint32_t, uint16_t>;
    const uint32_t all = shape.rows * kSortedAtOnce;
    const TopKMemory<T> memory(scratch, all, shape.at);
    memory.RequireOthersApart(x, all, uint64_t(shape.rows) * shape.k, shape.at);
    auto index = x.srcIndex.template ReinterpretCast<uint32_t>();
    RequireRange("TopK", 8, shape.inner, kSortedAtOnce, kSortedAtOnce, shape.at);
    if constexpr (!isInitIndex) {
        index = memory.index;
        for (uint32_t row = 0; row < shape.rows; ++row) {
            AscendC::CreateVecIndex(index[row * kSortedAtOnce].template ReinterpretCast<int32_t>(), int32_t(0), kSortedAtOnce, shape.at);
        }
        shape.Barrier();
    }
    SortGroups(memory.structures, TopKScores(memory, x.src, all, shape), index, all, shape.at);
    PackStructures(x.value, memory.structures, memory.merged.template ReinterpretCast<U>(), 0, shape);
    PackStructures(x.index.template ReinterpretCast<uint32_t>(), memory.structures.template ReinterpretCast<uint32_t>(),
                   memory.merged.template ReinterpretCast<uint32_t>(), 1, shape);
    if (!shape.isLargest) {
        AscendC::Muls(x.value, x.value, static_cast<T>(-1.0f), static_cast<int32_t>(shape.rows * shape.k), shape.at);
        shape.Barrier();
    }
}

PITON_API TopKShape CheckedTopK(const AscendC::TopKInfo &info, int32_t k, bool isLargest, Location at) {
    RequireRange("TopK", 8, info.inner % int32_t(kSortedAtOnce), 0, 0, at);
    RequireRange("TopK", 8, info.n, 1, info.inner, at);
    RequireRange("TopK", 6, k, 1, info.n, at);
    return {static_cast<uint32_t>(info.outter), static_cast<uint32_t>(info.inner), static_cast<uint32_t>(info.n), static_cast<uint32_t>(k), isLargest, at};
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false, enum TopKMode topkMode = TopKMode::TOPK_NORMAL,
          typename Tiling>
PITON_API void TopK(const LocalTensor<T> &dstValueLocal, const LocalTensor<int32_t> &dstIndexLocal, const LocalTensor<T> &srcLocal,
                    const LocalTensor<int32_t> &srcIndexLocal, const LocalTensor<bool> &finishLocal, const LocalTensor<uint8_t> &tmpLocal, const int32_t k,
                    const Tiling &, const TopKInfo &topKInfo, const bool isLargest = true, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("TopK", piton::kIsFloat<T>, "half, float");
    static_assert(topkMode == TopKMode::TOPK_NORMAL || !isHasfinish, "TopK in Small mode has no finished rows");
    const piton::TopKTensors<T> tensors{dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal};
    const piton::TopKShape shape = piton::CheckedTopK(topKInfo, k, isLargest, at);
    if constexpr (topkMode == TopKMode::TOPK_NORMAL) {
        piton::TopKOfRows<isInitIndex, isHasfinish>(tensors, tmpLocal, shape);
    } else {
        piton::TopKOfShortRows<isInitIndex>(tensors, tmpLocal, shape);
    }
}
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false, enum TopKMode topkMode = TopKMode::TOPK_NORMAL,
          typename Tiling>
PITON_API void TopK(const LocalTensor<T> &dstValueLocal, const LocalTensor<int32_t> &dstIndexLocal, const LocalTensor<T> &srcLocal,
                    const LocalTensor<int32_t> &srcIndexLocal, const LocalTensor<bool> &finishLocal, const int32_t k, const Tiling &tiling,
                    const TopKInfo &topKInfo, const bool isLargest = true, piton::Location at = piton::Location()) {
    TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal,
                                                            GetTPipePtr(at)->UnusedMemory(at), k, tiling, topKInfo, isLargest, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_TOP_K_H */
