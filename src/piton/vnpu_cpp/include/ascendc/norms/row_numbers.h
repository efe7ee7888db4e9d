/*
 * Numbers of rows as the softmax functions take and give them: each over a block, or one after the other.
 *
 * Problem: maxima and sums are tensors of half or float with a block of equal elements per row, or dense ones, while steps want one float per row.
 * Approach: dense floats inside; a block becomes one number by a reduction of blocks, a number becomes a block by Brcb.
 * Limits: what a block holds besides its first element is taken to be equal to it, as documented: the largest counts.
 */
#ifndef PITON_ASCENDC_NORMS_ROW_NUMBERS_H
#define PITON_ASCENDC_NORMS_ROW_NUMBERS_H

#include "row_block.h"

namespace piton {

/* Numbers of the rows of a group, which `first` is the first of. `scratch` is a Spread of the group. */
struct RowNumbers {
    const RowsWork &work;
    uint32_t first;
    uint32_t count;
    FloatTensor scratch;
    bool isDense;

    /* dst = the group's numbers in `src`. */
    template <typename S>
    PITON_API void Take(const FloatTensor &dst, const AscendC::LocalTensor<S> &src) const {
        if (isDense) {
            work.Give(dst, WidePart(scratch, src[first], work.Numbers(count)), count);
            return;
        }
        const FloatTensor blocks = Blocks(src[first * (kBlockBytes / sizeof(S))]);
        const uint32_t whole = count / kFloatsOfBlock * kFloatsOfBlock;
        ReduceBlocks(dst, blocks, whole / kFloatsOfBlock, kFloatLanes);
        ReduceBlocks(dst[whole], blocks[whole * kFloatsOfBlock], count == whole ? 0 : 1, (count - whole) * kFloatsOfBlock);
        Barrier();
    }
    /* The group's numbers to `dst`. */
    template <typename S>
    PITON_API void Tell(const AscendC::LocalTensor<S> &dst, const FloatTensor &src) const {
        if (isDense) {
            work.Give(dst[first], src, count);
        } else {
            TellBlocks(dst[first * (kBlockBytes / sizeof(S))], src);
        }
    }

private:
    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, work.shape.at); }
    PITON_API void ReduceBlocks(const FloatTensor &dst, const FloatTensor &blocks, uint32_t repeats, uint32_t lanes) const {
        if (repeats != 0) {
            AscendC::BlockReduceMax(dst, blocks, static_cast<int32_t>(repeats), static_cast<int32_t>(lanes), 1, 1, 8, work.shape.at);
        }
    }
    PITON_API FloatTensor Blocks(const FloatTensor &src) const { return src; }
    /* Blocks of 16 halves as blocks of 8 floats. */
    PITON_API FloatTensor Blocks(const AscendC::LocalTensor<half> &src) const {
        AscendC::Cast(scratch, src, AscendC::RoundMode::CAST_NONE, uint64_t(kFloatsOfBlock), count, {1, 1, 1, 1}, work.shape.at);
        Barrier();
        return scratch;
    }
    PITON_API void TellBlocks(const FloatTensor &dst, const FloatTensor &src) const {
        work.SpreadNumbers(scratch, src, count);
        work.Give(dst, scratch, count * kFloatsOfBlock);
    }
    /* By way of the lanes, which are free by then. */
    PITON_API void TellBlocks(const AscendC::LocalTensor<half> &dst, const FloatTensor &src) const {
        constexpr uint32_t kHalves = kBlockBytes / sizeof(half);
        const auto blocks = scratch.template ReinterpretCast<half>(), narrow = work.Lanes().template ReinterpretCast<half>();
        work.Give(narrow, src, count);
        AscendC::Brcb(blocks, narrow, (count + 7) / 8, {1, 8}, work.shape.at);
        Barrier();
        AscendC::Adds(dst, blocks, static_cast<half>(0.0f), static_cast<int32_t>(count * kHalves), work.shape.at);
        Barrier();
    }
};

}  // namespace piton

#endif /* PITON_ASCENDC_NORMS_ROW_NUMBERS_H */
