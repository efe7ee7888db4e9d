/*
 * dst = src op scalar: Adds, Muls, Maxs, Mins, LeakyRelu, ShiftLeft, ShiftRight.
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
                            const AscendC::UnaryRepeatParams &strides, Location at, bool isRounding = false) {
    vnpu_record record = VectorRecord(opcode, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src, strides.srcBlkStride, strides.srcRepStride);
    record.scalar = ToBits(scalar);
    record.p[3] = isRounding;
    Submit(record);
}

}  // namespace piton

#define PITON_SCALAR(Name, opcode, isSupported, list)                                                                                                       \
    namespace AscendC {                                                                                                                                     \
    template <typename T, bool isSetMask = true>                                                                                                            \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const uint64_t mask[],                                  \
                        const piton::Narrow<uint8_t> repeatTime, const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {           \
        using piton::kDtype;                                                                                                                                \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                                                       \
        piton::SubmitScalar(opcode, dst, src, scalarValue, piton::BitsOf<isSetMask>(#Name, 3, mask, repeatTime, at), repeatParams, at);                     \
    }                                                                                                                                                       \
    template <typename T, bool isSetMask = true>                                                                                                            \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask, const piton::Narrow<uint8_t> repeatTime, \
                        const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {                                                    \
        using piton::kDtype;                                                                                                                                \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                                                       \
        piton::SubmitScalar(opcode, dst, src, scalarValue, piton::LanesOf<isSetMask>(#Name, 3, mask, repeatTime, at), repeatParams, at);                    \
    }                                                                                                                                                       \
    template <typename T, bool isSetMask = true>                                                                                                            \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const int32_t &count,                                   \
                        piton::Location at = piton::Location()) {                                                                                           \
        using piton::kDtype;                                                                                                                                \
        PITON_REQUIRE_TYPE(#Name, isSupported, list);                                                                                                       \
        piton::SubmitScalar(opcode, dst, src, scalarValue, piton::CountOrMask<isSetMask>(#Name, 3, count, at), UnaryRepeatParams(), at);                    \
    }                                                                                                                                                       \
    }

PITON_SCALAR(Adds, VNPU_OP_ADDS, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")
PITON_SCALAR(Muls, VNPU_OP_MULS, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")
PITON_SCALAR(Maxs, VNPU_OP_MAXS, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")
PITON_SCALAR(Mins, VNPU_OP_MINS, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")

PITON_SCALAR(LeakyRelu, VNPU_OP_LEAKY_RELU, piton::kIsFloat<T>, "half, float")

#undef PITON_SCALAR

#define PITON_REQUIRE_SHIFT(api)                                                           \
    using piton::kDtype;                                                                   \
    PITON_REQUIRE_TYPE(api, piton::kIsShifted<T>, "int16_t, uint16_t, int32_t, uint32_t"); \
    piton::RequireRange(api, 2, scalarValue, 0, sizeof(T) * 8, at)

namespace AscendC {

template <typename T, bool isSetMask = true>
PITON_API void ShiftLeft(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const uint64_t mask[],
                         const piton::Narrow<uint8_t> repeatTime, const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_SHIFT("ShiftLeft");
    piton::SubmitScalar(VNPU_OP_SHIFT_LEFT, dst, src, scalarValue, piton::BitsOf<isSetMask>("ShiftLeft", 3, mask, repeatTime, at), repeatParams, at);
}

template <typename T, bool isSetMask = true>
PITON_API void ShiftLeft(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask, const piton::Narrow<uint8_t> repeatTime,
                         const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_SHIFT("ShiftLeft");
    piton::SubmitScalar(VNPU_OP_SHIFT_LEFT, dst, src, scalarValue, piton::LanesOf<isSetMask>("ShiftLeft", 3, mask, repeatTime, at), repeatParams, at);
}

template <typename T, bool isSetMask = true>
PITON_API void ShiftLeft(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const int32_t &count,
                         piton::Location at = piton::Location()) {
    PITON_REQUIRE_SHIFT("ShiftLeft");
    piton::SubmitScalar(VNPU_OP_SHIFT_LEFT, dst, src, scalarValue, piton::CountOrMask<isSetMask>("ShiftLeft", 3, count, at), UnaryRepeatParams(), at);
}

/* roundEn: the last bit shifted out of a signed value is added. */
template <typename T, bool isSetMask = true>
PITON_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const uint64_t mask[],
                          const piton::Narrow<uint8_t> repeatTime, const UnaryRepeatParams &repeatParams, bool roundEn = false,
                          piton::Location at = piton::Location()) {
    PITON_REQUIRE_SHIFT("ShiftRight");
    const piton::Extent extent = piton::BitsOf<isSetMask>("ShiftRight", 3, mask, repeatTime, at);
    piton::SubmitScalar(VNPU_OP_SHIFT_RIGHT, dst, src, scalarValue, extent, repeatParams, at, roundEn);
}

template <typename T, bool isSetMask = true>
PITON_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask, const piton::Narrow<uint8_t> repeatTime,
                          const UnaryRepeatParams &repeatParams, bool roundEn = false, piton::Location at = piton::Location()) {
    PITON_REQUIRE_SHIFT("ShiftRight");
    const piton::Extent extent = piton::LanesOf<isSetMask>("ShiftRight", 3, mask, repeatTime, at);
    piton::SubmitScalar(VNPU_OP_SHIFT_RIGHT, dst, src, scalarValue, extent, repeatParams, at, roundEn);
}

template <typename T, bool isSetMask = true>
PITON_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const int32_t &count,
                          piton::Location at = piton::Location()) {
    PITON_REQUIRE_SHIFT("ShiftRight");
    piton::SubmitScalar(VNPU_OP_SHIFT_RIGHT, dst, src, scalarValue, piton::CountOrMask<isSetMask>("ShiftRight", 3, count, at), UnaryRepeatParams(), at);
}

}  // namespace AscendC

#undef PITON_REQUIRE_SHIFT

#endif /* PITON_ASCENDC_VECTOR_SCALAR_H */
