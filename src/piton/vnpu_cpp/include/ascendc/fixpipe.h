/*
 * Fixpipe: results out of L0C to global memory or L1, with a change of type and layout on the way.
 *
 * Problem: strides count columns of 16 results at the source, elements or 32-byte blocks at the destination.
 * Approach: everything becomes bytes in the record; the engine checks that quantPre fits the types.
 * A tensor of parameters is copied into the fixpipe buffer first, as many columns at a time as that holds.
 * Limits: what the Ascend 910B has: into L1 always by columns (NZ), and no float or int32_t there.
 */
#ifndef PITON_ASCENDC_FIXPIPE_H
#define PITON_ASCENDC_FIXPIPE_H

#include "copy.h"
#include "cube.h"

/* How Fixpipe changes the type; the V forms have a parameter per column. */
enum QuantMode_t { NoQuant, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8_PRE, VQF322B8_PRE, REQ8, VREQ8 };

namespace AscendC {

using ::QuantMode_t;

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR };

struct FixpipeConfig {
    CO2Layout format;
    bool isToUB = false;
};
inline constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

struct FixpipeParamsV220 {
    PITON_API FixpipeParamsV220() {}
    PITON_API FixpipeParamsV220(piton::Narrow<uint16_t> columns, piton::Narrow<uint16_t> rows, piton::Narrow<uint16_t> srcStrideIn,
                                piton::Narrow<uint32_t> dstStrideIn, const bool relu, piton::Location at = piton::Location())
        : nSize(columns.Get("FixpipeParamsV220", 0, at)),
          mSize(rows.Get("FixpipeParamsV220", 1, at)),
          srcStride(srcStrideIn.Get("FixpipeParamsV220", 2, at)),
          dstStride(dstStrideIn.Get("FixpipeParamsV220", 3, at)),
          reluEn(relu) {}
    PITON_API FixpipeParamsV220(piton::Narrow<uint16_t> columns, piton::Narrow<uint16_t> rows, piton::Narrow<uint16_t> srcStrideIn,
                                piton::Narrow<uint32_t> dstStrideIn, const bool relu, const QuantMode_t quant, const uint64_t scalar,
                                piton::Narrow<uint16_t> matrices, piton::Narrow<uint16_t> srcNd, piton::Narrow<uint16_t> dstNd, const uint8_t flag,
                                piton::Location at = piton::Location())
        : FixpipeParamsV220(columns, rows, srcStrideIn, dstStrideIn, relu, at) {
        quantPre = quant;
        deqScalar = scalar;
        ndNum = matrices.Get("FixpipeParamsV220", 7, at);
        srcNdStride = srcNd.Get("FixpipeParamsV220", 8, at);
        dstNdStride = dstNd.Get("FixpipeParamsV220", 9, at);
        unitFlag = flag;
    }

    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0; /* rows of 16 results from 16 columns to the next 16 */
    uint32_t dstStride = 0; /* row by row: elements of a row; otherwise blocks of 32 bytes from columns to columns */
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;       /* it and the next two: row by row only */
    uint16_t srcNdStride = 0; /* in fractals of 16 x 16 results */
    uint16_t dstNdStride = 0; /* in elements */
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

}  // namespace AscendC

namespace piton {

template <typename T, typename U>
constexpr bool kIsFixedToL1 = (std::is_same<U, float>::value && kIsOneOf<T, half, bfloat16_t, int8_t, uint8_t>) ||
                              (std::is_same<U, int32_t>::value && kIsOneOf<T, half, int8_t, uint8_t>);

template <typename T, typename U>
constexpr bool kIsFixed = (std::is_same<U, float>::value && kIsOneOf<T, float, half, bfloat16_t, int8_t, uint8_t>) ||
                          (std::is_same<U, int32_t>::value && kIsOneOf<T, int32_t, half, int8_t, uint8_t>);

PITON_API uint64_t FixMode(const AscendC::FixpipeParamsV220 &params, bool isByRows) {
    return params.unitFlag | (isByRows ? VNPU_FIX_ROWS : 0) | (params.reluEn ? VNPU_FIX_RELU : 0) | (params.isChannelSplit ? VNPU_FIX_SPLIT : 0) |
           uint32_t(params.quantPre) << VNPU_FIX_QUANT_SHIFT;
}

/* The record of a Fixpipe; with VNPU_FIX_REGISTERS in the mode its matrices and parameters are in registers. */
PITON_API vnpu_record FixRecord(const vnpu_operand &dst, const vnpu_operand &src, const AscendC::FixpipeParamsV220 &params, bool isByRows,
                                uint32_t elementBytes, Location at) {
    constexpr uint32_t rowBytes = 64, fractalBytes = 1024; /* of 16 results */
    const uint32_t unit = isByRows ? elementBytes : kBlockBytes;
    RequireRange("Fixpipe", 2, params.unitFlag, 0, 3, at);
    RequireRange("Fixpipe", 2, params.dstStride, 0, static_cast<int64_t>(UINT32_MAX / unit), at);
    RequireRange("Fixpipe", 2, params.srcNdStride, 0, 512, at);
    vnpu_record record = MakeNote(VNPU_OP_FIXPIPE, at, params.mSize, params.nSize, params.srcStride * rowBytes);
    record.p[3] = params.dstStride * unit;
    record.pipe = VNPU_PIPE_FIX;
    record.dst = dst;
    record.src0 = src;
    record.scalar = params.deqScalar;
    record.mask[0] = params.ndNum | uint64_t(params.srcNdStride) * fractalBytes << 32;
    record.mask[1] = uint64_t(params.dstNdStride) * elementBytes | FixMode(params, isByRows) << 32;
    return record;
}

PITON_API void SubmitFixpipe(const vnpu_operand &dst, const vnpu_operand &src, const AscendC::FixpipeParamsV220 &params, bool isByRows, uint32_t elementBytes,
                             uint8_t flags, Location at) {
    vnpu_record record = FixRecord(dst, src, params, isByRows, elementBytes, at);
    record.flags = flags;
    Submit(record);
}

struct FixTarget {
    bool isByRows;
    uint32_t elementBytes;
    uint8_t flags;
};

PITON_API void BarrierOfFix(Location at) {
    vnpu_record record = MakeNote(VNPU_OP_BARRIER, at, VNPU_PIPE_FIX);
    record.pipe = VNPU_PIPE_FIX;
    Submit(record);
}

/* Columns [first, first + count) with their parameters, which lie in L1 one after another. */
PITON_API void FixPart(const vnpu_record &whole, const vnpu_operand &parameters, uint32_t first, uint32_t count, const FixTarget &target, Location at) {
    constexpr uint32_t parameterBytes = 8, unit = 128, side = 16;
    vnpu_operand buffer{};
    buffer.limit = kUnbounded;
    buffer.space = VNPU_SPACE_FB;
    buffer.dtype = VNPU_DT_U64;
    BarrierOfFix(at); /* what is in the buffer has been used */
    SubmitCopy(buffer, After(parameters, uint64_t(first) * parameterBytes), {1, (count * parameterBytes + unit - 1) / unit * unit, 0, 0}, 0, at);
    BarrierOfFix(at);
    vnpu_record record = whole;
    const uint32_t strip = target.elementBytes == 1 ? 2 * side : side;
    record.p[1] = count;
    record.src0 = After(whole.src0, uint64_t(first / side) * whole.p[2]);
    record.dst = After(whole.dst, target.isByRows ? uint64_t(first) * target.elementBytes : uint64_t(first / strip) * whole.p[3]);
    record.src1 = buffer;
    record.flags = target.flags;
    Submit(record);
}

PITON_API void FixByParts(const vnpu_operand &dst, const vnpu_operand &src, const vnpu_operand &parameters, const AscendC::FixpipeParamsV220 &params,
                          const FixTarget &target, Location at) {
    constexpr uint32_t most = 512; /* columns whose parameters the fixpipe buffer holds */
    RequireRange("Fixpipe", 2, static_cast<uint32_t>(parameters.space), VNPU_SPACE_L1, VNPU_SPACE_L1, at);
    const vnpu_record whole = FixRecord(dst, src, params, target.isByRows, target.elementBytes, at);
    for (uint32_t first = 0; first < params.nSize; first += most) {
        FixPart(whole, parameters, first, params.nSize - first < most ? params.nSize - first : most, target, at);
    }
}

}  // namespace piton

namespace AscendC {

template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
PITON_API void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &intriParams, piton::Location at = piton::Location()) {
    static_assert(piton::kIsFixed<T, U>,
                  "Fixpipe on the Ascend 910B goes from float to float, half, bfloat16_t, int8_t, uint8_t, and from int32_t to int32_t, half, int8_t, uint8_t");
    piton::SubmitFixpipe(dst.Operand(), src.Operand(), intriParams, config.format == CO2Layout::ROW_MAJOR, sizeof(T), dst.CopyFlags(), at);
}

template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
PITON_API void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &intriParams, piton::Location at = piton::Location()) {
    static_assert(piton::kIsFixedToL1<T, U>,
                  "Fixpipe to L1 on the Ascend 910B goes from float to half, bfloat16_t, int8_t, uint8_t, and from int32_t to half, int8_t, uint8_t");
    piton::SubmitFixpipe(dst.Operand(), src.Operand(), intriParams, false, sizeof(T), 0, at);
}

template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
PITON_API void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<uint64_t> &cbufWorkspace, const FixpipeParamsV220 &intriParams,
                       piton::Location at = piton::Location()) {
    static_assert(piton::kIsFixed<T, U>,
                  "Fixpipe on the Ascend 910B goes from float to float, half, bfloat16_t, int8_t, uint8_t, and from int32_t to int32_t, half, int8_t, uint8_t");
    piton::FixByParts(dst.Operand(), src.Operand(), cbufWorkspace.Operand(), intriParams, {config.format == CO2Layout::ROW_MAJOR, sizeof(T), dst.CopyFlags()},
                      at);
}

template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
PITON_API void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<uint64_t> &cbufWorkspace, const FixpipeParamsV220 &intriParams,
                       piton::Location at = piton::Location()) {
    static_assert(piton::kIsFixedToL1<T, U>,
                  "Fixpipe to L1 on the Ascend 910B goes from float to half, bfloat16_t, int8_t, uint8_t, and from int32_t to half, int8_t, uint8_t");
    piton::FixByParts(dst.Operand(), src.Operand(), cbufWorkspace.Operand(), intriParams, {false, sizeof(T), 0}, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_FIXPIPE_H */
