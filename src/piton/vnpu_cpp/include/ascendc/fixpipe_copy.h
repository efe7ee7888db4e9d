/*
 * DataCopy out of L0C with DataCopyCO12DstParams, and the registers it goes by.
 *
 * Problem: the same instruction as Fixpipe, with matrices and quantisation parameters in registers of the core.
 * Approach: the record of a Fixpipe with VNPU_FIX_REGISTERS; each call of a register is a record of its own.
 * Limits: clipReluPre, eltWiseOp, SetFixPipeClipRelu and SetFixPipeAddr do not exist on the Ascend 910B: anything but 0 is refused.
 */
#ifndef PITON_ASCENDC_FIXPIPE_COPY_H
#define PITON_ASCENDC_FIXPIPE_COPY_H

#include "fixpipe.h"

namespace AscendC {

struct DataCopyCO12DstParams {
    PITON_API DataCopyCO12DstParams() {}
    PITON_API DataCopyCO12DstParams(piton::Narrow<uint16_t> columns, piton::Narrow<uint16_t> rows, piton::Narrow<uint32_t> dstStrideIn,
                                    piton::Narrow<uint16_t> srcStrideIn, const QuantMode_t quant, const uint8_t relu, const bool splits, const bool byRows,
                                    piton::Location at = piton::Location())
        : nSize(columns.Get("DataCopyCO12DstParams", 0, at)),
          mSize(rows.Get("DataCopyCO12DstParams", 1, at)),
          dstStride(dstStrideIn.Get("DataCopyCO12DstParams", 2, at)),
          srcStride(srcStrideIn.Get("DataCopyCO12DstParams", 3, at)),
          quantPre(quant),
          reluPre(relu),
          channelSplit(splits),
          nz2ndEn(byRows) {}

    uint8_t sid = 0; /* means nothing */
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint32_t dstStride = 0; /* as FixpipeParamsV220 */
    uint16_t srcStride = 0;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;
};

}  // namespace AscendC

namespace piton {

PITON_API void SubmitCopyOut(const vnpu_operand &dst, const vnpu_operand &src, const AscendC::DataCopyCO12DstParams &params, uint32_t elementBytes,
                             uint8_t flags, Location at) {
    RequireRange("DataCopy", 2, params.clipReluPre, 0, 0, at);
    RequireRange("DataCopy", 2, params.eltWiseOp, 0, 0, at);
    RequireRange("DataCopy", 2, params.reluPre, 0, 1, at);
    AscendC::FixpipeParamsV220 fix;
    fix.nSize = params.nSize, fix.mSize = params.mSize, fix.srcStride = params.srcStride, fix.dstStride = params.dstStride;
    fix.quantPre = params.quantPre, fix.reluEn = params.reluPre != 0, fix.unitFlag = params.unitFlag, fix.isChannelSplit = params.channelSplit;
    vnpu_record record = FixRecord(dst, src, fix, params.nz2ndEn && dst.space == VNPU_SPACE_GM, elementBytes, at);
    record.mask[1] |= uint64_t(VNPU_FIX_REGISTERS) << 32;
    record.flags = flags;
    Submit(record);
}

PITON_API void SubmitFixRegister(uint32_t which, uint64_t value, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_SET_FIXPIPE, at, which);
    record.scalar = value;
    Submit(record);
}

}  // namespace piton

namespace AscendC {

template <typename T, typename U>
PITON_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &intriParams,
                        piton::Location at = piton::Location()) {
    static_assert(piton::kIsFixed<T, U>,
                  "DataCopy out of L0C goes from float to float, half, bfloat16_t, int8_t, uint8_t, and from int32_t to int32_t, half, int8_t, "
                  "uint8_t on the Ascend 910B");
    piton::SubmitCopyOut(dst.Operand(), src.Operand(), intriParams, sizeof(T), dst.CopyFlags(), at);
}

template <typename T, typename U>
PITON_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &intriParams,
                        piton::Location at = piton::Location()) {
    static_assert(piton::kIsFixedToL1<T, U>,
                  "DataCopy from L0C to L1 goes from float to half, bfloat16_t, int8_t, uint8_t, and from int32_t to half, int8_t, "
                  "uint8_t on the Ascend 910B");
    piton::SubmitCopyOut(dst.Operand(), src.Operand(), intriParams, sizeof(T), 0, at);
}

PITON_API void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride, piton::Location at = piton::Location()) {
    piton::RequireRange("SetFixpipeNz2ndFlag", 1, srcNdStride, 0, 512, at);
    vnpu_record record = piton::MakeNote(VNPU_OP_SET_FIXPIPE, at, VNPU_FIX_MATRICES, ndNum, srcNdStride);
    record.p[3] = dstNdStride;
    piton::Submit(record);
}

PITON_API void SetFixpipePreQuantFlag(uint64_t config, piton::Location at = piton::Location()) { piton::SubmitFixRegister(VNPU_FIX_PARAMETER, config, at); }

/* The parameters of all columns, in the fixpipe buffer. Unit flags need no reset here: none outlives the instructions it orders. */
template <typename T, bool setRelu = false>
PITON_API void SetFixPipeConfig(const LocalTensor<T> &preData, bool isUnitFlag = false, piton::Location at = piton::Location()) {
    static_assert(!setRelu, "SetFixPipeConfig: parameters of ReLU are not supported on the Ascend 910B; setRelu = false");
    const vnpu_operand parameters = preData.Operand();
    if (isUnitFlag && parameters.space == VNPU_SPACE_L0C) {
        return;
    }
    piton::RequireRange("SetFixPipeConfig", 0, static_cast<uint32_t>(parameters.space), VNPU_SPACE_FB, VNPU_SPACE_FB, at);
    piton::SubmitFixRegister(VNPU_FIX_PARAMETERS, parameters.addr, at);
}

template <typename T>
PITON_API void SetFixPipeConfig(const LocalTensor<T> &, const LocalTensor<T> &quantPre, bool isUnitFlag = false, piton::Location at = piton::Location()) {
    SetFixPipeConfig<T, false>(quantPre, isUnitFlag, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_FIXPIPE_COPY_H */
