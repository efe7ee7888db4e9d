/*
 * Matrices of rows that become columns of 32-byte units: DataCopy with Nd2NzParams, as bytes.
 *
 * Problem: L1 has an instruction for it; into the unified buffer the vendor builds it of others, which are not published.
 * Approach: all steps in bytes. For the unified buffer one DataCopyPad per matrix and column of units, its last units filled up with zeros.
 * Limits: what the copies into the unified buffer cost on the chip is not published; here they cost what these cost.
 */
#ifndef PITON_ASCENDC_COPY_FORMAT_H
#define PITON_ASCENDC_COPY_FORMAT_H

#include "params.h"
#include "tensor.h"

namespace piton {

constexpr int64_t kMaxBlockCount = 4095; /* documentation pages of DataCopy and DataCopyPad */

struct Blocks {
    uint32_t count;
    uint32_t bytes;
    uint32_t sourceGap;
    uint32_t destinationGap;
};

PITON_API vnpu_record CopyRecord(uint16_t opcode, uint8_t pipe, const vnpu_operand &dst, const vnpu_operand &src, const Blocks &blocks, Location at) {
    vnpu_record record = MakeNote(opcode, at, blocks.count, blocks.bytes, blocks.sourceGap);
    record.p[3] = blocks.destinationGap;
    record.pipe = pipe;
    record.dst = dst;
    record.src0 = src;
    return record;
}

/* Bytes of an element; 4-bit elements share one. */
/* Two int4b_t count as one element here, as public kernels halve the lengths they give. */
struct ElementSize {
    uint32_t bits;

    template <typename T>
    PITON_API static ElementSize Of() {
        return {static_cast<uint32_t>(8 * sizeof(T))};
    }
    PITON_API uint32_t Bytes(uint32_t elements) const { return static_cast<uint32_t>(uint64_t(elements) * bits / 8); }
};

/* Nd2NzParams in bytes. */
struct MatrixCopy {
    PITON_API MatrixCopy(const AscendC::Nd2NzParams &params, const ElementSize &element)
        : matrices(params.ndNum),
          rows(params.nValue),
          rowBytes(element.Bytes(params.dValue)),
          rowStep(element.Bytes(params.srcDValue)),
          matrixStep(element.Bytes(params.srcNdMatrixStride)),
          unitStep(params.dstNzC0Stride * kBlockBytes),
          chipRowStep(params.dstNzNStride * kBlockBytes),
          chipMatrixStep(element.Bytes(params.dstNzMatrixStride)) {}

    PITON_API void IntoUnifiedBuffer(const vnpu_operand &dst, const vnpu_operand &src, uint8_t flags, Location at) const {
        for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
            for (uint32_t unit = 0; unit * kBlockBytes < rowBytes; ++unit) {
                Column(dst, src, matrix, unit, flags, at);
            }
        }
    }

    uint32_t matrices, rows, rowBytes, rowStep, matrixStep;
    uint32_t unitStep, chipRowStep, chipMatrixStep;

private:
    /* One unit of every row; rows closer than a unit can not be told by a gap and go one by one. */
    PITON_API void Column(const vnpu_operand &dst, const vnpu_operand &src, uint32_t matrix, uint32_t unit, uint8_t flags, Location at) const {
        const uint32_t bytes = std::min(rowBytes - unit * kBlockBytes, kBlockBytes);
        const uint32_t most = rowStep < bytes ? 1 : static_cast<uint32_t>(kMaxBlockCount);
        for (uint32_t row = 0; row < rows; row += most) {
            vnpu_operand to = dst, from = src;
            const uint64_t into = uint64_t(matrix) * chipMatrixStep + uint64_t(unit) * unitStep + uint64_t(row) * chipRowStep;
            to.addr += into;
            to.limit -= static_cast<uint32_t>(std::min<uint64_t>(into, to.limit));
            from.addr += uint64_t(matrix) * matrixStep + uint64_t(row) * rowStep + unit * kBlockBytes;
            to.dtype = from.dtype = VNPU_DT_U8;
            vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY_PAD, VNPU_PIPE_MTE2, to, from,
                                            {std::min(rows - row, most), bytes, most == 1 ? 0 : rowStep - bytes, chipRowStep - kBlockBytes}, at);
            record.mask[0] = uint64_t(kBlockBytes - bytes) << 8 | 1 << 16;
            record.flags = flags;
            Submit(record);
        }
    }
};

}  // namespace piton

#endif /* PITON_ASCENDC_COPY_FORMAT_H */
