/*
 * Reductions of a repeat, of each block, of pairs, and of a whole tensor; Brcb, which spreads elements over blocks.
 *
 * Problem: destination strides count results of several sizes; ReduceSum, ReduceMax and ReduceMin are several instructions each.
 * Approach: one record per call: the destination's repeat stride as given, its unit known from opcode and order; the work buffer of the composite ones is
 * src1. The engine knows the passes and the hidden synchronisation.
 * Limits: types as documented for the Ascend 910B.
 */
#ifndef PITON_ASCENDC_REDUCE_H
#define PITON_ASCENDC_REDUCE_H

#include "vector.h"

namespace piton {

constexpr int64_t kMaxReduceStride = 65535;

/* Strides of a one-instruction reduction, in the order of the calls. */
struct ReduceStrides {
    int32_t dstRep;
    int32_t srcBlk;
    int32_t srcRep;
};

/* `first` is the number of the first stride's argument. */
template <typename T>
PITON_API void SubmitReduce(uint16_t opcode, const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const Extent &extent,
                            const ReduceStrides &strides, uint32_t first, uint32_t order, Location at) {
    RequireRange(api, first, strides.dstRep, 0, kMaxReduceStride, at);
    RequireRange(api, first + 1, strides.srcBlk, 0, kMaxReduceStride, at);
    RequireRange(api, first + 2, strides.srcRep, 0, kMaxReduceStride, at);
    vnpu_record record = VectorRecord(opcode, Strided(dst, 1, static_cast<uint16_t>(strides.dstRep)), extent, at);
    record.src0 = Strided(src, static_cast<uint16_t>(strides.srcBlk), static_cast<uint16_t>(strides.srcRep));
    record.p[3] = order;
    Submit(record);
}

template <typename T>
PITON_API void SubmitReduceAll(uint16_t opcode, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<T> &work,
                               const Extent &extent, uint16_t srcRep, bool calIndex, Location at) {
    vnpu_record record = VectorRecord(opcode, Dense(dst), extent, at);
    record.src0 = Strided(src, kDenseBlk, srcRep);
    record.src1 = Dense(work);
    record.p[3] = calIndex;
    Submit(record);
}

/* Repeats of the composite reductions: any number. They follow the mask, the stride follows them. */
PITON_API Extent ManyRepeats(const char *api, MaskBits bits, int32_t repeats, int32_t srcRep, Location at) {
    RequireRange(api, 4, repeats, 0, INT32_MAX, at);
    RequireRange(api, 5, srcRep, 0, kMaxReduceStride, at);
    Extent extent;
    extent.flags = VNPU_F_SET_MASK;
    extent.repeats = static_cast<uint32_t>(repeats);
    extent.bits = bits;
    return extent;
}

/* The lanes of a mask argument; a negative one is outside every range. */
template <bool isSetMask>
PITON_API Extent ReduceLanes(const char *api, uint32_t maskIndex, int64_t mask, uint32_t repeatIndex, int32_t repeats, Location at) {
    RequireRange(api, maskIndex, mask, 0, INT32_MAX, at);
    RequireRange(api, repeatIndex, repeats, 0, 255, at);
    return LanesOf<isSetMask>(api, maskIndex, static_cast<uint64_t>(mask), repeats, at);
}

template <bool isSetMask>
PITON_API Extent ReduceBits(const char *api, uint32_t maskIndex, const uint64_t *mask, uint32_t repeatIndex, int32_t repeats, Location at) {
    RequireRange(api, repeatIndex, repeats, 0, 255, at);
    return BitsOf<isSetMask>(api, maskIndex, mask, repeats, at);
}

PITON_API constexpr uint16_t PickReduction(AscendC::ReduceType type, uint16_t sum, uint16_t max, uint16_t min) {
    return type == AscendC::ReduceType::SUM ? sum : type == AscendC::ReduceType::MAX ? max : min;
}

}  // namespace piton

#define PITON_REQUIRE_REDUCE(api) \
    using piton::kDtype;          \
    PITON_REQUIRE_TYPE(api, piton::kIsFloat<T>, "half, float")

/* WholeReduceSum and its kind: the mask before the repeats. `orderParameter` and `order` differ between sums and extremes. */
#define PITON_WHOLE_REDUCE(Name, opcode, orderParameter, order)                                                                                            \
    namespace AscendC {                                                                                                                                    \
    template <typename T, bool isSetMask = true>                                                                                                           \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const int32_t repeatTime, const int32_t dstRepStride, \
                        const int32_t srcBlkStride, const int32_t srcRepStride orderParameter, piton::Location at = piton::Location()) {                   \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                                       \
        const piton::Extent extent = piton::ReduceBits<isSetMask>(#Name, 2, mask, 3, repeatTime, at);                                                      \
        piton::SubmitReduce(opcode, #Name, dst, src, extent, {dstRepStride, srcBlkStride, srcRepStride}, 4, static_cast<uint32_t>(order), at);             \
    }                                                                                                                                                      \
    template <typename T, bool isSetMask = true>                                                                                                           \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask, const int32_t repeatTime, const int32_t dstRepStride,    \
                        const int32_t srcBlkStride, const int32_t srcRepStride orderParameter, piton::Location at = piton::Location()) {                   \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                                       \
        const piton::Extent extent = piton::ReduceLanes<isSetMask>(#Name, 2, mask, 3, repeatTime, at);                                                     \
        piton::SubmitReduce(opcode, #Name, dst, src, extent, {dstRepStride, srcBlkStride, srcRepStride}, 4, static_cast<uint32_t>(order), at);             \
    }                                                                                                                                                      \
    }

#define PITON_NO_PARAMETER
#define PITON_ORDER_PARAMETER , ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX
PITON_WHOLE_REDUCE(WholeReduceSum, VNPU_OP_WHOLE_REDUCE_SUM, PITON_NO_PARAMETER, ReduceOrder::ORDER_ONLY_VALUE)
PITON_WHOLE_REDUCE(WholeReduceMax, VNPU_OP_WHOLE_REDUCE_MAX, PITON_ORDER_PARAMETER, order)
PITON_WHOLE_REDUCE(WholeReduceMin, VNPU_OP_WHOLE_REDUCE_MIN, PITON_ORDER_PARAMETER, order)
#undef PITON_WHOLE_REDUCE

/* BlockReduceSum and its kind: the repeats before the mask. */
#define PITON_GROUP_REDUCE(Name, opcode)                                                                                                                   \
    namespace AscendC {                                                                                                                                    \
    template <typename T, bool isSetMask = true>                                                                                                           \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const uint64_t mask[], const int32_t dstRepStride, \
                        const int32_t srcBlkStride, const int32_t srcRepStride, piton::Location at = piton::Location()) {                                  \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                                       \
        const piton::Extent extent = piton::ReduceBits<isSetMask>(#Name, 3, mask, 2, repeatTime, at);                                                      \
        piton::SubmitReduce(opcode, #Name, dst, src, extent, {dstRepStride, srcBlkStride, srcRepStride}, 4, 0, at);                                        \
    }                                                                                                                                                      \
    template <typename T, bool isSetMask = true>                                                                                                           \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t mask, const int32_t dstRepStride,    \
                        const int32_t srcBlkStride, const int32_t srcRepStride, piton::Location at = piton::Location()) {                                  \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                                       \
        const piton::Extent extent = piton::ReduceLanes<isSetMask>(#Name, 3, mask, 2, repeatTime, at);                                                     \
        piton::SubmitReduce(opcode, #Name, dst, src, extent, {dstRepStride, srcBlkStride, srcRepStride}, 4, 0, at);                                        \
    }                                                                                                                                                      \
    }

PITON_GROUP_REDUCE(BlockReduceSum, VNPU_OP_BLOCK_REDUCE_SUM)
PITON_GROUP_REDUCE(BlockReduceMax, VNPU_OP_BLOCK_REDUCE_MAX)
PITON_GROUP_REDUCE(BlockReduceMin, VNPU_OP_BLOCK_REDUCE_MIN)
PITON_GROUP_REDUCE(PairReduceSum, VNPU_OP_PAIR_REDUCE_SUM)
#undef PITON_GROUP_REDUCE

/* The newer names, with the kind of reduction as a template parameter. */
#define PITON_TYPED_REDUCE(Name, opcode, orderParameter, order)                                                                                            \
    namespace AscendC {                                                                                                                                    \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                                                        \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint64_t mask[], const int32_t repeatTime, const int32_t dstRepStride, \
                        const int32_t srcBlkStride, const int32_t srcRepStride orderParameter, piton::Location at = piton::Location()) {                   \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                                       \
        const piton::Extent extent = piton::ReduceBits<isSetMask>(#Name, 2, mask, 3, repeatTime, at);                                                      \
        piton::SubmitReduce(opcode, #Name, dst, src, extent, {dstRepStride, srcBlkStride, srcRepStride}, 4, static_cast<uint32_t>(order), at);             \
    }                                                                                                                                                      \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                                                        \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, const int32_t repeatTime, const int32_t dstRepStride,    \
                        const int32_t srcBlkStride, const int32_t srcRepStride orderParameter, piton::Location at = piton::Location()) {                   \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                                       \
        const piton::Extent extent = piton::ReduceLanes<isSetMask>(#Name, 2, mask, 3, repeatTime, at);                                                     \
        piton::SubmitReduce(opcode, #Name, dst, src, extent, {dstRepStride, srcBlkStride, srcRepStride}, 4, static_cast<uint32_t>(order), at);             \
    }                                                                                                                                                      \
    }

PITON_TYPED_REDUCE(ReduceRepeat, (piton::PickReduction(reduceType, VNPU_OP_WHOLE_REDUCE_SUM, VNPU_OP_WHOLE_REDUCE_MAX, VNPU_OP_WHOLE_REDUCE_MIN)),
                   PITON_ORDER_PARAMETER, reduceType == ReduceType::SUM ? ReduceOrder::ORDER_ONLY_VALUE : order)
PITON_TYPED_REDUCE(ReduceDataBlock, (piton::PickReduction(reduceType, VNPU_OP_BLOCK_REDUCE_SUM, VNPU_OP_BLOCK_REDUCE_MAX, VNPU_OP_BLOCK_REDUCE_MIN)),
                   PITON_NO_PARAMETER, 0)
#undef PITON_TYPED_REDUCE
#undef PITON_ORDER_PARAMETER
#undef PITON_NO_PARAMETER

namespace AscendC {

template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
PITON_API void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint64_t mask[], const int32_t repeatTime, const int32_t dstRepStride,
                              const int32_t srcBlkStride, const int32_t srcRepStride, piton::Location at = piton::Location()) {
    static_assert(reduceType == ReduceType::SUM, "ReducePairElem adds only (ReduceType::SUM)");
    PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, at);
}

template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
PITON_API void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, const int32_t repeatTime, const int32_t dstRepStride,
                              const int32_t srcBlkStride, const int32_t srcRepStride, piton::Location at = piton::Location()) {
    static_assert(reduceType == ReduceType::SUM, "ReducePairElem adds only (ReduceType::SUM)");
    PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, at);
}

/* The old name of WholeReduceSum; dstBlkStride plays no part. */
template <typename T, bool isSetMask = true>
PITON_API void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t mask, const int32_t dstBlkStride,
                               const int32_t srcBlkStride, const int32_t dstRepStride, const int32_t srcRepStride, piton::Location at = piton::Location()) {
    (void)dstBlkStride;
    WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, at);
}

template <typename T, bool isSetMask = true>
PITON_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer, const int32_t count,
                         piton::Location at = piton::Location()) {
    PITON_REQUIRE_REDUCE("ReduceSum");
    const piton::Extent extent = piton::CountOrMask<isSetMask>("ReduceSum", 3, count, at);
    piton::SubmitReduceAll(VNPU_OP_REDUCE_SUM, dst, src, sharedTmpBuffer, extent, piton::kDenseRep, false, at);
}

template <typename T>
PITON_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer, const uint64_t mask[],
                         const int32_t repeatTime, const int32_t srcRepStride, piton::Location at = piton::Location()) {
    PITON_REQUIRE_REDUCE("ReduceSum");
    const piton::Extent extent = piton::ManyRepeats("ReduceSum", {mask[0], mask[1]}, repeatTime, srcRepStride, at);
    piton::SubmitReduceAll(VNPU_OP_REDUCE_SUM, dst, src, sharedTmpBuffer, extent, static_cast<uint16_t>(srcRepStride), false, at);
}

template <typename T>
PITON_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer, const int32_t mask,
                         const int32_t repeatTime, const int32_t srcRepStride, piton::Location at = piton::Location()) {
    PITON_REQUIRE_REDUCE("ReduceSum");
    piton::RequireRange("ReduceSum", 3, mask, 0, INT32_MAX, at);
    const piton::Extent extent = piton::ManyRepeats("ReduceSum", piton::FirstLanes(static_cast<uint64_t>(mask)), repeatTime, srcRepStride, at);
    piton::SubmitReduceAll(VNPU_OP_REDUCE_SUM, dst, src, sharedTmpBuffer, extent, static_cast<uint16_t>(srcRepStride), false, at);
}

}  // namespace AscendC

#define PITON_REDUCE_EXTREME(Name, opcode)                                                                                                     \
    namespace AscendC {                                                                                                                        \
    template <typename T>                                                                                                                      \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer, const int32_t count,      \
                        bool calIndex = false, piton::Location at = piton::Location()) {                                                       \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                           \
        piton::SubmitReduceAll(opcode, dst, src, sharedTmpBuffer, piton::CountOf(#Name, 3, count, at), piton::kDenseRep, calIndex, at);        \
    }                                                                                                                                          \
    template <typename T>                                                                                                                      \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer, const uint64_t mask[],    \
                        const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false, piton::Location at = piton::Location()) { \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                           \
        const piton::Extent extent = piton::ManyRepeats(#Name, {mask[0], mask[1]}, repeatTime, srcRepStride, at);                              \
        piton::SubmitReduceAll(opcode, dst, src, sharedTmpBuffer, extent, static_cast<uint16_t>(srcRepStride), calIndex, at);                  \
    }                                                                                                                                          \
    template <typename T>                                                                                                                      \
    PITON_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer, const int32_t mask,       \
                        const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false, piton::Location at = piton::Location()) { \
        PITON_REQUIRE_REDUCE(#Name);                                                                                                           \
        piton::RequireRange(#Name, 3, mask, 0, INT32_MAX, at);                                                                                 \
        const piton::Extent extent = piton::ManyRepeats(#Name, piton::FirstLanes(static_cast<uint64_t>(mask)), repeatTime, srcRepStride, at);  \
        piton::SubmitReduceAll(opcode, dst, src, sharedTmpBuffer, extent, static_cast<uint16_t>(srcRepStride), calIndex, at);                  \
    }                                                                                                                                          \
    }

PITON_REDUCE_EXTREME(ReduceMax, VNPU_OP_REDUCE_MAX)
PITON_REDUCE_EXTREME(ReduceMin, VNPU_OP_REDUCE_MIN)

#undef PITON_REDUCE_EXTREME
#undef PITON_REQUIRE_REDUCE

namespace AscendC {

/* What the last ReduceSum by count gave. */
template <typename T>
PITON_API T GetReduceRepeatSumSpr(piton::Location at = piton::Location()) {
    static_assert(piton::kIsFloat<T>, "GetReduceRepeatSumSpr gives half or float");
    return piton::FromBits<T>(piton::Fetch(piton::MakeNote(VNPU_OP_GET_REDUCE_SUM, at)));
}

/* Value and index over all repeats of the last WholeReduceMax or WholeReduceMin; after ReduceMax and ReduceMin the value only. */
template <typename T>
PITON_API void GetReduceRepeatMaxMinSpr(T &maxMinValue, T &maxMinIndex, piton::Location at = piton::Location()) {
    static_assert(piton::kIsFloat<T>, "GetReduceRepeatMaxMinSpr gives half or float; the index is an integer in the bits of the second");
    maxMinValue = piton::FromBits<T>(piton::Fetch(piton::MakeNote(VNPU_OP_GET_REDUCE_BEST, at, 0)));
    maxMinIndex = piton::FromBits<T>(piton::Fetch(piton::MakeNote(VNPU_OP_GET_REDUCE_BEST, at, 1)));
}

/* The older name. */
template <typename T>
PITON_API void GetReduceMaxMinCount(T &maxMinValue, T &maxMinIndex, piton::Location at = piton::Location()) {
    GetReduceRepeatMaxMinSpr(maxMinValue, maxMinIndex, at);
}

/* Eight elements per repeat, each over a whole block. */
template <typename T>
PITON_API void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const piton::Narrow<uint8_t> repeatTime, const BrcbRepeatParams &repeatParams,
                    piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Brcb", piton::kIsBroadcast<T>, "half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t");
    piton::Extent extent;
    extent.flags = VNPU_F_KEEP_MASK;
    extent.repeats = repeatTime.Get("Brcb", 2, at);
    vnpu_record record = piton::VectorRecord(VNPU_OP_BRCB, piton::Strided(dst, repeatParams.dstBlkStride, repeatParams.dstRepStride), extent, at);
    record.src0 = piton::Dense(src);
    piton::Submit(record);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_REDUCE_H */
