/*
 * BilinearInterpolation: blocks gathered by offsets, times weights, added up.
 *
 * Problem: an instruction of earlier chips, which the documentation has for the Ascend 910B as a composition.
 * Approach: its documented steps: Gatherb, Brcb of the weights, Mul (a weight per repeat, or per block), and for every vertical repeat the sum of its
 * horizontal ones, in order. Their time is that of these instructions.
 * Limits: half.
 */
#ifndef PITON_ASCENDC_BILINEAR_H
#define PITON_ASCENDC_BILINEAR_H

#include "gather.h"
#include "reduce.h"
#include "scratch.h"
#include "vector_binary.h"
#include "vector_scalar.h"

namespace piton {

/* `Mask` is a number of lanes or two words of bits. */
template <typename Mask>
struct BilinearCall {
    static constexpr uint32_t kLanes = kRepeatBytes / sizeof(half), kBlocks = 8, kPerBlock = kBlockBytes / sizeof(half);
    static constexpr uint32_t kMostRepeats = 254; /* even, so that 8 weights of 2 bytes per repeat begin at a whole block */

    const AscendC::LocalTensor<half> &dst;
    const AscendC::LocalTensor<uint8_t> &memory;
    Mask mask;
    uint32_t horizontal, vertical;
    bool isPerBlock;
    uint16_t dstBlock, dstStep;
    Location at;

    PITON_API uint32_t Repeats() const { return horizontal * vertical; }
    PITON_API uint32_t Weights() const { return ((isPerBlock ? kBlocks * Repeats() : Repeats()) + kBlocks - 1) / kBlocks * kBlocks; }
    PITON_API AscendC::LocalTensor<half> Gathered() const { return memory.template ReinterpretCast<half>(); }
    PITON_API AscendC::LocalTensor<half> Spread() const { return Gathered()[Repeats() * kLanes]; }
    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }

    PITON_API void GatherBlocks(const AscendC::LocalTensor<half> &src, const AscendC::LocalTensor<uint32_t> &offsets) const {
        const auto from = src.ReinterpretCast<uint16_t>(), to = Gathered().template ReinterpretCast<uint16_t>();
        for (uint32_t done = 0; done < Repeats(); done += kMostRepeats) {
            const uint32_t part = Repeats() - done < kMostRepeats ? Repeats() - done : kMostRepeats;
            AscendC::Gatherb(to[done * kLanes], from, offsets[done * kBlocks], static_cast<uint8_t>(part), {1, 8}, at);
        }
        Barrier();
    }
    PITON_API void SpreadWeights(const AscendC::LocalTensor<half> &weights) const {
        const uint32_t repeats = Weights() / kBlocks;
        for (uint32_t done = 0; done < repeats; done += kMostRepeats) {
            const uint32_t part = repeats - done < kMostRepeats ? repeats - done : kMostRepeats;
            AscendC::Brcb(Spread()[done * kLanes], weights[done * kBlocks], static_cast<uint8_t>(part), {1, 8}, at);
        }
        Barrier();
    }
    PITON_API void Weigh() const {
        const uint8_t block = isPerBlock ? 1 : 0, repeat = isPerBlock ? 8 : 1;
        for (uint32_t done = 0; done < Repeats(); done += kMostRepeats) {
            const uint32_t part = Repeats() - done < kMostRepeats ? Repeats() - done : kMostRepeats;
            const auto data = Gathered()[done * kLanes];
            AscendC::Mul(data, data, Spread()[done * repeat * kPerBlock], mask, static_cast<uint8_t>(part), {1, 1, block, 8, 8, repeat}, at);
        }
        Barrier();
    }
    PITON_API void AddUp(uint32_t row) const {
        const auto to = dst[row * dstStep], from = Gathered()[row * horizontal * kLanes];
        const auto block = static_cast<uint8_t>(dstBlock);
        if (horizontal == 1) {
            AscendC::Adds(to, from, half(0), mask, 1, {dstBlock, 1, 8, 8}, at);
            return;
        }
        AscendC::Add(to, from, from[kLanes], mask, 1, {block, 1, 1, 8, 8, 8}, at);
        for (uint32_t next = 2; next < horizontal; ++next) {
            Barrier();
            AscendC::Add(to, to, from[next * kLanes], mask, 1, {block, block, 1, 8, 8, 8}, at);
        }
    }
};

template <typename Mask>
PITON_API void Interpolate(const BilinearCall<Mask> &call, const AscendC::LocalTensor<half> &src0, const AscendC::LocalTensor<uint32_t> &src0Offset,
                           const AscendC::LocalTensor<half> &src1) {
    constexpr int64_t kMostStride = 255; /* what a block stride of Add holds */
    const char *api = "BilinearInterpolation";
    RequireRange(api, 5, call.horizontal, 1, 255, call.at);
    RequireRange(api, 7, call.dstBlock, 1, kMostStride, call.at);
    RequireRange(api, 8, call.dstStep, 128, 65534, call.at);
    RequireRange(api, 9, call.vertical, 1, 255, call.at);
    const uint64_t used = (uint64_t(call.Repeats()) * call.kLanes + uint64_t(call.Weights()) * call.kPerBlock) * sizeof(half);
    if (call.memory.GetSize() < used) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, call.at, used, call.memory.GetSize());
    }
    RequireApart(api, src0.Operand(), src0.GetSize() * sizeof(half), call.memory.Operand(), used, call.at);
    call.GatherBlocks(src0, src0Offset);
    call.SpreadWeights(src1);
    call.Weigh();
    for (uint32_t row = 0; row < call.vertical; ++row) {
        call.AddUp(row);
    }
    call.Barrier();
}

}  // namespace piton

namespace AscendC {

template <typename T>
PITON_API void BilinearInterpolation(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src0Offset, const LocalTensor<T> &src1,
                                     uint64_t mask, uint8_t hRepeat, bool repeatMode, uint16_t dstBlkStride, uint16_t vROffset, uint8_t vRepeat,
                                     const LocalTensor<uint8_t> &sharedTmpBuffer, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("BilinearInterpolation", (std::is_same<T, half>::value), "half");
    const piton::BilinearCall<uint64_t> call{dst, sharedTmpBuffer, mask, hRepeat, vRepeat, repeatMode, dstBlkStride, vROffset, at};
    piton::Interpolate(call, src0, src0Offset, src1);
}
template <typename T>
PITON_API void BilinearInterpolation(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src0Offset, const LocalTensor<T> &src1,
                                     uint64_t mask[], uint8_t hRepeat, bool repeatMode, uint16_t dstBlkStride, uint16_t vROffset, uint8_t vRepeat,
                                     const LocalTensor<uint8_t> &sharedTmpBuffer, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("BilinearInterpolation", (std::is_same<T, half>::value), "half");
    const piton::BilinearCall<const uint64_t *> call{dst, sharedTmpBuffer, mask, hRepeat, vRepeat, repeatMode, dstBlkStride, vROffset, at};
    piton::Interpolate(call, src0, src0Offset, src1);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_BILINEAR_H */
