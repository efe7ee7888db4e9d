/*
 * dst = op src: Exp, Ln, Sqrt, Rsqrt, Reciprocal, Abs, Relu, Not.
 *
 * Problem and approach: as vector_binary.h.
 * Limits: no configuration parameters (later chips). Types as documented for the Ascend 910B.
 */
#ifndef PITON_ASCENDC_VECTOR_UNARY_H
#define PITON_ASCENDC_VECTOR_UNARY_H

#include "vector.h"

namespace piton {

template <typename T>
PITON_API void SubmitUnary(uint16_t opcode, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const Extent &extent,
                           const AscendC::UnaryRepeatParams &strides, Location at) {
    vnpu_record record = VectorRecord(opcode, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src, strides.srcBlkStride, strides.srcRepStride);
    Submit(record);
}

template <typename T>
constexpr bool kIsRelu = kIsOneOf<T, half, float, int32_t>;

}  // namespace piton

#define PITON_UNARY(Name, opcode, isSupported, list)                                                                                          \
    namespace AscendC {                                                                                                                       \
    template <typename T, bool isSetMask = true>                                                                                              \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const piton::Narrow<uint8_t> repeatTime, \
                        const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {                                      \
        using piton::kDtype;                                                                                                                  \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                                         \
        piton::SubmitUnary(opcode, dst, src, piton::BitsOf<isSetMask>(#Name, 2, mask, repeatTime, at), repeatParams, at);                     \
    }                                                                                                                                         \
    template <typename T, bool isSetMask = true>                                                                                              \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, const piton::Narrow<uint8_t> repeatTime,         \
                        const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {                                      \
        using piton::kDtype;                                                                                                                  \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                                         \
        piton::SubmitUnary(opcode, dst, src, piton::LanesOf<isSetMask>(#Name, 2, mask, repeatTime, at), repeatParams, at);                    \
    }                                                                                                                                         \
    template <typename T>                                                                                                                     \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count, piton::Location at = piton::Location()) { \
        using piton::kDtype;                                                                                                                  \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                                         \
        piton::SubmitUnary(opcode, dst, src, piton::CountOf(#Name, 2, count, at), UnaryRepeatParams(), at);                                   \
    }                                                                                                                                         \
    }

PITON_UNARY(Exp, VNPU_OP_EXP, piton::kIsFloat<T>, "half, float")
PITON_UNARY(Ln, VNPU_OP_LN, piton::kIsFloat<T>, "half, float")
PITON_UNARY(Sqrt, VNPU_OP_SQRT, piton::kIsFloat<T>, "half, float")
PITON_UNARY(Rsqrt, VNPU_OP_RSQRT, piton::kIsFloat<T>, "half, float")
PITON_UNARY(Reciprocal, VNPU_OP_RECIPROCAL, piton::kIsFloat<T>, "half, float")
PITON_UNARY(Abs, VNPU_OP_ABS, piton::kIsFloat<T>, "half, float")
PITON_UNARY(Relu, VNPU_OP_RELU, piton::kIsRelu<T>, "half, float, int32_t")

PITON_UNARY(Not, VNPU_OP_NOT, piton::kIsLogic<T>, "int16_t, uint16_t")

#undef PITON_UNARY

#endif /* PITON_ASCENDC_VECTOR_UNARY_H */
