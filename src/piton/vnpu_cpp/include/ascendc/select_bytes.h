/*
 * Select by a tensor of numbers (SelectWithBytesMask): a tensor's element where the mask is 0, the scalar where it is not, or the other way round.
 *
 * Problem: the chip selects by bits only, the mask holds numbers of 1, 2 or 4 bytes, and its rows may be longer than the data's.
 * Approach: the documented steps, row by row and in parts that fit the memory: mask to half or float, compared with 0 into bits, selected by them. The scalar
 * comes from the compare register, so that no memory of the mode with a scalar is needed. Longer rows of the mask are skipped, not gathered: it is not changed.
 * Limits: half and float. Their time is that of these instructions; what the vendor's library does with a matrix at once is not published.
 */
#ifndef PITON_ASCENDC_SELECT_BYTES_H
#define PITON_ASCENDC_SELECT_BYTES_H

#include "cast.h"
#include "compare.h"
#include "duplicate.h"
#include "scratch.h"
#include "select.h"
#include "sync.h"

namespace AscendC {

/* Rows of both, columns in memory of either. */
struct SelectWithBytesMaskShapeInfo {
    PITON_API SelectWithBytesMaskShapeInfo() {}
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

}  // namespace AscendC

namespace piton {

template <typename U>
constexpr bool kIsByteMask = kIsOneOf<U, bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;

/* What a mask is read as and converted to: no number but 0 becomes 0. */
template <std::size_t bytes>
struct MaskNumber {
    using From = uint8_t;
    using Wide = half;
};
template <>
struct MaskNumber<2> {
    using From = int16_t;
    using Wide = half;
};
template <>
struct MaskNumber<4> {
    using From = int32_t;
    using Wide = float;
};

/* Memory of a selection: the numbers of a part, its bits, the scalar's block. */
template <typename T, typename U>
struct ByteSelection {
    using From = typename MaskNumber<sizeof(U)>::From;
    using Wide = typename MaskNumber<sizeof(U)>::Wide;
    static constexpr uint32_t kUnit = kRepeatBytes / sizeof(half); /* elements of whole repeats of either */
    static constexpr uint32_t kUnitBytes = kUnit * sizeof(Wide) + kBlockBytes;

    AscendC::LocalTensor<uint8_t> memory;
    uint32_t room;
    T scalar;
    AscendC::CMPMODE tensorWhere; /* the mask in relation to 0 */
    Location at;

    PITON_API AscendC::LocalTensor<T> Scalar() const { return memory.template ReinterpretCast<T>(); }
    PITON_API AscendC::LocalTensor<uint8_t> Bits() const { return memory[kBlockBytes]; }
    PITON_API AscendC::LocalTensor<Wide> Numbers() const { return memory[kBlockBytes + room / kUnit * kBlockBytes].template ReinterpretCast<Wide>(); }
    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }

    PITON_API void Part(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<U> &mask, uint32_t count) const {
        AscendC::Cast(Numbers(), mask.template ReinterpretCast<From>(), AscendC::RoundMode::CAST_NONE, count, at);
        Barrier();
        AscendC::Compares<Wide, uint8_t>(Bits(), Numbers(), Wide(0), tensorWhere, (count + kUnit - 1) / kUnit * kUnit, at);
        Barrier();
        AscendC::SetMaskCount(at); /* each time: instructions by count leave the normal mode behind */
        AscendC::SetVectorMask<T, AscendC::MaskMode::COUNTER>(static_cast<int32_t>(count), at);
        AscendC::Select(dst, Bits(), src, 1, AscendC::BinaryRepeatParams(), at);
        Barrier();
    }
    PITON_API void Row(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<U> &mask, uint32_t columns) const {
        for (uint32_t done = 0; done < columns; done += room) {
            Part(dst[done], src[done], mask[done], columns - done < room ? columns - done : room);
        }
    }
};

template <typename T, typename U>
PITON_API void RequireByteMaskShape(const char *api, const AscendC::SelectWithBytesMaskShapeInfo &info, Location at) {
    constexpr uint32_t kMaskUnit = 16; /* columns, besides whole blocks: page of the call */
    RequireRange(api, 5, info.srcLastAxis * sizeof(T) % kBlockBytes, 0, 0, at);
    RequireRange(api, 5, info.maskLastAxis * sizeof(U) % kBlockBytes, 0, 0, at);
    RequireRange(api, 5, info.maskLastAxis % kMaskUnit, 0, 0, at);
    RequireRange(api, 5, info.srcLastAxis, 0, info.maskLastAxis, at);
}

template <typename T, typename U>
PITON_API void SelectByBytes(const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<U> &mask,
                             const AscendC::SelectWithBytesMaskShapeInfo &info, ByteSelection<T, U> selection) {
    const Location at = selection.at;
    const uint32_t units = (selection.memory.GetSize() < kBlockBytes ? 0 : selection.memory.GetSize() - kBlockBytes) / selection.kUnitBytes;
    RequireByteMaskShape<T, U>(api, info, at);
    if (units == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, at, kBlockBytes + selection.kUnitBytes, selection.memory.GetSize());
    }
    selection.room = units * selection.kUnit;
    const uint64_t used = kBlockBytes + uint64_t(units) * selection.kUnitBytes, elements = uint64_t(info.firstAxis) * info.srcLastAxis;
    RequireApart(api, dst.Operand(), elements * sizeof(T), selection.memory.Operand(), used, at);
    RequireApart(api, src.Operand(), elements * sizeof(T), selection.memory.Operand(), used, at);
    RequireApart(api, mask.Operand(), uint64_t(info.firstAxis) * info.maskLastAxis * sizeof(U), selection.memory.Operand(), used, at);
    AscendC::Duplicate(selection.Scalar(), selection.scalar, static_cast<int32_t>(kBlockBytes / sizeof(T)), at);
    selection.Barrier();
    AscendC::SetCmpMask(selection.Scalar(), at);
    selection.Barrier();
    for (uint32_t row = 0; row < info.firstAxis; ++row) {
        selection.Row(dst[row * info.srcLastAxis], src[row * info.srcLastAxis], mask[row * info.maskLastAxis], info.srcLastAxis);
    }
    AscendC::SetMaskNorm(at);
    AscendC::ResetMask(at);
}

}  // namespace piton

/* The two forms under the present and the older name. */
#define PITON_SELECT_BYTES(Name)                                                                                                                         \
    namespace AscendC {                                                                                                                                  \
    template <typename T, typename U, bool isReuseMask = true>                                                                                           \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, T src1, const LocalTensor<U> &mask,                                       \
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const SelectWithBytesMaskShapeInfo &info, piton::Location at = piton::Location()) { \
        static_assert(piton::kIsFloat<T> && piton::kIsByteMask<U>, #Name " by a tensor of numbers takes half and float and masks of 1, 2 or 4 bytes");   \
        piton::SelectByBytes(#Name, dst, src0, mask, info, piton::ByteSelection<T, U>{sharedTmpBuffer, 0, src1, CMPMODE::EQ, at});                       \
    }                                                                                                                                                    \
    template <typename T, typename U, bool isReuseMask = true>                                                                                           \
    PITON_API void Name(const LocalTensor<T> &dst, T src0, const LocalTensor<T> &src1, const LocalTensor<U> &mask,                                       \
                        const LocalTensor<uint8_t> &sharedTmpBuffer, const SelectWithBytesMaskShapeInfo &info, piton::Location at = piton::Location()) { \
        static_assert(piton::kIsFloat<T> && piton::kIsByteMask<U>, #Name " by a tensor of numbers takes half and float and masks of 1, 2 or 4 bytes");   \
        piton::SelectByBytes(#Name, dst, src1, mask, info, piton::ByteSelection<T, U>{sharedTmpBuffer, 0, src0, CMPMODE::NE, at});                       \
    }                                                                                                                                                    \
    }

PITON_SELECT_BYTES(Select)
PITON_SELECT_BYTES(SelectWithBytesMask)

#undef PITON_SELECT_BYTES

#endif /* PITON_ASCENDC_SELECT_BYTES_H */
