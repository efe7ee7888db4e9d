/*
 * LoadData, LoadDataWithTranspose, LoadDataWithSparse, Mmad and MmadWithSparse: fractals into L0A and L0B, and their product into L0C.
 *
 * Problem: the calls count in fractals of 512 bytes, in squares of one or two of them, or in gaps after them.
 * Approach: everything becomes bytes from start to start in the record; which source fractal comes first becomes part of the source's address.
 * Limits: the convolution form is in cube_image.h; addresses go upwards. A type that Mmad does not
 * have on the Ascend 910B is refused at compile time, a transposed LoadData of other than 2-byte elements when it runs.
 */
#ifndef PITON_ASCENDC_CUBE_H
#define PITON_ASCENDC_CUBE_H

#include "vector.h"

namespace piton {

constexpr uint32_t kFractalBytes = 512, kPlacesPerFractal = 128;

template <typename T>
constexpr bool kIsLoaded = kIsOneOf<T, AscendC::int4b_t, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float>;
template <typename T>
constexpr bool kIsLoadedTransposed = kIsOneOf<T, AscendC::int4b_t, int8_t, uint8_t, half, bfloat16_t, int32_t, uint32_t, float>;

template <typename C, typename A, typename B>
constexpr bool kIsMultiplied = std::is_same<A, B>::value && ((std::is_same<C, float>::value && kIsOneOf<A, half, bfloat16_t, float>) ||
                                                             (std::is_same<C, int32_t>::value && kIsOneOf<A, int8_t, AscendC::int4b_t>));

/* The operand from `bytes` after its start on. */
PITON_API vnpu_operand After(vnpu_operand operand, uint64_t bytes) {
    operand.addr += bytes;
    if (operand.limit == kUnbounded) {
        return operand;
    }
    operand.limit = operand.limit > bytes ? static_cast<uint32_t>(operand.limit - bytes) : 0;
    return operand;
}

PITON_API void SubmitLoad(uint16_t opcode, const vnpu_operand &dst, const vnpu_operand &src, uint32_t repeats, uint32_t sourceStep, uint32_t dstGap,
                          uint32_t fractalStep, Location at) {
    vnpu_record record = MakeNote(opcode, at, repeats, sourceStep, (dstGap + 1) * kFractalBytes);
    record.p[3] = fractalStep;
    record.pipe = VNPU_PIPE_MTE1;
    record.dst = dst;
    record.src0 = src;
    Submit(record);
}

}  // namespace piton

namespace AscendC {

struct LoadData2DParams {
    PITON_API LoadData2DParams() {}
    PITON_API LoadData2DParams(piton::Narrow<uint16_t> start, piton::Narrow<uint8_t> repeats, piton::Narrow<uint16_t> srcStrideIn, piton::Narrow<uint8_t> sidIn,
                               piton::Narrow<uint16_t> dstGapIn, const bool transposes, piton::Narrow<uint8_t> mode, piton::Location at = piton::Location())
        : startIndex(start.Get("LoadData2DParams", 0, at)),
          dstGap(dstGapIn.Get("LoadData2DParams", 4, at)),
          srcStride(srcStrideIn.Get("LoadData2DParams", 2, at)),
          ifTranspose(transposes),
          repeatTimes(repeats.Get("LoadData2DParams", 1, at)),
          sid(sidIn.Get("LoadData2DParams", 3, at)),
          addrMode(mode.Get("LoadData2DParams", 6, at)) {}

    uint16_t startIndex = 0; /* in fractals, as all of them */
    uint16_t dstGap = 0;     /* end to start */
    uint16_t srcStride = 0;  /* start to start */
    bool ifTranspose = false;
    uint8_t repeatTimes = 0;
    uint8_t sid = 0; /* means nothing */
    uint8_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

struct LoadData2dTransposeParams {
    PITON_API LoadData2dTransposeParams() {}
    PITON_API LoadData2dTransposeParams(piton::Narrow<uint16_t> start, piton::Narrow<uint8_t> repeats, piton::Narrow<uint16_t> srcStrideIn,
                                        piton::Narrow<uint16_t> dstGapIn, piton::Narrow<uint16_t> fractalGap, piton::Location at = piton::Location())
        : startIndex(start.Get("LoadData2dTransposeParams", 0, at)),
          srcStride(srcStrideIn.Get("LoadData2dTransposeParams", 2, at)),
          dstGap(dstGapIn.Get("LoadData2dTransposeParams", 3, at)),
          dstFracGap(fractalGap.Get("LoadData2dTransposeParams", 4, at)),
          repeatTimes(repeats.Get("LoadData2dTransposeParams", 1, at)) {}
    PITON_API LoadData2dTransposeParams(piton::Narrow<uint16_t> start, piton::Narrow<uint8_t> repeats, piton::Narrow<uint16_t> srcStrideIn,
                                        piton::Narrow<uint16_t> dstGapIn, piton::Narrow<uint16_t> fractalGap, piton::Narrow<uint8_t> mode,
                                        piton::Location at = piton::Location())
        : LoadData2dTransposeParams(start, repeats, srcStrideIn, dstGapIn, fractalGap, at) {
        addrMode = mode.Get("LoadData2dTransposeParams", 5, at);
    }

    uint16_t startIndex = 0; /* in squares */
    uint16_t srcStride = 0;  /* in squares, start to start */
    uint16_t dstGap = 0;     /* in fractals, end to start: from the first fractal of a repeat to that of the next */
    uint16_t dstFracGap = 0; /* in fractals, end to start: within a repeat */
    uint8_t repeatTimes = 0;
    uint8_t addrMode = 0;
};

struct MmadParams {
    PITON_API MmadParams() {}
    PITON_API MmadParams(piton::Narrow<uint16_t> rows, piton::Narrow<uint16_t> columns, piton::Narrow<uint16_t> depth, const uint8_t flag, const bool source,
                         const bool zero, piton::Location at = piton::Location())
        : m(rows.Get("MmadParams", 0, at)),
          n(columns.Get("MmadParams", 1, at)),
          k(depth.Get("MmadParams", 2, at)),
          unitFlag(flag),
          cmatrixSource(source),
          cmatrixInitVal(zero) {}
    /* The older form. */
    PITON_API MmadParams(piton::Narrow<uint16_t> rows, piton::Narrow<uint16_t> columns, piton::Narrow<uint16_t> depth, const bool adds, const int32_t offset,
                         const bool sparse, const bool winogradA, const bool winogradB, piton::Location at = piton::Location())
        : m(rows.Get("MmadParams", 0, at)),
          n(columns.Get("MmadParams", 1, at)),
          k(depth.Get("MmadParams", 2, at)),
          isBias(adds),
          fmOffset(offset),
          enSsparse(sparse),
          enWinogradA(winogradA),
          enWinogradB(winogradB) {}

    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    bool isBias = false;  /* adds to what L0C holds */
    int32_t fmOffset = 0; /* it and the next three: nothing on this chip */
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false; /* starts from the bias table, unless cmatrixInitVal */
    bool cmatrixInitVal = true; /* starts from zero */
};

template <typename T>
PITON_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &loadDataParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_TYPE("LoadData", piton::kIsLoaded<T>, "int4b_t, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float");
    const LoadData2DParams &load = loadDataParams;
    piton::RequireRange("LoadData", 2, load.addrMode, 0, 0, at);
    piton::RequireRange("LoadData", 2, static_cast<uint32_t>(load.ifTranspose), 0, sizeof(T) == 2, at);
    const vnpu_operand from = piton::After(src.Operand(), uint64_t(load.startIndex) * piton::kFractalBytes);
    piton::SubmitLoad(VNPU_OP_LOAD_DATA, dst.Operand(), from, load.repeatTimes, load.srcStride * piton::kFractalBytes, load.dstGap,
                      load.ifTranspose ? piton::kFractalBytes : 0, at);
}

/* Global memory to L1: fractals as they are, a copy of blocks. */
template <typename T>
PITON_API void LoadData(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const LoadData2DParams &loadDataParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_TYPE("LoadData from global memory", piton::kIsLoaded<T>,
                       "int4b_t, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float");
    const LoadData2DParams &load = loadDataParams;
    piton::RequireRange("LoadData", 2, load.addrMode, 0, 0, at);
    piton::RequireRange("LoadData", 2, static_cast<uint32_t>(load.ifTranspose), 0, 0, at);
    piton::RequireRange("LoadData", 2, load.srcStride, load.repeatTimes > 1 ? 1 : 0, UINT16_MAX, at);
    vnpu_record record =
        piton::MakeNote(VNPU_OP_DATA_COPY, at, load.repeatTimes, piton::kFractalBytes, (load.srcStride == 0 ? 0 : load.srcStride - 1) * piton::kFractalBytes);
    record.p[3] = load.dstGap * piton::kFractalBytes;
    record.pipe = VNPU_PIPE_MTE2;
    record.flags = src.CopyFlags();
    record.dst = dst.Operand();
    record.src0 = piton::After(src.Operand(), uint64_t(load.startIndex) * piton::kFractalBytes);
    piton::Submit(record);
}

template <typename T>
PITON_API void LoadDataWithTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2dTransposeParams &loadDataParams,
                                     piton::Location at = piton::Location()) {
    PITON_REQUIRE_TYPE("LoadDataWithTranspose", piton::kIsLoadedTransposed<T>, "int4b_t, int8_t, uint8_t, half, bfloat16_t, int32_t, uint32_t, float");
    constexpr uint32_t square = (sizeof(T) == 2 ? 1 : std::is_same<T, int4b_t>::value ? 4 : 2) * piton::kFractalBytes;
    const LoadData2dTransposeParams &load = loadDataParams;
    piton::RequireRange("LoadDataWithTranspose", 2, load.addrMode, 0, 0, at);
    piton::SubmitLoad(VNPU_OP_LOAD_DATA_TRANSPOSE, dst.Operand(), piton::After(src.Operand(), uint64_t(load.startIndex) * square), load.repeatTimes,
                      load.srcStride * square, load.dstGap, (load.dstFracGap + 1) * piton::kFractalBytes, at);
}

}  // namespace AscendC

namespace piton {

/* `mode`: VNPU_MMAD_SPARSE or nothing. */
template <uint32_t mode = 0, typename C, typename A, typename B>
PITON_API void SubmitMmad(const AscendC::LocalTensor<C> &dst, const AscendC::LocalTensor<A> &fm, const AscendC::LocalTensor<B> &filter,
                          const AscendC::MmadParams &params, const vnpu_operand *bias, Location at) {
    static_assert(kIsMultiplied<C, A, B>,
                  "Mmad on the virtual NPU multiplies half, bfloat16_t or float into float, or int8_t or int4b_t into int32_t; both operands have one type");
    RequireRange("Mmad", 3, params.unitFlag, 0, 3, at);
    const bool isZero = bias == nullptr && params.cmatrixInitVal && !params.isBias;
    const bool isFromTable = bias != nullptr || params.cmatrixSource;
    vnpu_record record = MakeNote(VNPU_OP_MMAD, at, params.m, params.n, params.k);
    record.p[3] =
        mode | params.unitFlag | (isZero ? VNPU_MMAD_ZERO : 0) | (isFromTable ? VNPU_MMAD_BIAS : 0) | (params.kDirectionAlign ? VNPU_MMAD_K_ALIGN : 0);
    record.pipe = VNPU_PIPE_M;
    record.dst = dst.Operand();
    record.src0 = fm.Operand();
    record.src1 = filter.Operand();
    record.mask[0] = bias == nullptr ? 0 : bias->addr;
    record.mask[1] = bias == nullptr ? kUnbounded : bias->limit;
    Submit(record);
}

}  // namespace piton

namespace AscendC {

template <typename T, typename U, typename S>
PITON_API void Mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter, const MmadParams &mmadParams,
                    piton::Location at = piton::Location()) {
    piton::SubmitMmad(dst, fm, filter, mmadParams, nullptr, at);
}

template <typename T, typename U, typename S, typename V>
PITON_API void Mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter, const LocalTensor<V> &bias, const MmadParams &mmadParams,
                    piton::Location at = piton::Location()) {
    static_assert(std::is_same<V, T>::value, "Mmad: the bias has the type of the result, float or int32_t");
    const vnpu_operand row = bias.Operand();
    piton::RequireRange("Mmad", 3, static_cast<uint32_t>(row.space), VNPU_SPACE_BT, VNPU_SPACE_BT, at); /* TPosition::C2 */
    piton::SubmitMmad(dst, fm, filter, mmadParams, &row, at);
}

/* `filter` keeps two of each four rows, as LoadDataWithSparse has brought them with their places; k is that of `fm`. */
template <typename T, typename U>
PITON_API void MmadWithSparse(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<U> &filter, const MmadParams &mmadParams,
                              piton::Location at = piton::Location()) {
    static_assert(std::is_same<T, int32_t>::value && std::is_same<U, int8_t>::value, "MmadWithSparse multiplies int8_t into int32_t");
    piton::RequireRange("MmadWithSparse", 3, static_cast<uint32_t>(mmadParams.kDirectionAlign), 0, 0, at);
    piton::SubmitMmad<VNPU_MMAD_SPARSE>(dst, fm, filter, mmadParams, nullptr, at);
}

/* Fractals one after another to L0B, and 128 bytes of places for each; of the parameters startIndex and repeatTimes mean something. */
template <typename T, typename U>
PITON_API void LoadDataWithSparse(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<U> &idx, const LoadData2dParams &loadDataParam,
                                  piton::Location at = piton::Location()) {
    static_assert(std::is_same<T, int8_t>::value && std::is_same<U, uint8_t>::value, "LoadDataWithSparse takes int8_t with places as uint8_t");
    vnpu_record record = piton::MakeNote(VNPU_OP_LOAD_SPARSE, at, loadDataParam.repeatTimes, 0, 0);
    record.pipe = VNPU_PIPE_MTE1;
    record.dst = dst.Operand();
    record.src0 = piton::After(src.Operand(), uint64_t(loadDataParam.startIndex) * piton::kFractalBytes);
    record.src1 = piton::After(idx.Operand(), uint64_t(loadDataParam.startIndex) * piton::kPlacesPerFractal);
    piton::Submit(record);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_CUBE_H */
