/*
 * DataCopy with Nz2NdParamsFull: columns of 16 elements in the unified buffer that become matrices of rows in global memory.
 *
 * Problem: no instruction does it; the documentation has it as a composition.
 * Approach: one DataCopyPad per matrix and column of 16 elements, over all its rows.
 * Limits: types as documented for the Ascend 910B. In which pieces the vendor's library copies is not published.
 */
#ifndef PITON_ASCENDC_COPY_NZ2ND_H
#define PITON_ASCENDC_COPY_NZ2ND_H

#include "copy.h"

namespace AscendC {

/* Matrices, rows, columns; steps between matrices in 256 elements and between column blocks in 16 at the source; between rows and matrices in elements. */
struct Nz2NdParamsFull {
    PITON_API Nz2NdParamsFull() {}
    PITON_API Nz2NdParamsFull(const uint16_t matrices, const uint16_t rows, const uint16_t columns, const uint16_t srcMatrixStep, const uint16_t srcColumnStep,
                              const uint16_t dstRowStep, const uint16_t dstMatrixStep)
        : ndNum(matrices),
          nValue(rows),
          dValue(columns),
          srcNdMatrixStride(srcMatrixStep),
          srcNStride(srcColumnStep),
          dstDStride(dstRowStep),
          dstNdMatrixStride(dstMatrixStep) {}

    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 0;
    uint16_t srcNStride = 0;
    uint16_t dstDStride = 0;
    uint16_t dstNdMatrixStride = 0;
};

}  // namespace AscendC

namespace piton {

constexpr uint32_t kNzColumns = 16;

PITON_API void RequireNz2NdLimits(const AscendC::Nz2NdParamsFull &params, Location at) {
    constexpr int64_t kMost = 8192; /* rows and columns */
    RequireRange("DataCopy", 2, params.ndNum, 0, kMaxBlockCount, at);
    RequireRange("DataCopy", 2, params.nValue, 1, kMost, at);
    RequireRange("DataCopy", 2, params.dValue, 1, kMost, at);
    RequireRange("DataCopy", 2, params.dValue % kNzColumns, 0, 0, at);
    RequireRange("DataCopy", 2, params.dstDStride, 1, UINT16_MAX, at);
}

/* One column of all rows; rows closer than its width can not be told by a gap and go one by one. */
template <typename T>
PITON_API void CopyNzColumn(const AscendC::GlobalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::Nz2NdParamsFull &params, Location at) {
    constexpr uint32_t kBytes = kNzColumns * sizeof(T);
    const bool isClose = params.dstDStride < kNzColumns;
    const uint32_t most = isClose ? 1 : static_cast<uint32_t>(kMaxBlockCount), gap = isClose ? 0 : params.dstDStride - kNzColumns;
    for (uint32_t row = 0; row < params.nValue; row += most) {
        const uint32_t rows = params.nValue - row < most ? params.nValue - row : most;
        SubmitPadOut(dst[uint64_t(row) * params.dstDStride], src[row * kNzColumns], rows, kBytes, 0, gap * static_cast<uint32_t>(sizeof(T)), at);
    }
}

}  // namespace piton

namespace AscendC {

template <typename T>
PITON_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const Nz2NdParamsFull &intriParams, piton::Location at = piton::Location()) {
    static_assert(piton::kIsOneOf<T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float>,
                  "DataCopy with Nz2NdParamsFull takes int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float on the Ascend 910B");
    constexpr uint32_t kMatrix = 256;
    const Nz2NdParamsFull &params = intriParams;
    piton::RequireNz2NdLimits(params, at);
    for (uint32_t matrix = 0; matrix < params.ndNum; ++matrix) {
        for (uint32_t column = 0; column < params.dValue; column += piton::kNzColumns) {
            const LocalTensor<T> from = src[matrix * params.srcNdMatrixStride * kMatrix + column * params.srcNStride];
            piton::CopyNzColumn(dst[uint64_t(matrix) * params.dstNdMatrixStride + column], from, params, at);
        }
    }
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_COPY_NZ2ND_H */
