/*
 * Select: src0 where a bit is 1, src1 (a tensor or a scalar) where it is 0.
 *
 * Problem: modes 0 and 2 have four operands, a record three; modes 1 and 2 use scratch memory at the end of the unified buffer.
 * Approach: mode 1 has the bits as src1 and the other value as scalar; modes 0 and 2 have the tensor as src1 and the bits' address and limit as scalar.
 * The engine knows the scratch.
 * The forms without a mask go by what SetCmpMask put into the compare register.
 * Limits: types as documented for the Ascend 910B.
 */
#ifndef PITON_ASCENDC_SELECT_H
#define PITON_ASCENDC_SELECT_H

#include "vector.h"

namespace piton {

template <typename T, typename U>
PITON_API void SubmitSelect(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &bits, const AscendC::LocalTensor<T> &src0,
                            const AscendC::LocalTensor<T> &src1, AscendC::SELMODE mode, const Extent &extent, const AscendC::BinaryRepeatParams &strides,
                            Location at) {
    if (mode != AscendC::SELMODE::VSEL_CMPMASK_SPR && mode != AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE) {
        Fault(VNPU_FAULT_BAD_ARGUMENT, "Select", at, static_cast<uint64_t>(mode), 4);
    }
    vnpu_record record = VectorRecord(VNPU_OP_SELECT, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src0, strides.src0BlkStride, strides.src0RepStride);
    record.src1 = Strided(src1, strides.src1BlkStride, strides.src1RepStride);
    const vnpu_operand selection = bits.Operand();
    record.scalar = selection.addr | uint64_t(selection.limit) << 32;
    record.p[3] = static_cast<uint32_t>(mode);
    Submit(record);
}

template <typename T, typename U>
PITON_API void SubmitSelectScalar(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &bits, const AscendC::LocalTensor<T> &src0, T src1,
                                  AscendC::SELMODE mode, const Extent &extent, const AscendC::BinaryRepeatParams &strides, Location at) {
    if (mode != AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE) {
        Fault(VNPU_FAULT_BAD_ARGUMENT, "Select", at, static_cast<uint64_t>(mode), 4);
    }
    vnpu_record record = VectorRecord(VNPU_OP_SELECT, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src0, strides.src0BlkStride, strides.src0RepStride);
    record.src1 = Strided(bits, 1, 1);
    record.scalar = ToBits(src1);
    record.p[3] = static_cast<uint32_t>(mode);
    Submit(record);
}

template <typename T>
PITON_API vnpu_record SelectByRegister(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src0, AscendC::SELMODE mode, uint32_t repeats,
                                       const AscendC::BinaryRepeatParams &strides, Location at) {
    Extent extent;
    extent.flags = VNPU_F_KEEP_MASK;
    extent.repeats = repeats;
    vnpu_record record = VectorRecord(VNPU_OP_SELECT, Strided(dst, strides.dstBlkStride, strides.dstRepStride), extent, at);
    record.src0 = Strided(src0, strides.src0BlkStride, strides.src0RepStride);
    record.p[3] = static_cast<uint32_t>(mode) | VNPU_SELECT_REGISTER;
    return record;
}

}  // namespace piton

#define PITON_REQUIRE_SELECT                                                         \
    using piton::kDtype;                                                             \
    PITON_REQUIRE_TYPE("Select", piton::kIsFloat<T>, "half, float");                 \
    static_assert(piton::kIsOneOf<U, uint8_t, int8_t, uint16_t, uint32_t, uint64_t>, \
                  "Select: selMask is a tensor of uint8_t, int8_t, uint16_t, uint32_t or uint64_t")

namespace AscendC {

template <typename T, typename U, bool isSetMask = true>
PITON_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE selMode,
                      const uint64_t mask[], const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams,
                      piton::Location at = piton::Location()) {
    PITON_REQUIRE_SELECT;
    piton::SubmitSelect(dst, selMask, src0, src1, selMode, piton::BitsOf<isSetMask>("Select", 5, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U, bool isSetMask = true>
PITON_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE selMode,
                      uint64_t mask, const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_SELECT;
    piton::SubmitSelect(dst, selMask, src0, src1, selMode, piton::LanesOf<isSetMask>("Select", 5, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U>
PITON_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE selMode,
                      uint32_t count, piton::Location at = piton::Location()) {
    PITON_REQUIRE_SELECT;
    piton::SubmitSelect(dst, selMask, src0, src1, selMode, piton::CountOf("Select", 5, count, at), BinaryRepeatParams(), at);
}

template <typename T, typename U, bool isSetMask = true>
PITON_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE selMode, const uint64_t mask[],
                      const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_SELECT;
    piton::SubmitSelectScalar(dst, selMask, src0, src1, selMode, piton::BitsOf<isSetMask>("Select", 5, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U, bool isSetMask = true>
PITON_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE selMode, uint64_t mask,
                      const piton::Narrow<uint8_t> repeatTime, const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_SELECT;
    piton::SubmitSelectScalar(dst, selMask, src0, src1, selMode, piton::LanesOf<isSetMask>("Select", 5, mask, repeatTime, at), repeatParams, at);
}

template <typename T, typename U>
PITON_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE selMode, uint32_t count,
                      piton::Location at = piton::Location()) {
    PITON_REQUIRE_SELECT;
    piton::SubmitSelectScalar(dst, selMask, src0, src1, selMode, piton::CountOf("Select", 5, count, at), BinaryRepeatParams(), at);
}

/* Mode 1 without a mask: the other value comes from the compare register, the active lanes from SetVectorMask. */
template <typename T, typename U>
PITON_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const piton::Narrow<uint8_t> repeatTime,
                      const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_SELECT;
    vnpu_record record = piton::SelectByRegister(dst, src0, SELMODE::VSEL_TENSOR_SCALAR_MODE, repeatTime.Get("Select", 3, at), repeatParams, at);
    record.src1 = piton::Strided(selMask, 1, 1);
    piton::Submit(record);
}

/* Modes 0 and 2 without a mask: the bits, or their address, come from the compare register. */
template <typename T, SELMODE selMode>
PITON_API void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const piton::Narrow<uint8_t> repeatTime,
                      const BinaryRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Select", piton::kIsFloat<T>, "half, float");
    static_assert(selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE, "Select with a scalar takes selMask: Select(dst, selMask, src0, repeatTime, repeatParams)");
    vnpu_record record = piton::SelectByRegister(dst, src0, selMode, repeatTime.Get("Select", 3, at), repeatParams, at);
    record.src1 = piton::Strided(src1, repeatParams.src1BlkStride, repeatParams.src1RepStride);
    piton::Submit(record);
}

}  // namespace AscendC

#undef PITON_REQUIRE_SELECT

#endif /* PITON_ASCENDC_SELECT_H */
