/*
 * Copy: blocks from UB to UB on the vector unit, under a mask.
 *
 * Problem and approach: as vector_unary.h, with wider repeat strides.
 * Limits: types as documented for the Ascend 910B (2 and 4 bytes). In counter mode the mask counts the elements of each repeat; the engine knows.
 */
#ifndef PITON_ASCENDC_VECTOR_COPY_H
#define PITON_ASCENDC_VECTOR_COPY_H

#include "vector.h"

namespace piton {

constexpr int64_t kMaxCopyRepeatSize = 4095; /* documentation page of Copy */

template <typename T>
PITON_API void SubmitVectorCopy(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const Extent &extent,
                                const AscendC::CopyRepeatParams &strides, Location at) {
    RequireRange("Copy", 4, strides.dstRepeatSize, 0, kMaxCopyRepeatSize, at);
    RequireRange("Copy", 4, strides.srcRepeatSize, 0, kMaxCopyRepeatSize, at);
    vnpu_record record = VectorRecord(VNPU_OP_COPY, Strided(dst, strides.dstStride, strides.dstRepeatSize), extent, at);
    record.src0 = Strided(src, strides.srcStride, strides.srcRepeatSize);
    Submit(record);
}

}  // namespace piton

#define PITON_REQUIRE_COPY \
    using piton::kDtype;   \
    PITON_REQUIRE_TYPE("Copy", piton::kIsBroadcast<T>, "half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t")

namespace AscendC {

template <typename T, bool isSetMask = true>
PITON_API void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const piton::Narrow<uint8_t> repeatTime,
                    const CopyRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_COPY;
    piton::SubmitVectorCopy(dst, src, piton::BitsOf<isSetMask>("Copy", 2, mask, repeatTime, at), repeatParams, at);
}

template <typename T, bool isSetMask = true>
PITON_API void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask, const piton::Narrow<uint8_t> repeatTime,
                    const CopyRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_COPY;
    piton::SubmitVectorCopy(dst, src, piton::LanesOf<isSetMask>("Copy", 2, mask, repeatTime, at), repeatParams, at);
}

}  // namespace AscendC

#undef PITON_REQUIRE_COPY

#endif /* PITON_ASCENDC_VECTOR_COPY_H */
