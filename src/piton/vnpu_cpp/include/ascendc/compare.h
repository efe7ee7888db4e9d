/*
 * Compare, Compares, CompareScalar: bits that say where a relation holds.
 *
 * Problem: the destination holds packed bits, and what the instruction does with count and mask differs from the arithmetic ones.
 * Approach: one record; the engine packs the bits, leaves a remainder of the count out and ignores the mask, as the Ascend 910B does.
 * Limits: the operators on tensors (`z = x < y`) are not here; what the compare register holds serves GetCmpMask only. Types as documented for the 910B.
 */
#ifndef PITON_ASCENDC_COMPARE_H
#define PITON_ASCENDC_COMPARE_H

#include "vector.h"

namespace piton {

template <typename T>
constexpr bool kIsComparable = kIsOneOf<T, half, float, int32_t>;

/* `mode` is argument 3. */
template <typename T>
PITON_API void RequireCompareMode(const char *api, AscendC::CMPMODE mode, Location at) {
    RequireRange(api, 3, static_cast<int64_t>(mode), 0, static_cast<int64_t>(AscendC::CMPMODE::NE), at);
    if (std::is_same<T, int32_t>::value && mode != AscendC::CMPMODE::EQ) {
        Fault(VNPU_FAULT_BAD_ARGUMENT, api, at, static_cast<uint64_t>(mode), 3);
    }
}

template <typename T, typename U>
PITON_API vnpu_record CompareRecord(const AscendC::LocalTensor<U> &dst, const vnpu_operand &src0, AscendC::CMPMODE mode, const Extent &extent, Location at) {
    vnpu_record record = VectorRecord(VNPU_OP_COMPARE, Dense(dst), extent, at);
    record.src0 = src0;
    record.p[3] = static_cast<uint32_t>(mode);
    return record;
}

template <typename T, typename U>
PITON_API void SubmitCompare(const AscendC::LocalTensor<U> &dst, const AscendC::LocalTensor<T> &src0, const AscendC::LocalTensor<T> &src1,
                             AscendC::CMPMODE mode, const Extent &extent, const AscendC::BinaryRepeatParams &strides, Location at) {
    RequireCompareMode<T>("Compare", mode, at);
    vnpu_record record = CompareRecord<T>(dst, Strided(src0, strides.src0BlkStride, strides.src0RepStride), mode, extent, at);
    record.src1 = Strided(src1, strides.src1BlkStride, strides.src1RepStride);
    Submit(record);
}

template <typename T>
PITON_API void SubmitCompareRegister(const AscendC::LocalTensor<T> &src0, const AscendC::LocalTensor<T> &src1, AscendC::CMPMODE mode, const Extent &extent,
                                     const AscendC::BinaryRepeatParams &strides, Location at) {
    RequireRange("Compare", 2, static_cast<int64_t>(mode), 0, static_cast<int64_t>(AscendC::CMPMODE::NE), at);
    vnpu_record record = VectorRecord(VNPU_OP_COMPARE, vnpu_operand{}, extent, at);
    record.src0 = Strided(src0, strides.src0BlkStride, strides.src0RepStride);
    record.src1 = Strided(src1, strides.src1BlkStride, strides.src1RepStride);
    record.p[3] = static_cast<uint32_t>(mode);
    Submit(record);
}

template <typename T, typename U>
PITON_API void SubmitCompareScalar(const char *api, const AscendC::LocalTensor<U> &dst, const AscendC::LocalTensor<T> &src0, T scalar, AscendC::CMPMODE mode,
                                   const Extent &extent, const AscendC::UnaryRepeatParams &strides, Location at) {
    RequireCompareMode<T>(api, mode, at);
    vnpu_record record = CompareRecord<T>(dst, Strided(src0, strides.srcBlkStride, strides.srcRepStride), mode, extent, at);
    record.scalar = ToBits(scalar);
    Submit(record);
}

}  // namespace piton

#define PITON_REQUIRE_COMPARE(api)                                                               \
    using piton::kDtype;                                                                         \
    PITON_REQUIRE_TYPE(api, piton::kIsComparable<T>, "half, float, int32_t (CMPMODE::EQ only)"); \
    static_assert(piton::kIsOneOf<U, int8_t, uint8_t>, api ": the destination holds packed bits, a tensor of uint8_t or int8_t")

namespace AscendC {

template <typename T, typename U, bool isSetMask = true>
PITON_API void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask[],
                       const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_COMPARE("Compare");
    piton::SubmitCompare(dst, src0, src1, cmpMode, piton::BitsOf<isSetMask>("Compare", 4, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U, bool isSetMask = true>
PITON_API void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask,
                       const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_COMPARE("Compare");
    piton::SubmitCompare(dst, src0, src1, cmpMode, piton::LanesOf<isSetMask>("Compare", 4, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U>
PITON_API void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, uint32_t count,
                       piton::Location at = piton::Location()) {
    PITON_REQUIRE_COMPARE("Compare");
    piton::SubmitCompare(dst, src0, src1, cmpMode, piton::CountOf("Compare", 4, count, at), BinaryRepeatParams(), at);
}

}  // namespace AscendC

namespace AscendC {

/* Into the compare register: one repeat. */
template <typename T, bool isSetMask = true>
PITON_API void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask[], const BinaryRepeatParams &repeatParams,
                       piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Compare", piton::kIsFloat<T>, "half, float");
    piton::SubmitCompareRegister(src0, src1, cmpMode, piton::BitsOf<isSetMask>("Compare", 3, mask, 1, at), repeatParams, at);
}

template <typename T, bool isSetMask = true>
PITON_API void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask, const BinaryRepeatParams &repeatParams,
                       piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Compare", piton::kIsFloat<T>, "half, float");
    piton::SubmitCompareRegister(src0, src1, cmpMode, piton::LanesOf<isSetMask>("Compare", 3, mask, 1, at), repeatParams, at);
}

template <typename T>
PITON_API void GetCmpMask(const LocalTensor<T> &dst, piton::Location at = piton::Location()) {
    vnpu_record record = piton::MakeRecord(VNPU_OP_GET_CMP_MASK, VNPU_PIPE_V, at);
    record.dst = piton::Dense(dst);
    piton::Submit(record);
}

template <typename T>
PITON_API void SetCmpMask(const LocalTensor<T> &src, piton::Location at = piton::Location()) {
    vnpu_record record = piton::MakeRecord(VNPU_OP_SET_CMP_MASK, VNPU_PIPE_V, at);
    record.src0 = piton::Dense(src);
    piton::Submit(record);
}

}  // namespace AscendC

/* One instruction under its old and its new name. */
#define PITON_COMPARE_SCALAR(Name)                                                                                                                      \
    namespace AscendC {                                                                                                                                 \
    template <typename T, typename U, bool isSetMask = true>                                                                                            \
    PITON_API void Name(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode, const uint64_t mask[],              \
                        const piton::Narrow<uint8_t> repeatTime, const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {       \
        PITON_REQUIRE_COMPARE(#Name);                                                                                                                   \
        piton::SubmitCompareScalar(#Name, dst, src0, src1Scalar, cmpMode, piton::BitsOf<isSetMask>(#Name, 4, mask, repeatTime, at), repeatParams, at);  \
    }                                                                                                                                                   \
    template <typename T, typename U, bool isSetMask = true>                                                                                            \
    PITON_API void Name(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode, const uint64_t mask,                \
                        const piton::Narrow<uint8_t> repeatTime, const UnaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {       \
        PITON_REQUIRE_COMPARE(#Name);                                                                                                                   \
        piton::SubmitCompareScalar(#Name, dst, src0, src1Scalar, cmpMode, piton::LanesOf<isSetMask>(#Name, 4, mask, repeatTime, at), repeatParams, at); \
    }                                                                                                                                                   \
    template <typename T, typename U>                                                                                                                   \
    PITON_API void Name(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode, uint32_t count,                     \
                        piton::Location at = piton::Location()) {                                                                                       \
        PITON_REQUIRE_COMPARE(#Name);                                                                                                                   \
        piton::SubmitCompareScalar(#Name, dst, src0, src1Scalar, cmpMode, piton::CountOf(#Name, 4, count, at), UnaryRepeatParams(), at);                \
    }                                                                                                                                                   \
    }

PITON_COMPARE_SCALAR(Compares)
PITON_COMPARE_SCALAR(CompareScalar)

#undef PITON_COMPARE_SCALAR
#undef PITON_REQUIRE_COMPARE

#endif /* PITON_ASCENDC_COMPARE_H */
