/*
 * TransDataTo5HD and Transpose.
 *
 * Problem: TransDataTo5HD works between two lists of 16 addresses.
 * Approach: as on the chip, registers get the lists first (two records), then the instruction goes by them. Addresses travel in blocks of 32 bytes.
 * Limits: types as documented for the Ascend 910B. Addresses carry no tensor, so that only the unified buffer's end bounds them. Lists that lie in a
 * LocalTensor are read by the scalar unit. Transpose of NCHW and NHWC is one instruction here (engine/transpose.cpp).
 */
#ifndef PITON_ASCENDC_TRANSPOSE_H
#define PITON_ASCENDC_TRANSPOSE_H

#include "vector.h"

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

namespace AscendC {

using ::NCHW_CONV_ADDR_LIST_SIZE;

struct TransDataTo5HDParams {
    PITON_API constexpr TransDataTo5HDParams() {}
    PITON_API constexpr TransDataTo5HDParams(const bool dstHigh, const bool srcHigh, piton::Narrow<uint8_t> repeats, piton::Narrow<uint16_t> dstRep,
                                             piton::Narrow<uint16_t> srcRep, piton::Location at = piton::Location())
        : dstHighHalf(dstHigh),
          srcHighHalf(srcHigh),
          repeatTimes(repeats.Get("TransDataTo5HDParams", 2, at)),
          dstRepStride(dstRep.Get("TransDataTo5HDParams", 3, at)),
          srcRepStride(srcRep.Get("TransDataTo5HDParams", 4, at)) {}

    bool dstHighHalf = false; /* 1-byte types only */
    bool srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0;
    uint16_t srcRepStride = 0;
};

enum class TransposeType : uint8_t {
    TRANSPOSE_TYPE_NONE,
    TRANSPOSE_NZ2ND_0213,
    TRANSPOSE_NZ2NZ_0213,
    TRANSPOSE_NZ2NZ_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITHOUT_N,
    TRANSPOSE_NZ2NZ_012_WITHOUT_N,
    TRANSPOSE_ND2ND_ONLY,
    TRANSPOSE_ND_UB_GM,
    TRANSPOSE_GRAD_ND_UB_GM,
    TRANSPOSE_ND2ND_B16,
    TRANSPOSE_NCHW2NHWC,
    TRANSPOSE_NHWC2NCHW,
};

struct TransposeParamsExt {
    PITON_API TransposeParamsExt() {}
    PITON_API TransposeParamsExt(const uint16_t n, const uint16_t c, const uint16_t h, const uint16_t w, const TransposeType type)
        : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type) {}

    uint16_t nSize = 0;
    uint16_t cSize = 0;
    uint16_t hSize = 0;
    uint16_t wSize = 0;
    TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

}  // namespace AscendC

namespace piton {

template <typename T>
constexpr bool kIsTransposed = kIsOneOf<T, int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float>;
template <typename T>
constexpr bool kIsTurned = kIsOneOf<T, int16_t, uint16_t, half>;

constexpr uint32_t kAddresses = 16;
constexpr int64_t kMaxUbAddress = 0xffff * 32; /* what 16 bits of blocks hold; the engine knows the memory's end */

/* Fill the source (0) or destination (1) registers; `argument` is the list's number in the call. */
PITON_API void SetAddresses(const uint64_t *list, uint32_t which, uint32_t argument, Location at) {
    uint64_t words[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < kAddresses; ++i) {
        RequireRange("TransDataTo5HD", argument, list[i], 0, kMaxUbAddress, at);
        RequireRange("TransDataTo5HD", argument, list[i] % kBlockBytes, 0, 0, at); /* aligned to 32 bytes */
        words[i / 4] |= list[i] / kBlockBytes << (16 * (i % 4));
    }
    vnpu_record record = MakeNote(VNPU_OP_SET_ADDRESSES, at, 0, static_cast<uint32_t>(words[3]), static_cast<uint32_t>(words[3] >> 32));
    record.mask[0] = words[0];
    record.mask[1] = words[1];
    record.scalar = words[2];
    record.p[3] = which;
    Submit(record);
}

template <typename T>
PITON_API void SubmitTrans5hd(const AscendC::TransDataTo5HDParams &params, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_TRANS_5HD, at, params.repeatTimes, params.srcRepStride, params.dstRepStride);
    record.pipe = VNPU_PIPE_V;
    record.p[3] = uint32_t(params.dstHighHalf) | uint32_t(params.srcHighHalf) << 1;
    record.dst.space = record.src0.space = VNPU_SPACE_UB;
    record.dst.dtype = record.src0.dtype = kDtype<T>;
    Submit(record);
}

enum Turn : uint32_t { kTurnSquare, kTurnNchwToNhwc, kTurnNhwcToNchw };

template <typename T>
PITON_API vnpu_record TransposeRecord(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, Location at) {
    vnpu_record record = MakeRecord(VNPU_OP_TRANSPOSE, VNPU_PIPE_V, at);
    record.dst = Dense(dst);
    record.src0 = Dense(src);
    return record;
}

/* Bytes of scratch memory that the documentation asks for. */
template <typename T>
PITON_API uint32_t TransposeScratch(const AscendC::TransposeParamsExt &params) {
    const uint32_t h0 = sizeof(T) == 1 ? 32 : 16;
    const uint32_t rows = params.transposeType == AscendC::TransposeType::TRANSPOSE_NCHW2NHWC ? params.cSize + 2u : params.cSize * 2u + 1u;
    return rows * h0 * kBlockBytes;
}

constexpr int64_t kMaxTransposed = 4095; /* cSize and hSize * wSize, documentation page of Transpose */

template <typename T>
PITON_API void SubmitNchw(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &scratch,
                          const AscendC::TransposeParamsExt &params, Location at) {
    const uint32_t plane = uint32_t(params.hSize) * params.wSize;
    RequireRange("Transpose", 3, params.cSize, 0, kMaxTransposed, at);
    RequireRange("Transpose", 3, plane, 0, kMaxTransposed, at);
    RequireRange("Transpose", 3, plane * sizeof(T) % kBlockBytes, 0, 0, at); /* whole blocks */
    vnpu_record record = TransposeRecord(dst, src, at);
    record.src1 = scratch.Operand();
    record.p[0] = params.nSize;
    record.p[1] = params.cSize | plane << 16;
    record.p[2] = TransposeScratch<T>(params);
    record.p[3] = params.transposeType == AscendC::TransposeType::TRANSPOSE_NCHW2NHWC ? kTurnNchwToNhwc : kTurnNhwcToNchw;
    Submit(record);
}

}  // namespace piton

#define PITON_REQUIRE_TRANS \
    using piton::kDtype;    \
    PITON_REQUIRE_TYPE("TransDataTo5HD", piton::kIsTransposed<T>, "int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float")

namespace AscendC {

template <typename T>
PITON_API void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                              const TransDataTo5HDParams &nchwconvParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_TRANS;
    piton::SetAddresses(srcList, 0, 1, at);
    piton::SetAddresses(dstList, 1, 0, at);
    piton::SubmitTrans5hd<T>(nchwconvParams, at);
}

template <typename T>
PITON_API void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE], const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                              const TransDataTo5HDParams &nchwconvParams, piton::Location at = piton::Location()) {
    uint64_t to[piton::kAddresses], from[piton::kAddresses];
    for (uint32_t i = 0; i < piton::kAddresses; ++i) {
        to[i] = dstList[i].GetPhyAddr();
        from[i] = srcList[i].GetPhyAddr();
    }
    TransDataTo5HD<T>(to, from, nchwconvParams, at);
}

template <typename T>
PITON_API void TransDataTo5HD(const LocalTensor<uint64_t> &dst, const LocalTensor<uint64_t> &src, const TransDataTo5HDParams &nchwconvParams,
                              piton::Location at = piton::Location()) {
    uint64_t to[piton::kAddresses], from[piton::kAddresses];
    for (uint32_t i = 0; i < piton::kAddresses; ++i) {
        to[i] = dst.GetValue(i, at);
        from[i] = src.GetValue(i, at);
    }
    TransDataTo5HD<T>(to, from, nchwconvParams, at);
}

/* 16 x 16 elements; destination and source may be the same. */
template <typename T>
PITON_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Transpose", piton::kIsTurned<T>, "int16_t, uint16_t, half");
    piton::Submit(piton::TransposeRecord(dst, src, at));
}

template <typename T>
PITON_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &sharedTmpBuffer,
                         const TransposeParamsExt &transposeParams, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Transpose", piton::kIsTransposed<T>, "int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float");
    const TransposeType type = transposeParams.transposeType;
    if (type == TransposeType::TRANSPOSE_NCHW2NHWC || type == TransposeType::TRANSPOSE_NHWC2NCHW) {
        piton::SubmitNchw(dst, src, sharedTmpBuffer, transposeParams, at);
    } else if (type == TransposeType::TRANSPOSE_ND2ND_B16 && std::is_same<T, uint16_t>::value) {
        piton::Submit(piton::TransposeRecord(dst, src, at));
    } else if (type != TransposeType::TRANSPOSE_TYPE_NONE) {
        piton::Fault(VNPU_FAULT_BAD_ARGUMENT, "Transpose", at, static_cast<uint64_t>(type), 3);
    }
}

}  // namespace AscendC

#undef PITON_REQUIRE_TRANS

#endif /* PITON_ASCENDC_TRANSPOSE_H */
