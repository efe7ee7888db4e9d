/*
 * dst = src op scalar: Adds, Muls, Maxs, Mins.
 *
 * Problem and approach: as vector_binary.h; the scalar travels as the bits of the tensor's type.
 * Limits: the scalar's type has to be the tensor's, as on the chip: `Muls(x, x, half(0.5), n)`. Types as documented for the Ascend 910B.
 */
#ifndef PITON_ASCENDC_VECTOR_SCALAR_H
#define PITON_ASCENDC_VECTOR_SCALAR_H

#include "vector.h"

namespace piton {

template <typename T>
PITON_API void SubmitScalar(uint16_t opcode, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const T &scalar, const Extent &extent,
                            const AscendC::UnaryRepeatParams &strides, Location at) {
    vnpu_record record = VectorRecord(opcode, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src, strides.srcBlkStride, strides.srcRepStride);
    record.scalar = ToBits(scalar);
    Submit(record);
}

}  // namespace piton

#define PITON_SCALAR(Name, opcode)                                                                                                                          \
    namespace AscendC {                                                                                                                                     \
    template <typename T, bool isSetMask = true>                                                                                                            \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const uint64_t mask[],                                  \
                        const piton::Narrow<uint8_t> repeatTime, const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {           \
        using piton::kDtype;                                                                                                                                \
        PITON_REQUIRE_TYPE(#Name, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t");                                                                \
        piton::SubmitScalar(opcode, dst, src, scalarValue, piton::BitsOf<isSetMask>(#Name, 3, mask, repeatTime, at), repeatParams, at);                     \
    }                                                                                                                                                       \
    template <typename T, bool isSetMask = true>                                                                                                            \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask, const piton::Narrow<uint8_t> repeatTime, \
                        const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {                                                    \
        using piton::kDtype;                                                                                                                                \
        PITON_REQUIRE_TYPE(#Name, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t");                                                                \
        piton::SubmitScalar(opcode, dst, src, scalarValue, piton::LanesOf<isSetMask>(#Name, 3, mask, repeatTime, at), repeatParams, at);                    \
    }                                                                                                                                                       \
    template <typename T, bool isSetMask = true>                                                                                                            \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const int32_t &count,                                   \
                        piton::Location at = piton::Location()) {                                                                                           \
        using piton::kDtype;                                                                                                                                \
        PITON_REQUIRE_TYPE(#Name, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t");                                                                \
        piton::SubmitScalar(opcode, dst, src, scalarValue, piton::CountOf(#Name, 3, count, at), UnaryRepeatParams(), at);                                   \
    }                                                                                                                                                       \
    }

PITON_SCALAR(Adds, VNPU_OP_ADDS)
PITON_SCALAR(Muls, VNPU_OP_MULS)
PITON_SCALAR(Maxs, VNPU_OP_MAXS)
PITON_SCALAR(Mins, VNPU_OP_MINS)

#undef PITON_SCALAR

#endif /* PITON_ASCENDC_VECTOR_SCALAR_H */
