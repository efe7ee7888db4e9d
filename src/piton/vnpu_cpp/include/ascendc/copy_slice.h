/*
 * DataCopy of slices: a box with gaps out of a tensor of up to eight dimensions.
 *
 * Problem: one call takes what many copies move; the documentation calls it emulated by software.
 * Approach: as documented per dimension: pieces from startIndex to endIndex with `stride` elements between them. The pieces of a row are the blocks of one
 * DataCopyPad, the rows of all further dimensions are walked; each row is an instruction, and costs as one.
 * Limits: the vendor's own sequence of instructions is not published.
 */
#ifndef PITON_ASCENDC_COPY_SLICE_H
#define PITON_ASCENDC_COPY_SLICE_H

#include "copy.h"

namespace AscendC {

constexpr uint32_t K_MAX_DIM = 8; /* dimensions of a slice at most: page of the sliced DataCopy */

/* Elements of one dimension; burstLen in blocks of 32 bytes in the first one, 1 in the others. */
struct SliceInfo {
    uint32_t startIndex = 0;
    uint32_t endIndex = 0;
    uint32_t stride = 0;
    uint32_t burstLen = 0;
    uint32_t shapeValue = 0;

    PITON_API SliceInfo() {}
    PITON_API SliceInfo(uint32_t start, uint32_t end, uint32_t strideIn, uint32_t burst, uint32_t shape)
        : startIndex(start), endIndex(end), stride(strideIn), burstLen(burst), shapeValue(shape) {}
};

}  // namespace AscendC

namespace piton {

/* Elements of one piece. */
template <typename T>
PITON_API uint32_t PieceOf(const AscendC::SliceInfo &slice, uint32_t dimension) {
    return dimension == 0 ? slice.burstLen * kBlockBytes / static_cast<uint32_t>(sizeof(T)) : 1;
}

/* Pieces of one dimension; the documented conditions hold. `argument` is that of the slices. */
template <typename T>
PITON_API uint32_t PiecesOf(const AscendC::SliceInfo &slice, uint32_t dimension, uint32_t argument, Location at) {
    RequireRange("DataCopy", argument, slice.burstLen, 1, dimension == 0 ? UINT16_MAX : 1, at);
    RequireRange("DataCopy", argument, slice.endIndex, slice.startIndex, slice.shapeValue, at);
    const uint32_t span = slice.endIndex - slice.startIndex + 1 + slice.stride, step = PieceOf<T>(slice, dimension) + slice.stride;
    RequireRange("DataCopy", argument, span % step, 0, 0, at); /* not a whole number of pieces */
    return span / step;
}

/* Where the rows of both sides start, row after row. */
struct SliceWalk {
    const AscendC::SliceInfo *slices;
    uint32_t dimensions;

    /* Element at which row `row` starts, counted over the pieces of all dimensions but the first. */
    PITON_API uint64_t RowStart(uint32_t row, const uint32_t *pieces) const {
        uint64_t offset = slices[0].startIndex, size = slices[0].shapeValue;
        for (uint32_t i = 1; i < dimensions; ++i) {
            offset += (slices[i].startIndex + uint64_t(row % pieces[i]) * (slices[i].stride + 1)) * size;
            row /= pieces[i];
            size *= slices[i].shapeValue;
        }
        return offset;
    }
};

/* Number of rows; fills in the pieces of each dimension, which have to be alike on both sides. */
template <typename T>
PITON_API uint32_t CountSlices(const AscendC::SliceInfo *dst, const AscendC::SliceInfo *src, uint32_t dimensions, uint32_t *pieces, Location at) {
    RequireRange("DataCopy", 4, dimensions, 1, AscendC::K_MAX_DIM, at);
    uint32_t rows = 1;
    for (uint32_t i = 0; i < dimensions; ++i) {
        pieces[i] = PiecesOf<T>(src[i], i, 3, at);
        const uint32_t there = PiecesOf<T>(dst[i], i, 2, at);
        RequireRange("DataCopy", 2, there, pieces[i], pieces[i], at);
        RequireRange("DataCopy", 2, dst[i].burstLen, src[i].burstLen, src[i].burstLen, at);
        rows *= i == 0 ? 1 : pieces[i];
    }
    return rows;
}

/* The gap on the side of the unified buffer in blocks; it has to be whole ones. */
template <typename T>
PITON_API uint32_t LocalGap(const AscendC::SliceInfo &slice, uint32_t pieces, uint32_t argument, Location at) {
    const uint64_t bytes = pieces > 1 ? uint64_t(slice.stride) * sizeof(T) : 0;
    RequireRange("DataCopy", argument, bytes % kBlockBytes, 0, 0, at);
    return static_cast<uint32_t>(bytes / kBlockBytes);
}

}  // namespace piton

namespace AscendC {

template <typename T>
PITON_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const SliceInfo dstSliceInfo[], const SliceInfo srcSliceInfo[],
                        const uint32_t dimValue = 1, piton::Location at = piton::Location()) {
    static_assert(sizeof(T) <= 4, "DataCopy of slices takes types of 1, 2 and 4 bytes on the Ascend 910B");
    uint32_t pieces[K_MAX_DIM];
    const uint32_t rows = piton::CountSlices<T>(dstSliceInfo, srcSliceInfo, dimValue, pieces, at);
    const piton::SliceWalk to{dstSliceInfo, dimValue}, from{srcSliceInfo, dimValue};
    const uint32_t gap = piton::LocalGap<T>(dstSliceInfo[0], pieces[0], 2, at), bytes = srcSliceInfo[0].burstLen * piton::kBlockBytes;
    for (uint32_t row = 0; row < rows; ++row) {
        piton::SubmitPadIn(dst[static_cast<uint32_t>(to.RowStart(row, pieces))], src[from.RowStart(row, pieces)], pieces[0], bytes,
                           srcSliceInfo[0].stride * static_cast<uint32_t>(sizeof(T)), gap, DataCopyPadExtParams<T>(), at);
    }
}

template <typename T>
PITON_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const SliceInfo dstSliceInfo[], const SliceInfo srcSliceInfo[],
                        const uint32_t dimValue = 1, piton::Location at = piton::Location()) {
    static_assert(sizeof(T) <= 4, "DataCopy of slices takes types of 1, 2 and 4 bytes on the Ascend 910B");
    uint32_t pieces[K_MAX_DIM];
    const uint32_t rows = piton::CountSlices<T>(dstSliceInfo, srcSliceInfo, dimValue, pieces, at);
    const piton::SliceWalk to{dstSliceInfo, dimValue}, from{srcSliceInfo, dimValue};
    const uint32_t gap = piton::LocalGap<T>(srcSliceInfo[0], pieces[0], 3, at), bytes = srcSliceInfo[0].burstLen * piton::kBlockBytes;
    for (uint32_t row = 0; row < rows; ++row) {
        piton::SubmitPadOut(dst[to.RowStart(row, pieces)], src[static_cast<uint32_t>(from.RowStart(row, pieces))], pieces[0], bytes, gap,
                            dstSliceInfo[0].stride * static_cast<uint32_t>(sizeof(T)), at);
    }
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_COPY_SLICE_H */
