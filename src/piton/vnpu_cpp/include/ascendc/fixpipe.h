/*
 * Fixpipe: results out of L0C to global memory, with a change of type and layout on the way.
 *
 * Problem: strides count columns of 16 results at the source, elements or 32-byte blocks at the destination.
 * Approach: everything becomes bytes in the record; the engine checks that quantPre fits the types.
 * Limits: to global memory only, and one quantisation parameter for all columns: the forms with a tensor of them are refused.
 */
#ifndef PITON_ASCENDC_FIXPIPE_H
#define PITON_ASCENDC_FIXPIPE_H

#include "vector.h"

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
constexpr bool kIsFixed = (std::is_same<U, float>::value && kIsOneOf<T, float, half, bfloat16_t, int8_t, uint8_t>) ||
                          (std::is_same<U, int32_t>::value && kIsOneOf<T, int32_t, half, int8_t, uint8_t>);

PITON_API uint64_t FixMode(const AscendC::FixpipeParamsV220 &params, bool isByRows) {
    return params.unitFlag | (isByRows ? VNPU_FIX_ROWS : 0) | (params.reluEn ? VNPU_FIX_RELU : 0) | (params.isChannelSplit ? VNPU_FIX_SPLIT : 0) |
           uint32_t(params.quantPre) << VNPU_FIX_QUANT_SHIFT;
}

PITON_API void SubmitFixpipe(const vnpu_operand &dst, const vnpu_operand &src, const AscendC::FixpipeParamsV220 &params, bool isByRows, uint32_t elementBytes,
                             uint8_t flags, Location at) {
    constexpr uint32_t rowBytes = 64, fractalBytes = 1024; /* of 16 results */
    const uint32_t unit = isByRows ? elementBytes : kBlockBytes;
    RequireRange("Fixpipe", 2, params.unitFlag, 0, 3, at);
    RequireRange("Fixpipe", 2, params.dstStride, 0, static_cast<int64_t>(UINT32_MAX / unit), at);
    RequireRange("Fixpipe", 2, params.srcNdStride, 0, 512, at);
    vnpu_record record = MakeNote(VNPU_OP_FIXPIPE, at, params.mSize, params.nSize, params.srcStride * rowBytes);
    record.p[3] = params.dstStride * unit;
    record.pipe = VNPU_PIPE_FIX;
    record.flags = flags;
    record.dst = dst;
    record.src0 = src;
    record.scalar = params.deqScalar;
    record.mask[0] = params.ndNum | uint64_t(params.srcNdStride) * fractalBytes << 32;
    record.mask[1] = uint64_t(params.dstNdStride) * elementBytes | FixMode(params, isByRows) << 32;
    Submit(record);
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
PITON_API void Fixpipe(const GlobalTensor<T> &, const LocalTensor<U> &, const LocalTensor<uint64_t> &, const FixpipeParamsV220 &,
                       piton::Location = piton::Location()) {
    static_assert(sizeof(T) == 0, "Fixpipe with a tensor of quantisation parameters is not supported by the virtual NPU");
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_FIXPIPE_H */
