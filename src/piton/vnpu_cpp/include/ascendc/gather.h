/*
 * Gather, Gatherb: elements or blocks at byte offsets. GatherMask: those that a pattern chooses. CreateVecIndex, Arange (ArithProgression): counting up.
 *
 * Problem: which bytes Gather reads is known to the data only; ArithProgression is a loop of other calls on the chip.
 * Approach: Gather, GatherMask and CreateVecIndex are one record each; ArithProgression is written with SetValue and Adds, as its documentation says it is.
 * Limits: types as documented for the Ascend 910B.
 */
#ifndef PITON_ASCENDC_GATHER_H
#define PITON_ASCENDC_GATHER_H

#include "vector.h"
#include "vector_scalar.h"

namespace piton {

template <typename T>
PITON_API void SubmitGather(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint32_t> &offsets,
                            uint32_t base, const Extent &extent, uint16_t dstRep, Location at) {
    vnpu_record record = VectorRecord(VNPU_OP_GATHER, Strided(dst, kDenseBlk, dstRep), extent, at);
    record.src0 = Dense(src);
    record.src1 = Dense(offsets);
    record.scalar = base;
    Submit(record);
}

template <typename T>
PITON_API void SubmitVecIndex(const AscendC::LocalTensor<T> &dst, const T &first, const Extent &extent, uint16_t dstBlk, uint16_t dstRep, Location at) {
    vnpu_record record = VectorRecord(VNPU_OP_CREATE_VEC_INDEX, Strided(dst, dstBlk, dstRep), extent, at);
    record.scalar = ToBits(first);
    Submit(record);
}

/* The bits of a pattern come in units of the data's width. */
template <typename T, typename U>
constexpr bool kIsPattern = std::is_same<U, std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>>::value;

/* Returns the number of chosen elements. In counter mode `mask` elements of each repeat take part. */
template <typename T>
PITON_API uint64_t SubmitGatherMask(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const vnpu_operand &bits, uint64_t pattern,
                                    bool isCounter, uint32_t mask, const AscendC::GatherMaskParams &params, Location at) {
    RequireRange("GatherMask", 5, params.repeatTimes, 0, 255, at);
    vnpu_record record = MakeNote(VNPU_OP_GATHER_MASK, at, params.repeatTimes, isCounter ? mask : 0);
    record.pipe = VNPU_PIPE_V;
    record.dst = Dense(dst);
    record.src0 = Strided(src, params.src0BlockStride, params.src0RepeatStride);
    record.src1 = bits;
    record.scalar = pattern;
    record.p[3] = isCounter;
    return Fetch(record);
}

constexpr int32_t kFrameworkEvent = 7; /* the id that user code leaves to the framework */

/* first + diff * n, floats computed in float and rounded once. */
template <typename T>
PITON_API T Progress(T first, T diff, int32_t n) {
    if constexpr (std::is_integral<T>::value) {
        return static_cast<T>(static_cast<uint32_t>(first) + static_cast<uint32_t>(diff) * static_cast<uint32_t>(n));
    } else {
        return static_cast<T>(static_cast<float>(first) + static_cast<float>(diff) * static_cast<float>(n));
    }
}

}  // namespace piton

#define PITON_REQUIRE_GATHER \
    using piton::kDtype;     \
    PITON_REQUIRE_TYPE("Gather", piton::kIsBroadcast<T>, "half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t")
#define PITON_REQUIRE_INDEX(api) \
    using piton::kDtype;         \
    PITON_REQUIRE_TYPE(api, piton::kIsArithmetic<T>, "half, float, int16_t, int32_t")

namespace AscendC {

template <typename T>
PITON_API void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseAddr,
                      const uint64_t mask[], const piton::Narrow<uint8_t> repeatTime, const piton::Narrow<uint16_t> dstRepStride,
                      piton::Location at = piton::Location()) {
    PITON_REQUIRE_GATHER;
    const piton::Extent extent = piton::BitsOf<true>("Gather", 4, mask, repeatTime, at);
    piton::SubmitGather(dst, src, srcOffset, srcBaseAddr, extent, dstRepStride.Get("Gather", 6, at), at);
}

template <typename T>
PITON_API void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseAddr,
                      const uint64_t mask, const piton::Narrow<uint8_t> repeatTime, const piton::Narrow<uint16_t> dstRepStride,
                      piton::Location at = piton::Location()) {
    PITON_REQUIRE_GATHER;
    const piton::Extent extent = piton::LanesOf<true>("Gather", 4, mask, repeatTime, at);
    piton::SubmitGather(dst, src, srcOffset, srcBaseAddr, extent, dstRepStride.Get("Gather", 6, at), at);
}

template <typename T>
PITON_API void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseAddr,
                      const uint32_t count, piton::Location at = piton::Location()) {
    PITON_REQUIRE_GATHER;
    piton::SubmitGather(dst, src, srcOffset, srcBaseAddr, piton::CountOf("Gather", 4, count, at), piton::kDenseRep, at);
}

/* Blocks of 32 bytes, eight per repeat. A destination block stride of 0 counts as 1. */
template <typename T>
PITON_API void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &offset, const piton::Narrow<uint8_t> repeatTime,
                       const GatherRepeatParams &repeatParams, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Gatherb", (piton::kIsOneOf<T, uint16_t, uint32_t>), "uint16_t, uint32_t");
    vnpu_record record = piton::MakeNote(VNPU_OP_GATHER_BLOCKS, at, repeatTime.Get("Gatherb", 3, at));
    record.pipe = VNPU_PIPE_V;
    record.dst = piton::Strided(dst, repeatParams.dstBlkStride == 0 ? piton::kDenseBlk : repeatParams.dstBlkStride, repeatParams.dstRepStride);
    record.src0 = piton::Dense(src0);
    record.src1 = piton::Dense(offset);
    piton::Submit(record);
}

template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
PITON_API void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<U> &src1Pattern, const bool reduceMode, const uint32_t mask,
                          const GatherMaskParams &gatherMaskParams, uint64_t &rsvdCnt, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("GatherMask", piton::kIsBroadcast<T>, "half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t");
    static_assert(piton::kIsPattern<T, U>, "GatherMask: the pattern is a tensor of uint16_t for 2-byte data, of uint32_t for 4-byte data");
    const vnpu_operand bits = piton::Strided(src1Pattern, piton::kDenseBlk, gatherMaskParams.src1RepeatStride);
    rsvdCnt = piton::SubmitGatherMask(dst, src0, bits, 0, reduceMode, mask, gatherMaskParams, at);
}

template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
PITON_API void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const uint8_t src1Pattern, const bool reduceMode, const uint32_t mask,
                          const GatherMaskParams &gatherMaskParams, uint64_t &rsvdCnt, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("GatherMask", piton::kIsBroadcast<T>, "half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t");
    piton::RequireRange("GatherMask", 2, src1Pattern, 1, 7, at);
    rsvdCnt = piton::SubmitGatherMask(dst, src0, vnpu_operand{}, src1Pattern, reduceMode, mask, gatherMaskParams, at);
}

template <typename T>
PITON_API void CreateVecIndex(const LocalTensor<T> &dst, const T &firstValue, const uint64_t mask[], const piton::Narrow<uint8_t> repeatTime,
                              const piton::Narrow<uint16_t> dstBlkStride, const piton::Narrow<uint8_t> dstRepStride, piton::Location at = piton::Location()) {
    PITON_REQUIRE_INDEX("CreateVecIndex");
    const piton::Extent extent = piton::BitsOf<true>("CreateVecIndex", 2, mask, repeatTime, at);
    piton::SubmitVecIndex(dst, firstValue, extent, dstBlkStride.Get("CreateVecIndex", 4, at), dstRepStride.Get("CreateVecIndex", 5, at), at);
}

template <typename T>
PITON_API void CreateVecIndex(const LocalTensor<T> &dst, const T &firstValue, uint64_t mask, const piton::Narrow<uint8_t> repeatTime,
                              const piton::Narrow<uint16_t> dstBlkStride, const piton::Narrow<uint8_t> dstRepStride, piton::Location at = piton::Location()) {
    PITON_REQUIRE_INDEX("CreateVecIndex");
    const piton::Extent extent = piton::LanesOf<true>("CreateVecIndex", 2, mask, repeatTime, at);
    piton::SubmitVecIndex(dst, firstValue, extent, dstBlkStride.Get("CreateVecIndex", 4, at), dstRepStride.Get("CreateVecIndex", 5, at), at);
}

template <typename T>
PITON_API void CreateVecIndex(const LocalTensor<T> &dst, const T &firstValue, uint32_t count, piton::Location at = piton::Location()) {
    PITON_REQUIRE_INDEX("CreateVecIndex");
    piton::SubmitVecIndex(dst, firstValue, piton::CountOf("CreateVecIndex", 2, count, at), piton::kDenseBlk, piton::kDenseRep, at);
}

/* A block by the scalar unit (8 floats), then as many at a time up to a repeat (64), then a repeat at a time, ordered as the chip's own code orders itself. */
template <typename T>
PITON_API void ArithProgression(const LocalTensor<T> &dstLocal, const T firstValue, const T diffValue, const int32_t count,
                                piton::Location at = piton::Location()) {
    PITON_REQUIRE_INDEX("ArithProgression");
    constexpr int32_t kByScalar = piton::kBlockBytes / sizeof(T), kStep = piton::kRepeatBytes / sizeof(T);
    piton::RequireRange("ArithProgression", 3, count, 0, INT32_MAX, at);
    for (int32_t i = 0; i < count && i < kByScalar; ++i) {
        dstLocal.SetValue(static_cast<uint32_t>(i), piton::Progress(firstValue, diffValue, i), at);
    }
    piton::SubmitFlag(VNPU_OP_SET_FLAG, {VNPU_PIPE_S, VNPU_PIPE_V}, piton::kFrameworkEvent, VNPU_F_QUEUE, at);
    piton::SubmitFlag(VNPU_OP_WAIT_FLAG, {VNPU_PIPE_S, VNPU_PIPE_V}, piton::kFrameworkEvent, VNPU_F_QUEUE, at);
    for (int32_t done = kByScalar; done < count;) {
        const int32_t step = done < kStep ? kByScalar : kStep;
        const int32_t next = count - done < step ? count - done : step;
        Adds(dstLocal[static_cast<uint32_t>(done)], dstLocal[static_cast<uint32_t>(done - step)], piton::Progress(T(0), diffValue, step), next, at);
        piton::SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
        done += next;
    }
}

/* Its present name. */
template <typename T>
PITON_API void Arange(const LocalTensor<T> &dst, const T firstValue, const T diffValue, const int32_t count, piton::Location at = piton::Location()) {
    ArithProgression(dst, firstValue, diffValue, count, at);
}

}  // namespace AscendC

#undef PITON_REQUIRE_GATHER
#undef PITON_REQUIRE_INDEX

#endif /* PITON_ASCENDC_GATHER_H */
