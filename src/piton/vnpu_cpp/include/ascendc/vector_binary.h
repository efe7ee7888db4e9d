/*
 * dst = src0 op src1: Add, Sub, Mul, Div, Max, Min, And, Or, AddRelu, SubRelu; with dst as third operand FusedMulAdd, MulAddRelu.
 *
 * Problem and approach: one family of three forms each; vector.h turns the forms into records.
 * Limits: the operators on tensors (`z = x + y`) are in operators.h. Types as documented for the Ascend 910B; And and Or take 4-byte integers by count
 * only, and count them in halves of 2 bytes (documentation page of And).
 */
#ifndef PITON_ASCENDC_VECTOR_BINARY_H
#define PITON_ASCENDC_VECTOR_BINARY_H

#include "vector.h"

namespace piton {

template <typename T>
PITON_API void SubmitBinary(uint16_t opcode, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src0, const AscendC::LocalTensor<T> &src1,
                            const Extent &extent, const AscendC::BinaryRepeatParams &strides, Location at) {
    vnpu_record record = VectorRecord(opcode, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src0, strides.src0BlkStride, strides.src0RepStride);
    record.src1 = Strided(src1, strides.src1BlkStride, strides.src1RepStride);
    Submit(record);
}

}  // namespace piton

#define PITON_BINARY_STRIDED(Name, opcode, isSupported, list)                                                                                      \
    namespace AscendC {                                                                                                                            \
    template <typename T, bool isSetMask = true>                                                                                                   \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const uint64_t mask[],                  \
                        const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) { \
        using piton::kDtype;                                                                                                                       \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                                              \
        piton::SubmitBinary(opcode, dst, src0, src1, piton::BitsOf<isSetMask>(#Name, 3, mask, repeatTime, at), repeatParams, at);                  \
    }                                                                                                                                              \
    template <typename T, bool isSetMask = true>                                                                                                   \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask,                          \
                        const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) { \
        using piton::kDtype;                                                                                                                       \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                                              \
        piton::SubmitBinary(opcode, dst, src0, src1, piton::LanesOf<isSetMask>(#Name, 3, mask, repeatTime, at), repeatParams, at);                 \
    }                                                                                                                                              \
    }

#define PITON_BINARY(Name, opcode, isSupported, list)                                                                            \
    PITON_BINARY_STRIDED(Name, opcode, isSupported, list)                                                                        \
    namespace AscendC {                                                                                                          \
    template <typename T>                                                                                                        \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const int32_t &count, \
                        piton::Location at = piton::Location()) {                                                                \
        using piton::kDtype;                                                                                                     \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                            \
        piton::SubmitBinary(opcode, dst, src0, src1, piton::CountOf(#Name, 3, count, at), BinaryRepeatParams(), at);             \
    }                                                                                                                            \
    }

PITON_BINARY(Add, VNPU_OP_ADD, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")
PITON_BINARY(Sub, VNPU_OP_SUB, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")
PITON_BINARY(Mul, VNPU_OP_MUL, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")
PITON_BINARY(Div, VNPU_OP_DIV, piton::kIsFloat<T>, "half, float")
PITON_BINARY(Max, VNPU_OP_MAX, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")
PITON_BINARY(Min, VNPU_OP_MIN, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")

PITON_BINARY(AddRelu, VNPU_OP_ADD_RELU, (piton::kIsOneOf<T, half, float, int16_t>), "half, float, int16_t")
PITON_BINARY(SubRelu, VNPU_OP_SUB_RELU, (piton::kIsOneOf<T, half, float, int16_t>), "half, float, int16_t")
PITON_BINARY(FusedMulAdd, VNPU_OP_FUSED_MUL_ADD, piton::kIsFloat<T>, "half, float")
PITON_BINARY(MulAddRelu, VNPU_OP_MUL_ADD_RELU, piton::kIsFloat<T>, "half, float")
PITON_BINARY(FusedMulAddRelu, VNPU_OP_MUL_ADD_RELU, piton::kIsFloat<T>, "half, float") /* the older name */

#undef PITON_BINARY

namespace piton {

/* The two-byte halves of a tensor of four-byte integers. */
template <typename T>
PITON_API auto LogicHalves(const AscendC::LocalTensor<T> &tensor) {
    if constexpr (sizeof(T) == 4) {
        return tensor.template ReinterpretCast<uint16_t>();
    } else {
        return tensor;
    }
}

template <typename T>
constexpr bool kIsLogicByCount = kIsLogic<T> || kIsOneOf<T, int32_t, uint32_t>;

}  // namespace piton

#define PITON_LOGIC(Name, opcode)                                                                                                                     \
    PITON_BINARY_STRIDED(Name, opcode, piton::kIsLogic<T>, "int16_t, uint16_t")                                                                       \
    namespace AscendC {                                                                                                                               \
    template <typename T>                                                                                                                             \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const int32_t &count,                      \
                        piton::Location at = piton::Location()) {                                                                                     \
        using piton::kDtype;                                                                                                                          \
        PITON_REQUIRE_TYPE(#Name, piton::kIsLogicByCount<T>, "int16_t, uint16_t; by count also int32_t, uint32_t");                                   \
        piton::SubmitBinary(opcode, piton::LogicHalves(dst), piton::LogicHalves(src0), piton::LogicHalves(src1), piton::CountOf(#Name, 3, count, at), \
                            BinaryRepeatParams(), at);                                                                                                \
    }                                                                                                                                                 \
    }

PITON_LOGIC(And, VNPU_OP_AND)
PITON_LOGIC(Or, VNPU_OP_OR)

#undef PITON_LOGIC
#undef PITON_BINARY_STRIDED

#endif /* PITON_ASCENDC_VECTOR_BINARY_H */
