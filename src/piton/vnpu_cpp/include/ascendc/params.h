/*
 * Parameter structures of copies and of the mask/repeat/stride forms, field by field as documented.
 *
 * Problem: fields are narrow; a run-time value that does not fit is cut silently on the chip.
 * Approach: constructors take piton::Narrow and report such a value with the line of the construction.
 * Limits: an assignment to a field (`params.blockCount = n`) is cut as on the chip, unseen.
 */
#ifndef PITON_ASCENDC_PARAMS_H
#define PITON_ASCENDC_PARAMS_H

#include "record.h"

namespace AscendC {

/* Lengths and gaps in 32-byte blocks. */
struct DataCopyParams {
    PITON_API DataCopyParams() {}
    PITON_API DataCopyParams(piton::Narrow<uint16_t> count, piton::Narrow<uint16_t> len, piton::Narrow<uint16_t> srcGapIn, piton::Narrow<uint16_t> dstGapIn,
                             piton::Location at = piton::Location())
        : blockCount(count.Get("DataCopyParams", 0, at)),
          blockLen(len.Get("DataCopyParams", 1, at)),
          srcGap(srcGapIn.Get("DataCopyParams", 2, at)),
          dstGap(dstGapIn.Get("DataCopyParams", 3, at)) {}

    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    union {
        uint16_t srcGap = 0;
        uint16_t srcStride;
    };
    union {
        uint16_t dstGap = 0;
        uint16_t dstStride;
    };
};

/* Length in bytes; the gap on the GM side in bytes, on the UB side in 32-byte blocks. */
struct DataCopyExtParams {
    PITON_API DataCopyExtParams() {}
    PITON_API DataCopyExtParams(piton::Narrow<uint16_t> count, piton::Narrow<uint32_t> len, piton::Narrow<uint32_t> srcStrideIn,
                                piton::Narrow<uint32_t> dstStrideIn, piton::Narrow<uint32_t> rsvIn, piton::Location at = piton::Location())
        : blockCount(count.Get("DataCopyExtParams", 0, at)),
          blockLen(len.Get("DataCopyExtParams", 1, at)),
          srcStride(srcStrideIn.Get("DataCopyExtParams", 2, at)),
          dstStride(dstStrideIn.Get("DataCopyExtParams", 3, at)),
          rsv(rsvIn.Get("DataCopyExtParams", 4, at)) {}

    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    uint32_t srcStride = 0;
    uint32_t dstStride = 0;
    uint32_t rsv = 0;
};

/* Paddings in elements. */
struct DataCopyPadParams {
    PITON_API DataCopyPadParams() {}
    PITON_API DataCopyPadParams(bool isPadIn, piton::Narrow<uint8_t> left, piton::Narrow<uint8_t> right, uint64_t value, piton::Location at = piton::Location())
        : isPad(isPadIn), leftPadding(left.Get("DataCopyPadParams", 1, at)), rightPadding(right.Get("DataCopyPadParams", 2, at)), paddingValue(value) {}

    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
    PITON_API DataCopyPadExtParams() {}
    PITON_API DataCopyPadExtParams(bool isPadIn, piton::Narrow<uint8_t> left, piton::Narrow<uint8_t> right, T value, piton::Location at = piton::Location())
        : isPad(isPadIn), leftPadding(left.Get("DataCopyPadExtParams", 1, at)), rightPadding(right.Get("DataCopyPadExtParams", 2, at)), paddingValue(value) {}

    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = {};
};

/*
 * Matrices whose rows become columns of 32-byte units (C0) on the way to L1: ndNum matrices of nValue rows and dValue columns. Steps in global memory count
 * elements; on chip dstNzC0Stride (unit to unit of a row) and dstNzNStride (row to row) count 32 bytes, dstNzMatrixStride elements.
 */
struct Nd2NzParams {
    PITON_API Nd2NzParams() {}
    PITON_API Nd2NzParams(piton::Narrow<uint16_t> matrices, piton::Narrow<uint16_t> rows, piton::Narrow<uint16_t> columns, piton::Narrow<uint16_t> srcMatrix,
                          piton::Narrow<uint16_t> srcRow, piton::Narrow<uint16_t> c0, piton::Narrow<uint16_t> row, piton::Narrow<uint16_t> dstMatrix,
                          piton::Location at = piton::Location())
        : ndNum(matrices.Get("Nd2NzParams", 0, at)),
          nValue(rows.Get("Nd2NzParams", 1, at)),
          dValue(columns.Get("Nd2NzParams", 2, at)),
          srcNdMatrixStride(srcMatrix.Get("Nd2NzParams", 3, at)),
          srcDValue(srcRow.Get("Nd2NzParams", 4, at)),
          dstNzC0Stride(c0.Get("Nd2NzParams", 5, at)),
          dstNzNStride(row.Get("Nd2NzParams", 6, at)),
          dstNzMatrixStride(dstMatrix.Get("Nd2NzParams", 7, at)) {}

    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 0;
    uint16_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint16_t dstNzMatrixStride = 0;
};

/* Strides in 32-byte blocks: blk inside a repeat, rep between repeats. */
struct UnaryRepeatParams {
    PITON_API UnaryRepeatParams() {}
    PITON_API UnaryRepeatParams(piton::Narrow<uint16_t> dstBlk, piton::Narrow<uint16_t> srcBlk, piton::Narrow<uint8_t> dstRep, piton::Narrow<uint8_t> srcRep,
                                piton::Location at = piton::Location())
        : dstBlkStride(dstBlk.Get("UnaryRepeatParams", 0, at)),
          srcBlkStride(srcBlk.Get("UnaryRepeatParams", 1, at)),
          dstRepStride(dstRep.Get("UnaryRepeatParams", 2, at)),
          srcRepStride(srcRep.Get("UnaryRepeatParams", 3, at)) {}

    PITON_API UnaryRepeatParams(piton::Narrow<uint16_t> dstBlk, piton::Narrow<uint16_t> srcBlk, piton::Narrow<uint8_t> dstRep, piton::Narrow<uint8_t> srcRep,
                                bool halfBlockIn, piton::Location at = piton::Location())
        : UnaryRepeatParams(dstBlk, srcBlk, dstRep, srcRep, at) {
        halfBlock = halfBlockIn;
    }

    uint32_t blockNumber = 8;
    uint16_t dstBlkStride = 1;
    uint16_t srcBlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t srcRepStride = 8;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;
};

struct BinaryRepeatParams {
    PITON_API BinaryRepeatParams() {}
    PITON_API BinaryRepeatParams(piton::Narrow<uint8_t> dstBlk, piton::Narrow<uint8_t> src0Blk, piton::Narrow<uint8_t> src1Blk, piton::Narrow<uint8_t> dstRep,
                                 piton::Narrow<uint8_t> src0Rep, piton::Narrow<uint8_t> src1Rep, piton::Location at = piton::Location())
        : dstBlkStride(dstBlk.Get("BinaryRepeatParams", 0, at)),
          src0BlkStride(src0Blk.Get("BinaryRepeatParams", 1, at)),
          src1BlkStride(src1Blk.Get("BinaryRepeatParams", 2, at)),
          dstRepStride(dstRep.Get("BinaryRepeatParams", 3, at)),
          src0RepStride(src0Rep.Get("BinaryRepeatParams", 4, at)),
          src1RepStride(src1Rep.Get("BinaryRepeatParams", 5, at)) {}

    uint32_t blockNumber = 8;
    uint8_t dstBlkStride = 1;
    uint8_t src0BlkStride = 1;
    uint8_t src1BlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t src0RepStride = 8;
    uint8_t src1RepStride = 8;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

struct CopyRepeatParams {
    PITON_API CopyRepeatParams() {}
    PITON_API CopyRepeatParams(piton::Narrow<uint16_t> dstBlk, piton::Narrow<uint16_t> srcBlk, piton::Narrow<uint16_t> dstRep, piton::Narrow<uint16_t> srcRep,
                               piton::Location at = piton::Location())
        : dstStride(dstBlk.Get("CopyRepeatParams", 0, at)),
          srcStride(srcBlk.Get("CopyRepeatParams", 1, at)),
          dstRepeatSize(dstRep.Get("CopyRepeatParams", 2, at)),
          srcRepeatSize(srcRep.Get("CopyRepeatParams", 3, at)) {}

    uint16_t dstStride = 1;
    uint16_t srcStride = 1;
    uint16_t dstRepeatSize = 8;
    uint16_t srcRepeatSize = 8;
};

struct BrcbRepeatParams {
    PITON_API BrcbRepeatParams() {}
    PITON_API BrcbRepeatParams(piton::Narrow<uint16_t> dstBlk, piton::Narrow<uint16_t> dstRep, piton::Location at = piton::Location())
        : dstBlkStride(dstBlk.Get("BrcbRepeatParams", 0, at)), dstRepStride(dstRep.Get("BrcbRepeatParams", 1, at)) {}

    uint32_t blockNumber = 8;
    uint16_t dstBlkStride = 1;
    uint16_t dstRepStride = 8;
};

struct GatherMaskParams {
    PITON_API GatherMaskParams() {}
    PITON_API GatherMaskParams(piton::Narrow<uint8_t> src0Blk, piton::Narrow<uint16_t> repeats, piton::Narrow<uint16_t> src0Rep, piton::Narrow<uint8_t> src1Rep,
                               piton::Location at = piton::Location())
        : src0BlockStride(src0Blk.Get("GatherMaskParams", 0, at)),
          repeatTimes(repeats.Get("GatherMaskParams", 1, at)),
          src0RepeatStride(src0Rep.Get("GatherMaskParams", 2, at)),
          src1RepeatStride(src1Rep.Get("GatherMaskParams", 3, at)) {}

    uint8_t src0BlockStride = 1;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = 0;
    uint8_t src1RepeatStride = 0;
};

struct GatherRepeatParams {
    PITON_API GatherRepeatParams() {}
    PITON_API GatherRepeatParams(piton::Narrow<uint8_t> dstBlk, piton::Narrow<uint8_t> dstRep, piton::Location at = piton::Location())
        : dstBlkStride(dstBlk.Get("GatherRepeatParams", 0, at)), dstRepStride(dstRep.Get("GatherRepeatParams", 1, at)) {}

    uint32_t blockNumber = 8;
    uint8_t dstBlkStride = 1;
    uint8_t dstRepStride = 8;
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_PARAMS_H */
