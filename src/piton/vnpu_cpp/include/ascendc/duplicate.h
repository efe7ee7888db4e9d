/*
 * Duplicate: fill a tensor with one value.
 *
 * Problem and approach: as vector_binary.h, with the strides as plain arguments.
 * Limits: the form with a tensor as source exists on later chips only.
 */
#ifndef PITON_ASCENDC_DUPLICATE_H
#define PITON_ASCENDC_DUPLICATE_H

#include "vector.h"

#define PITON_REQUIRE_DUPLICATE \
    using piton::kDtype;        \
    PITON_REQUIRE_TYPE("Duplicate", piton::kIsBroadcast<T>, "half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t")

namespace piton {

template <typename T>
PITON_API void SubmitDuplicate(const vnpu_operand &dst, const T &value, const Extent &extent, Location at) {
    vnpu_record record = VectorRecord(VNPU_OP_DUPLICATE, dst, extent, at);
    record.scalar = ToBits(value);
    Submit(record);
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isSetMask = true>
PITON_API void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask, const piton::Narrow<uint8_t> repeatTime,
                         const piton::Narrow<uint16_t> dstBlockStride, const piton::Narrow<uint8_t> dstRepeatStride, piton::Location at = piton::Location()) {
    PITON_REQUIRE_DUPLICATE;
    const auto operand = piton::Strided(dst, dstBlockStride.Get("Duplicate", 4, at), dstRepeatStride.Get("Duplicate", 5, at));
    piton::SubmitDuplicate(operand, scalarValue, piton::LanesOf<isSetMask>("Duplicate", 2, mask, repeatTime, at), at);
}

template <typename T, bool isSetMask = true>
PITON_API void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const uint64_t mask[], const piton::Narrow<uint8_t> repeatTime,
                         const piton::Narrow<uint16_t> dstBlockStride, const piton::Narrow<uint8_t> dstRepeatStride, piton::Location at = piton::Location()) {
    PITON_REQUIRE_DUPLICATE;
    const auto operand = piton::Strided(dst, dstBlockStride.Get("Duplicate", 4, at), dstRepeatStride.Get("Duplicate", 5, at));
    piton::SubmitDuplicate(operand, scalarValue, piton::BitsOf<isSetMask>("Duplicate", 2, mask, repeatTime, at), at);
}

template <typename T>
PITON_API void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const int32_t &count, piton::Location at = piton::Location()) {
    PITON_REQUIRE_DUPLICATE;
    piton::SubmitDuplicate(piton::Dense(dst), scalarValue, piton::CountOf("Duplicate", 2, count, at), at);
}

}  // namespace AscendC

#undef PITON_REQUIRE_DUPLICATE

#endif /* PITON_ASCENDC_DUPLICATE_H */
