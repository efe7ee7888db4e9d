/*
 * CastDequant, AddDeqRelu and the forms of SetDeqScale that go with them.
 *
 * Problem: how a value is scaled stands in a register, whose bits mean something else for each pair of types.
 * Approach: SetDeqScale makes the documented bits; from int32_t to half CastDequant is the Cast that multiplies by the register, from int16_t to bytes an
 * instruction of its own, whose 16 sets of parameters SetDeqScale stores where it is told.
 * Limits: the bits of a stored set are assumed to be those of the register; where AddDeqRelu has its temporary memory is not published, so it has none here.
 */
#ifndef PITON_ASCENDC_DEQUANT_H
#define PITON_ASCENDC_DEQUANT_H

#include "cast.h"
#include "registers.h"
#include "vector_fused.h"

namespace AscendC {

/* Sets of parameters, one per lane of a block of 16. */
struct VdeqInfo {
    PITON_API VdeqInfo() {}
    PITON_API VdeqInfo(const float scale[16], const int16_t offset[16], const bool signMode[16]) {
        for (uint32_t i = 0; i < 16; ++i) {
            vdeqScale[i] = scale[i];
            vdeqOffset[i] = offset[i];
            vdeqSignMode[i] = signMode[i];
        }
    }

    float vdeqScale[16] = {};
    int16_t vdeqOffset[16] = {};
    bool vdeqSignMode[16] = {};
};

}  // namespace AscendC

namespace piton {

constexpr uint32_t kVdeqSets = 16;

PITON_API uint64_t DeqWord(float scale, int16_t offset, bool signMode) {
    return ToBits(scale) | (static_cast<uint64_t>(offset) & 0x1ffu) << 37 | uint64_t(signMode) << 46;
}

template <bool isVecDeq, bool halfBlock, typename T, typename U>
PITON_API void SubmitCastDequant(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &src, const Extent &extent,
                                 const AscendC::UnaryRepeatParams &strides, Location at) {
    constexpr bool toHalf = std::is_same<T, half>::value && std::is_same<U, int32_t>::value;
    constexpr bool toByte = kIsOneOf<T, int8_t, uint8_t> && std::is_same<U, int16_t>::value;
    static_assert(toHalf || toByte, "CastDequant exists on the Ascend 910B for these pairs only: int32_t to half, int16_t to int8_t, int16_t to uint8_t");
    if constexpr (toHalf) {
        SubmitCast(dst, src, AscendC::RoundMode::CAST_RINT, extent, strides, at);
    } else {
        vnpu_record record = VectorRecord(VNPU_OP_CAST_DEQUANT, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
        record.src0 = Strided(src, strides.srcBlkStride, strides.srcRepStride);
        record.p[3] = uint32_t(isVecDeq) | uint32_t(halfBlock) << 1;
        Submit(record);
    }
}

template <typename T, typename U>
PITON_API void SubmitAddDeqRelu(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &src0, const AscendC::LocalTensor<U> &src1,
                                const Extent &extent, const AscendC::BinaryRepeatParams &strides, Location at) {
    static_assert(std::is_same<T, half>::value && std::is_same<U, int32_t>::value, "AddDeqRelu exists on the Ascend 910B for int32_t to half only");
    SubmitFused(VNPU_OP_ADD_DEQ_RELU, dst, src0, src1, extent, strides, at);
}

}  // namespace piton

namespace AscendC {

/* For CastDequant from int16_t with isVecDeq = false. */
PITON_API void SetDeqScale(float scale, int16_t offset, bool signMode, piton::Location at = piton::Location()) {
    piton::SubmitDeqScale(piton::DeqWord(scale, offset, signMode), at);
}

/* For CastDequant from int16_t with isVecDeq = true: 128 bytes of `vdeq` are written by the scalar unit. */
template <typename T>
PITON_API void SetDeqScale(const LocalTensor<T> &vdeq, const VdeqInfo &vdeqInfo, piton::Location at = piton::Location()) {
    static_assert(std::is_same<T, uint64_t>::value, "SetDeqScale takes a tensor of uint64_t");
    for (uint32_t i = 0; i < piton::kVdeqSets; ++i) {
        vdeq.SetValue(i, piton::DeqWord(vdeqInfo.vdeqScale[i], vdeqInfo.vdeqOffset[i], vdeqInfo.vdeqSignMode[i]), at);
    }
    piton::SubmitDeqScale(vdeq.GetPhyAddr() / piton::kBlockBytes, at);
}

template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>
PITON_API void CastDequant(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint32_t count, piton::Location at = piton::Location()) {
    piton::SubmitCastDequant<isVecDeq, halfBlock>(dst, src, piton::CountOf("CastDequant", 2, count, at), UnaryRepeatParams(), at);
}

template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>
PITON_API void CastDequant(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint64_t mask[], const piton::Narrow<uint8_t> repeatTime,
                           const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    piton::SubmitCastDequant<isVecDeq, halfBlock>(dst, src, piton::BitsOf<isSetMask>("CastDequant", 2, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>
PITON_API void CastDequant(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, const piton::Narrow<uint8_t> repeatTime,
                           const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    piton::RequireRange("CastDequant", 2, mask, 0, INT32_MAX, at);
    const piton::Extent extent = piton::LanesOf<isSetMask>("CastDequant", 2, static_cast<uint64_t>(mask), repeatTime, at);
    piton::SubmitCastDequant<isVecDeq, halfBlock>(dst, src, extent, repeatParams, at);
}

template <typename T, typename U>
PITON_API void AddDeqRelu(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, const int32_t &count,
                          piton::Location at = piton::Location()) {
    piton::SubmitAddDeqRelu(dst, src0, src1, piton::CountOf("AddDeqRelu", 3, count, at), BinaryRepeatParams(), at);
}

template <typename T, typename U, bool isSetMask = true>
PITON_API void AddDeqRelu(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, const uint64_t mask[],
                          const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    piton::SubmitAddDeqRelu(dst, src0, src1, piton::BitsOf<isSetMask>("AddDeqRelu", 3, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U, bool isSetMask = true>
PITON_API void AddDeqRelu(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask,
                          const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    piton::SubmitAddDeqRelu(dst, src0, src1, piton::LanesOf<isSetMask>("AddDeqRelu", 3, mask, repeatTime, at), repeatParams, at);
}

/* The forms whose only template argument is isSetMask. */
template <bool isSetMask>
PITON_API void AddDeqRelu(const LocalTensor<half> &dst, const LocalTensor<int32_t> &src0, const LocalTensor<int32_t> &src1, const uint64_t mask[],
                          const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    AddDeqRelu<half, int32_t, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, at);
}
template <bool isSetMask>
PITON_API void AddDeqRelu(const LocalTensor<half> &dst, const LocalTensor<int32_t> &src0, const LocalTensor<int32_t> &src1, uint64_t mask,
                          const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    AddDeqRelu<half, int32_t, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_DEQUANT_H */
