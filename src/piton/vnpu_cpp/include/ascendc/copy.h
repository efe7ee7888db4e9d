/*
 * DataCopy and DataCopyPad between global memory and UB or L1, and inside UB.
 *
 * Problem: the calls count in elements, 32-byte blocks or bytes, and their gaps run from the end of a block to the start of the next, on either side in its
 * own unit.
 * Approach: everything becomes bytes in the record: p = {blocks, bytes per block, source gap, destination gap}. A gap on the UB side of DataCopyPad starts
 * at the block's end rounded up to 32 bytes; the record holds the gap from there. Documented limits are checked here, alignment and bounds by the engine.
 * Limits: of the format conversions only Nd2Nz into L1 and, in copy_format.h, into UB; of the memories around the cube unit only the bias table (LoadData and
 * Fixpipe serve the others); slices are in copy_slice.h. Which core has which memory is the engine's to check.
 */
#ifndef PITON_ASCENDC_COPY_H
#define PITON_ASCENDC_COPY_H

#include "constants.h"
#include "copy_format.h"
#include "params.h"
#include "tensor.h"

namespace piton {

constexpr int64_t kMaxPadBlockBytes = 2097151; /* page of DataCopyPad */
constexpr uint32_t kMaxPadBytes = 32;

/* The pipe of a copy between two memories. */
PITON_API uint8_t CopyPipe(const vnpu_operand &dst, const vnpu_operand &src) {
    if (src.space == VNPU_SPACE_GM) {
        return VNPU_PIPE_MTE2;
    }
    if (dst.space == VNPU_SPACE_BT) {
        return VNPU_PIPE_MTE1;
    }
    if (dst.space == VNPU_SPACE_FB) {
        return VNPU_PIPE_FIX;
    }
    return dst.space == VNPU_SPACE_GM ? VNPU_PIPE_MTE3 : VNPU_PIPE_V;
}

PITON_API void SubmitCopy(const vnpu_operand &dst, const vnpu_operand &src, const Blocks &blocks, uint8_t flags, Location at) {
    vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY, CopyPipe(dst, src), dst, src, blocks, at);
    record.flags = flags;
    Submit(record);
}

template <typename T>
PITON_API Blocks ElementsAsBlock(uint32_t count, Location at) {
    RequireRange("DataCopy", 2, count, 0, static_cast<int64_t>(UINT32_MAX / sizeof(T)), at);
    return {1, static_cast<uint32_t>(BytesOf<T>(count)), 0, 0};
}

PITON_API Blocks InBytes(const AscendC::DataCopyParams &params, Location at) {
    RequireRange("DataCopy", 2, params.blockCount, 0, kMaxBlockCount, at);
    return {params.blockCount, params.blockLen * kBlockBytes, params.srcGap * kBlockBytes, params.dstGap * kBlockBytes};
}

/* Into the bias table lengths and the gaps there count 64 bytes, into the fixpipe buffer 128. */
PITON_API Blocks InBytesOnChip(const AscendC::DataCopyParams &params, uint8_t destination, Location at) {
    Blocks blocks = InBytes(params, at);
    if (destination == VNPU_SPACE_BT) {
        blocks.bytes *= 2;
        blocks.destinationGap *= 2;
    }
    if (destination == VNPU_SPACE_FB) { /* 128 bytes, and steps from start to start */
        blocks.bytes *= 4;
        blocks.destinationGap *= 4;
    }
    return blocks;
}

PITON_API void RequirePadLimits(uint32_t count, uint32_t bytes, Location at) {
    RequireRange("DataCopyPad", 2, count, 0, kMaxBlockCount, at);
    RequireRange("DataCopyPad", 2, bytes, 0, kMaxPadBlockBytes, at);
}

/* The documented ranges; with one matrix the steps between matrices mean nothing. */
PITON_API void RequireNd2NzLimits(const AscendC::Nd2NzParams &params, Location at) {
    constexpr int64_t kMost = 16384; /* rows and steps on chip */
    RequireRange("DataCopy", 2, params.ndNum, 0, kMaxBlockCount, at);
    RequireRange("DataCopy", 2, params.nValue, 0, kMost, at);
    RequireRange("DataCopy", 2, params.srcDValue, 1, UINT16_MAX, at);
    RequireRange("DataCopy", 2, params.dstNzC0Stride, 1, kMost, at);
    RequireRange("DataCopy", 2, params.dstNzNStride, 1, kMost, at);
    RequireRange("DataCopy", 2, params.dstNzMatrixStride, 0, kMost, at);
}

/* `perByte` elements of a byte, or `elementBytes` bytes of an element. */
PITON_API void SubmitNd2Nz(const vnpu_operand &dst, const vnpu_operand &src, const AscendC::Nd2NzParams &params, const ElementSize &element, uint8_t flags,
                           Location at) {
    RequireNd2NzLimits(params, at);
    const MatrixCopy copy(params, element);
    if (dst.space == VNPU_SPACE_UB) {
        return copy.IntoUnifiedBuffer(dst, src, flags, at);
    }
    vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY_ND2NZ, VNPU_PIPE_MTE2, dst, src, {copy.rows, copy.rowBytes, copy.rowStep, copy.matrices}, at);
    record.flags = flags;
    record.mask[0] = uint64_t(copy.unitStep) | uint64_t(copy.chipRowStep) << 32;
    if (params.ndNum > 1) {
        record.mask[1] = uint64_t(copy.matrixStep) | uint64_t(copy.chipMatrixStep) << 32;
    }
    Submit(record);
}

/* Global memory to UB: `gap` of the source in bytes, of the destination in 32-byte blocks. */
template <typename T>
PITON_API void SubmitPadIn(const AscendC::LocalTensor<T> &dst, const AscendC::GlobalTensor<T> &src, uint32_t count, uint32_t bytes, uint32_t sourceGap,
                           uint32_t destinationBlocks, const AscendC::DataCopyPadExtParams<T> &pad, Location at) {
    RequirePadLimits(count, bytes, at);
    RequireRange("DataCopyPad", 2, bytes % sizeof(T), 0, 0, at);
    RequireRange("DataCopyPad", 3, pad.leftPadding * sizeof(T), 0, kMaxPadBytes, at);
    RequireRange("DataCopyPad", 3, pad.rightPadding * sizeof(T), 0, kMaxPadBytes, at);
    if (sizeof(T) == 8 && pad.isPad && (pad.leftPadding || pad.rightPadding)) {
        RequireRange("DataCopyPad", 3, ToBits(pad.paddingValue), 0, 0, at); /* 64-bit types are padded with 0 only */
    }
    const Blocks blocks{count, bytes, sourceGap, destinationBlocks * kBlockBytes};
    vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY_PAD, VNPU_PIPE_MTE2, dst.Operand(), src.Operand(), blocks, at);
    record.flags = src.CopyFlags();
    record.scalar = ToBits(pad.paddingValue);
    record.mask[0] = uint64_t(pad.leftPadding) | uint64_t(pad.rightPadding) << 8 | uint64_t(pad.isPad) << 16;
    Submit(record);
}

template <typename T>
PITON_API void SubmitPadOut(const AscendC::GlobalTensor<T> &dst, const AscendC::LocalTensor<T> &src, uint32_t count, uint32_t bytes, uint32_t sourceBlocks,
                            uint32_t destinationGap, Location at) {
    RequirePadLimits(count, bytes, at);
    const Blocks blocks{count, bytes, sourceBlocks * kBlockBytes, destinationGap};
    vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY_PAD, VNPU_PIPE_MTE3, dst.Operand(), src.Operand(), blocks, at);
    record.flags = dst.CopyFlags();
    Submit(record);
}

}  // namespace piton

namespace AscendC {

template <typename T>
PITON_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const uint32_t count, piton::Location at = piton::Location()) {
    piton::SubmitCopy(dst.Operand(), src.Operand(), piton::ElementsAsBlock<T>(count, at), src.CopyFlags(), at);
}

template <typename T>
PITON_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count, piton::Location at = piton::Location()) {
    piton::SubmitCopy(dst.Operand(), src.Operand(), piton::ElementsAsBlock<T>(count, at), dst.CopyFlags(), at);
}

template <typename T>
PITON_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count, piton::Location at = piton::Location()) {
    piton::SubmitCopy(dst.Operand(), src.Operand(), piton::ElementsAsBlock<T>(count, at), 0, at);
}

template <typename T>
PITON_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &repeatParams, piton::Location at = piton::Location()) {
    piton::SubmitCopy(dst.Operand(), src.Operand(), piton::InBytes(repeatParams, at), src.CopyFlags(), at);
}

template <typename T>
PITON_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &repeatParams, piton::Location at = piton::Location()) {
    piton::SubmitCopy(dst.Operand(), src.Operand(), piton::InBytes(repeatParams, at), dst.CopyFlags(), at);
}

template <typename T>
PITON_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &repeatParams, piton::Location at = piton::Location()) {
    piton::SubmitCopy(dst.Operand(), src.Operand(), piton::InBytesOnChip(repeatParams, dst.Operand().space, at), 0, at);
}

template <typename T>
PITON_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &intriParams, piton::Location at = piton::Location()) {
    static_assert(sizeof(T) <= 4, "DataCopy with Nd2NzParams takes types of at most 4 bytes on the Ascend 910B");
    piton::SubmitNd2Nz(dst.Operand(), src.Operand(), intriParams, piton::ElementSize::Of<T>(), src.CopyFlags(), at);
}

/* Into the bias table, a half becoming a float; lengths count 64 bytes of the source. */
template <typename T, typename U, typename = std::enable_if_t<!std::is_same<T, U>::value>>
PITON_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyParams &repeatParams, piton::Location at = piton::Location()) {
    static_assert(std::is_same<T, float>::value && std::is_same<U, half>::value,
                  "DataCopy between two types goes from half in L1 to float in the bias table on the Ascend 910B; use Cast in the unified buffer");
    piton::RequireRange("DataCopy", 0, static_cast<uint32_t>(dst.Operand().space), VNPU_SPACE_BT, VNPU_SPACE_BT, at);
    piton::SubmitCopy(dst.Operand(), src.Operand(), piton::InBytesOnChip(repeatParams, VNPU_SPACE_BT, at), 0, at);
}

template <typename T>
PITON_API void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &dataCopyParams,
                           const DataCopyPadExtParams<T> &padParams, piton::Location at = piton::Location()) {
    const DataCopyExtParams &copy = dataCopyParams;
    piton::SubmitPadIn(dst, src, copy.blockCount, copy.blockLen, copy.srcStride, copy.dstStride, padParams, at);
}

template <typename T>
PITON_API void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &dataCopyParams, const DataCopyPadParams &padParams,
                           piton::Location at = piton::Location()) {
    DataCopyPadExtParams<T> pad;
    pad.isPad = padParams.isPad;
    pad.leftPadding = padParams.leftPadding;
    pad.rightPadding = padParams.rightPadding;
    pad.paddingValue = piton::FromBits<T>(padParams.paddingValue);
    const DataCopyParams &copy = dataCopyParams;
    piton::SubmitPadIn(dst, src, copy.blockCount, copy.blockLen, copy.srcGap, copy.dstGap, pad, at);
}

template <typename T>
PITON_API void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &dataCopyParams,
                           piton::Location at = piton::Location()) {
    const DataCopyExtParams &copy = dataCopyParams;
    piton::SubmitPadOut(dst, src, copy.blockCount, copy.blockLen, copy.srcStride, copy.dstStride, at);
}

template <typename T>
PITON_API void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &dataCopyParams,
                           piton::Location at = piton::Location()) {
    const DataCopyParams &copy = dataCopyParams;
    piton::SubmitPadOut(dst, src, copy.blockCount, copy.blockLen, copy.srcGap, copy.dstGap, at);
}

/* The filler of DataCopyPad where neither rule of the documentation says what it is. */
template <typename T, TPosition pos = TPosition::MAX>
PITON_API void SetPadValue(T paddingValue, piton::Location at = piton::Location()) {
    vnpu_record record = piton::MakeRecord(VNPU_OP_SET_PAD_VALUE, VNPU_PIPE_MTE2, at);
    record.scalar = piton::ToBits(paddingValue);
    record.dst.dtype = piton::kDtype<T>;
    piton::Submit(record);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_COPY_H */
