/*
 * What all vector instructions share: operands, the three ways to say how much to do, and refusals of element types.
 *
 * Problem: each instruction exists in a count form and in two mask/repeat/stride forms, and supports few types.
 * Approach: the forms become the flags of the record (vnpu/abi.h). A contiguous mask (first n lanes) is stored as bits and also as a number in p[1] with
 * p[2] = 1, because counter mode takes the number. A type that the chip's instruction lacks is refused at compile time, as the chip's compiler does.
 * Limits: alignment, bounds and overlap are the engine's to check.
 */
#ifndef PITON_ASCENDC_VECTOR_H
#define PITON_ASCENDC_VECTOR_H

#include "params.h"
#include "sync.h"
#include "tensor.h"

namespace AscendC {

/* Stand for the mask where isSetMask is false. */
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};

}  // namespace AscendC

namespace piton {

/* Is T one of the others? */
template <typename T, typename... Others>
constexpr bool kIsOneOf = (std::is_same<T, Others>::value || ...);

template <typename T>
constexpr bool kIsFloat = kIsOneOf<T, half, float>;
template <typename T>
constexpr bool kIsArithmetic = kIsOneOf<T, half, float, int16_t, int32_t>;
template <typename T>
constexpr bool kIsLogic = kIsOneOf<T, int16_t, uint16_t>;
template <typename T>
constexpr bool kIsShifted = kIsOneOf<T, int16_t, uint16_t, int32_t, uint32_t>;
template <typename T>
constexpr bool kIsBroadcast = kIsOneOf<T, half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t>;

/* Types that a refusal names. */
template <typename T>
constexpr bool kIsNamedType =
    kIsOneOf<T, bfloat16_t, half, float, AscendC::int4b_t, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t> ||
    kIsOneOf<T, double, bool>;

/* A static_assert that names the instruction, the type, what is supported and the way out; one line per type since the text has to be a literal. */
#define PITON_REFUSE_TYPE(api, refused, isSupported, list, advice) \
    static_assert((isSupported) || !std::is_same<T, refused>::value, api " does not support " #refused " on the Ascend 910B; supported: " list ". " advice)
#define PITON_REQUIRE_TYPE(api, isSupported, list)                                                           \
    PITON_REFUSE_TYPE(api, bfloat16_t, isSupported, list, "Cast to float first.");                           \
    PITON_REFUSE_TYPE(api, half, isSupported, list, "Cast to float first.");                                 \
    PITON_REFUSE_TYPE(api, float, isSupported, list, "Use one of those.");                                   \
    PITON_REFUSE_TYPE(api, AscendC::int4b_t, isSupported, list, "Cast to half first.");                      \
    PITON_REFUSE_TYPE(api, int8_t, isSupported, list, "Cast to half first.");                                \
    PITON_REFUSE_TYPE(api, uint8_t, isSupported, list, "Cast to half first.");                               \
    PITON_REFUSE_TYPE(api, int16_t, isSupported, list, "Cast to float first.");                              \
    PITON_REFUSE_TYPE(api, uint16_t, isSupported, list, "ReinterpretCast to int16_t if the bits allow it."); \
    PITON_REFUSE_TYPE(api, int32_t, isSupported, list, "Cast to float first.");                              \
    PITON_REFUSE_TYPE(api, uint32_t, isSupported, list, "ReinterpretCast to int32_t if the bits allow it."); \
    PITON_REFUSE_TYPE(api, int64_t, isSupported, list, "Cast to int32_t or float first.");                   \
    PITON_REFUSE_TYPE(api, uint64_t, isSupported, list, "Use a 32-bit type.");                               \
    PITON_REFUSE_TYPE(api, double, isSupported, list, "Use float.");                                         \
    PITON_REFUSE_TYPE(api, bool, isSupported, list, "Use a tensor of int8_t and Cast it to half.");          \
    static_assert((isSupported) || piton::kIsNamedType<T>, api ": the tensor's type is not supported on the Ascend 910B; supported: " list)

/* Strides that a dense operand has: block after block, repeat after repeat. */
constexpr uint16_t kDenseBlk = 1;
constexpr uint16_t kDenseRep = 8;

template <typename T>
PITON_API vnpu_operand Strided(const AscendC::LocalTensor<T> &tensor, uint16_t blk, uint16_t rep) {
    vnpu_operand operand = tensor.Operand();
    operand.blk = blk;
    operand.rep = rep;
    return operand;
}

template <typename T>
PITON_API vnpu_operand Dense(const AscendC::LocalTensor<T> &tensor) {
    return Strided(tensor, kDenseBlk, kDenseRep);
}

/* How much to do: a count, or a mask with repeats. */
struct Extent {
    uint8_t flags = 0;
    uint32_t repeats = 0; /* or elements, with VNPU_F_COUNT */
    uint32_t lanes = 0;
    bool isContiguous = false;
    MaskBits bits{0, 0};
};

template <typename Number>
PITON_API Extent CountOf(const char *api, uint32_t index, Number count, Location at) {
    RequireRange(api, index, count, 0, INT32_MAX, at);
    Extent extent;
    extent.flags = VNPU_F_COUNT;
    extent.repeats = static_cast<uint32_t>(count);
    return extent;
}

/* The count form of instructions with isSetMask: without it the mask register says how much, for one repeat. */
template <bool isSetMask, typename Number>
PITON_API Extent CountOrMask(const char *api, uint32_t index, Number count, Location at) {
    Extent extent = CountOf(api, index, count, at);
    if (!isSetMask) {
        extent.flags = VNPU_F_KEEP_MASK;
        extent.repeats = 1;
    }
    return extent;
}

/* `index` is the argument number of the mask; the repeats follow it. More lanes than a repeat has count as all of them. */
template <bool isSetMask>
PITON_API Extent LanesOf(const char *api, uint32_t index, uint64_t lanes, Narrow<uint8_t> repeats, Location at) {
    Extent extent;
    extent.flags = isSetMask ? VNPU_F_SET_MASK : VNPU_F_KEEP_MASK;
    extent.repeats = repeats.Get(api, index + 1, at);
    if (isSetMask) {
        extent.isContiguous = true;
        extent.lanes = static_cast<uint32_t>(lanes);
        extent.bits = FirstLanes(lanes);
    }
    return extent;
}

template <bool isSetMask>
PITON_API Extent BitsOf(const char *api, uint32_t index, const uint64_t *mask, Narrow<uint8_t> repeats, Location at) {
    Extent extent;
    extent.flags = isSetMask ? VNPU_F_SET_MASK : VNPU_F_KEEP_MASK;
    extent.repeats = repeats.Get(api, index + 1, at);
    if (isSetMask) {
        extent.bits = {mask[0], mask[1]};
    }
    return extent;
}

PITON_API vnpu_record VectorRecord(uint16_t opcode, const vnpu_operand &dst, const Extent &extent, Location at) {
    vnpu_record record = MakeNote(opcode, at, extent.repeats, extent.lanes, extent.isContiguous);
    record.pipe = VNPU_PIPE_V;
    record.flags = extent.flags;
    record.mask[0] = extent.bits.low;
    record.mask[1] = extent.bits.high;
    record.dst = dst;
    return record;
}

}  // namespace piton

#endif /* PITON_ASCENDC_VECTOR_H */
