/*
 * Binary instructions whose destination has a type of its own: MulAddDst, AddReluCast, SubReluCast, MulCast.
 *
 * Problem and approach: as vector_binary.h; a repeat has as many elements as the wider of the types allows.
 * Limits: pairs of types as documented for the Ascend 910B. AddDeqRelu and CastDequant are in dequant.h.
 */
#ifndef PITON_ASCENDC_VECTOR_FUSED_H
#define PITON_ASCENDC_VECTOR_FUSED_H

#include "vector.h"

namespace piton {

template <typename T, typename U>
PITON_API void SubmitFused(uint16_t opcode, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &src0, const AscendC::LocalTensor<U> &src1,
                           const Extent &extent, const AscendC::BinaryRepeatParams &strides, Location at) {
    vnpu_record record = VectorRecord(opcode, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src0, strides.src0BlkStride, strides.src0RepStride);
    record.src1 = Strided(src1, strides.src1BlkStride, strides.src1RepStride);
    Submit(record);
}

template <typename T, typename U>
constexpr bool kIsMulAddDst = kIsFloat<T> && (std::is_same<T, U>::value || std::is_same<U, half>::value);
template <typename T, typename U>
constexpr bool kIsReluCast = (std::is_same<T, int8_t>::value && kIsOneOf<U, half, int16_t>) || (std::is_same<T, half>::value && std::is_same<U, float>::value);
template <typename T, typename U>
constexpr bool kIsMulCast = std::is_same<U, half>::value && kIsOneOf<T, int8_t, uint8_t>;

}  // namespace piton

#define PITON_FUSED(Name, opcode, isSupported, CountType, pairs)                                                                                   \
    namespace AscendC {                                                                                                                            \
    template <typename T, typename U, bool isSetMask = true>                                                                                       \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, const uint64_t mask[],                  \
                        const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) { \
        static_assert(isSupported, #Name " exists on the Ascend 910B for these pairs only: " pairs);                                               \
        piton::SubmitFused(opcode, dst, src0, src1, piton::BitsOf<isSetMask>(#Name, 3, mask, repeatTime, at), repeatParams, at);                   \
    }                                                                                                                                              \
    template <typename T, typename U, bool isSetMask = true>                                                                                       \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask,                          \
                        const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) { \
        static_assert(isSupported, #Name " exists on the Ascend 910B for these pairs only: " pairs);                                               \
        piton::SubmitFused(opcode, dst, src0, src1, piton::LanesOf<isSetMask>(#Name, 3, mask, repeatTime, at), repeatParams, at);                  \
    }                                                                                                                                              \
    template <typename T, typename U>                                                                                                              \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, CountType count,                        \
                        piton::Location at = piton::Location()) {                                                                                  \
        static_assert(isSupported, #Name " exists on the Ascend 910B for these pairs only: " pairs);                                               \
        piton::SubmitFused(opcode, dst, src0, src1, piton::CountOf(#Name, 3, count, at), BinaryRepeatParams(), at);                                \
    }                                                                                                                                              \
    }

#define PITON_MUL_ADD_DST_PAIRS "half += half, float += float, float += half"
#define PITON_RELU_CAST_PAIRS "half to int8_t, int16_t to int8_t, float to half"

PITON_FUSED(MulAddDst, VNPU_OP_MUL_ADD_DST, (piton::kIsMulAddDst<T, U>), const int32_t &, PITON_MUL_ADD_DST_PAIRS)
PITON_FUSED(AddReluCast, VNPU_OP_ADD_RELU_CAST, (piton::kIsReluCast<T, U>), const uint32_t, PITON_RELU_CAST_PAIRS)
PITON_FUSED(SubReluCast, VNPU_OP_SUB_RELU_CAST, (piton::kIsReluCast<T, U>), const uint32_t, PITON_RELU_CAST_PAIRS)
PITON_FUSED(MulCast, VNPU_OP_MUL_CAST, (piton::kIsMulCast<T, U>), const uint32_t, "half to int8_t, half to uint8_t")

#undef PITON_MUL_ADD_DST_PAIRS
#undef PITON_RELU_CAST_PAIRS
#undef PITON_FUSED

#endif /* PITON_ASCENDC_VECTOR_FUSED_H */
