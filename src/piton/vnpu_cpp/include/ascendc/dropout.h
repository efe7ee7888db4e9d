/*
 * DropOut: elements that a mask keeps, divided by the probability of keeping them; 0 for the others.
 *
 * Problem: the mask holds bytes or bits, with or without bytes behind each row that mean nothing, and by default the shape alone says which.
 * Approach: bytes go the way of Select by numbers (select_bytes.h), bits select at once or row by row; then one Muls. Bits count from the lowest of a byte, as
 * those of every instruction do.
 * Limits: half and float. The page gives its example of bits from the highest; the mask is not changed.
 */
#ifndef PITON_ASCENDC_DROPOUT_H
#define PITON_ASCENDC_DROPOUT_H

#include "pipe.h"
#include "select_bytes.h"
#include "vector_scalar.h"

namespace AscendC {

/* Rows of both, columns in memory of either, in elements of either. */
struct DropOutShapeInfo {
    PITON_API DropOutShapeInfo() {}
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

}  // namespace AscendC

namespace piton {

enum DropOutMode : uint32_t { kByShape = 0, kPaddedBytes, kBytes, kBits, kPaddedBits };

constexpr uint32_t kBitsOfByte = 8;

/* A mask as long as the data has a byte for each, a longer one padding behind it; a shorter one has bits. */
PITON_API uint32_t DropOutModeOf(uint32_t given, const AscendC::DropOutShapeInfo &info) {
    if (given != kByShape) {
        return given;
    }
    if (info.maskLastAxis == info.srcLastAxis) {
        return kBytes;
    }
    if (info.maskLastAxis > info.srcLastAxis) {
        return kPaddedBytes;
    }
    return info.maskLastAxis * kBitsOfByte == info.srcLastAxis ? kBits : kPaddedBits;
}

template <typename T>
struct DropOutCall {
    const AscendC::LocalTensor<T> &dst;
    const AscendC::LocalTensor<T> &src;
    const AscendC::LocalTensor<uint8_t> &mask;
    const AscendC::LocalTensor<uint8_t> &memory;
    const AscendC::DropOutShapeInfo &info;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }

    /* Without padding all rows are one. */
    PITON_API void ByBytes(bool isPadded) const {
        AscendC::SelectWithBytesMaskShapeInfo shape;
        shape.firstAxis = isPadded ? info.firstAxis : 1;
        shape.srcLastAxis = isPadded ? info.srcLastAxis : info.firstAxis * info.srcLastAxis;
        shape.maskLastAxis = isPadded ? info.maskLastAxis : (shape.srcLastAxis + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
        SelectByBytes("DropOut", dst, src, mask, shape, ByteSelection<T, uint8_t>{memory, 0, T(0), AscendC::CMPMODE::NE, at});
    }

    PITON_API void ByBits(bool isPadded) const {
        const uint32_t rows = isPadded ? info.firstAxis : 1, columns = isPadded ? info.srcLastAxis : info.firstAxis * info.srcLastAxis;
        if (memory.GetSize() < kBlockBytes) {
            Fault(VNPU_FAULT_UB_OVERFLOW, "DropOut", at, kBlockBytes, memory.GetSize());
        }
        RequireApart("DropOut", src.Operand(), uint64_t(rows) * columns * sizeof(T), memory.Operand(), kBlockBytes, at);
        const auto zeros = memory.template ReinterpretCast<T>();
        AscendC::Duplicate(zeros, T(0), static_cast<int32_t>(kBlockBytes / sizeof(T)), at);
        Barrier();
        AscendC::SetCmpMask(zeros, at);
        AscendC::SetMaskCount(at);
        AscendC::SetVectorMask<T, AscendC::MaskMode::COUNTER>(static_cast<int32_t>(columns), at);
        Barrier();
        for (uint32_t row = 0; row < rows; ++row) {
            AscendC::Select(dst[row * columns], mask[row * info.maskLastAxis], src[row * columns], 1, AscendC::BinaryRepeatParams(), at);
        }
        AscendC::SetMaskNorm(at);
        AscendC::ResetMask(at);
        Barrier();
    }
};

template <typename T>
PITON_API void RunDropOut(const DropOutCall<T> &call, uint32_t mode, float keepProb) {
    const AscendC::DropOutShapeInfo &info = call.info;
    RequireRange("DropOut", 5, info.maskLastAxis, 1, UINT32_MAX, call.at);
    RequireRange("DropOut", 5, info.srcLastAxis * sizeof(T) % kBlockBytes, 0, 0, call.at);
    if (!(keepProb > 0.0f && keepProb < 1.0f)) {
        Fault(VNPU_FAULT_BAD_ARGUMENT, "DropOut", call.at, ToBits(keepProb), 4);
    }
    const uint32_t chosen = DropOutModeOf(mode, info);
    if (chosen == kBytes || chosen == kPaddedBytes) {
        call.ByBytes(chosen == kPaddedBytes);
    } else {
        call.ByBits(chosen == kPaddedBits);
    }
    AscendC::Muls(call.dst, call.dst, static_cast<T>(1.0f / keepProb), static_cast<int32_t>(info.firstAxis * info.srcLastAxis), call.at);
    call.Barrier();
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
PITON_API void DropOut(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<uint8_t> &maskLocal,
                       const LocalTensor<uint8_t> &sharedTmpBuffer, const float keepProb, const DropOutShapeInfo &info,
                       piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("DropOut", piton::kIsFloat<T>, "half, float");
    static_assert(dropOutMode <= piton::kPaddedBits, "dropOutMode is 0 to 4");
    piton::RunDropOut(piton::DropOutCall<T>{dstLocal, srcLocal, maskLocal, sharedTmpBuffer, info, at}, dropOutMode, keepProb);
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
PITON_API void DropOut(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<uint8_t> &maskLocal, const float keepProb,
                       const DropOutShapeInfo &info, piton::Location at = piton::Location()) {
    DropOut<T, isInitBitMode, dropOutMode>(dstLocal, srcLocal, maskLocal, GetTPipePtr(at)->UnusedMemory(at), keepProb, info, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_DROPOUT_H */
