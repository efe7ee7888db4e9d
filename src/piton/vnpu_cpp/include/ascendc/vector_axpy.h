/*
 * Axpy: dst += src * scalar.
 *
 * Problem and approach: as vector_scalar.h; the destination is read too, and a half source may be added to a float destination.
 * Limits: types as documented for the Ascend 910B: half, float, and half into float.
 */
#ifndef PITON_ASCENDC_VECTOR_AXPY_H
#define PITON_ASCENDC_VECTOR_AXPY_H

#include "vector.h"

namespace piton {

template <typename T, typename U>
PITON_API void SubmitAxpy(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &src, const U &scalar, const Extent &extent,
                          const AscendC::UnaryRepeatParams &strides, Location at) {
    vnpu_record record = VectorRecord(VNPU_OP_AXPY, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src, strides.srcBlkStride, strides.srcRepStride);
    record.scalar = ToBits(scalar);
    Submit(record);
}

template <typename T, typename U>
constexpr bool kIsAxpy = kIsFloat<T> && (std::is_same<T, U>::value || std::is_same<U, half>::value);

}  // namespace piton

#define PITON_REQUIRE_AXPY                                         \
    using piton::kDtype;                                           \
    PITON_REQUIRE_TYPE("Axpy", piton::kIsFloat<T>, "half, float"); \
    static_assert(!piton::kIsFloat<T> || piton::kIsAxpy<T, U>, "Axpy adds half to half, float to float, or half to float")

namespace AscendC {

template <typename T, typename U, bool isSetMask = true>
PITON_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const uint64_t mask[], const piton::Narrow<uint8_t> repeatTime,
                    const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_AXPY;
    piton::SubmitAxpy(dst, src, scalarValue, piton::BitsOf<isSetMask>("Axpy", 3, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U, bool isSetMask = true>
PITON_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask, const piton::Narrow<uint8_t> repeatTime,
                    const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_AXPY;
    piton::SubmitAxpy(dst, src, scalarValue, piton::LanesOf<isSetMask>("Axpy", 3, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U>
PITON_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const int32_t &count, piton::Location at = piton::Location()) {
    PITON_REQUIRE_AXPY;
    piton::SubmitAxpy(dst, src, scalarValue, piton::CountOf("Axpy", 3, count, at), UnaryRepeatParams(), at);
}

}  // namespace AscendC

#undef PITON_REQUIRE_AXPY

#endif /* PITON_ASCENDC_VECTOR_AXPY_H */
