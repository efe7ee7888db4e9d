/*
 * Rows of floats turned into columns, 16 at a time: what a composed call needs to go along the last axis by whole instructions.
 *
 * Problem: no instruction combines an element with its neighbour, rows with rows are combined by all of them.
 * Approach: TransDataTo5HD turns 16 rows into `columns` rows of 16 floats, and back. Fewer than 16 rows: the last one stands for those that are missing.
 * Limits: columns in memory are a multiple of 8; going back they are padded to 16 at the destination.
 */
#ifndef PITON_ASCENDC_TURN_ROWS_H
#define PITON_ASCENDC_TURN_ROWS_H

#include "composed.h"
#include "row_reduce.h"
#include "transpose.h"

namespace piton {

constexpr uint32_t kTurned = 16;     /* rows at a time, and floats of a turned row */
constexpr uint32_t kMostTurns = 255; /* repeats of one instruction */

/* One stride of 0 for a single repeat: an address that is not used has no second one. */
PITON_API void SubmitTurn(const uint64_t (&dst)[kAddresses], const uint64_t (&src)[kAddresses], const AscendC::TransDataTo5HDParams &params, Location at) {
    SetAddresses(src, 0, 1, at);
    SetAddresses(dst, 1, 0, at);
    SubmitTrans5hd<float>(params, at);
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}

PITON_API AscendC::TransDataTo5HDParams TurnSteps(uint32_t repeats, uint32_t dstBlocks, uint32_t srcBlocks) {
    const bool isOne = repeats == 1;
    AscendC::TransDataTo5HDParams params;
    params.repeatTimes = static_cast<uint8_t>(repeats);
    params.dstRepStride = static_cast<uint16_t>(isOne ? 0 : dstBlocks);
    params.srcRepStride = static_cast<uint16_t>(isOne ? 0 : srcBlocks);
    return params;
}

/* dst: `columns` rows of 16 floats; src: `rows` (at most 16) rows, `pitch` floats apart. */
PITON_API void TurnIn(const FloatTensor &dst, const FloatTensor &src, uint32_t rows, uint32_t columns, uint32_t pitch, Location at) {
    const uint32_t blocks = columns / kFloatsOfBlock;
    for (uint32_t done = 0; done < blocks; done += kMostTurns) {
        const uint32_t repeats = blocks - done < kMostTurns ? blocks - done : kMostTurns;
        uint64_t to[kAddresses], from[kAddresses];
        for (uint32_t i = 0; i < kAddresses; ++i) {
            to[i] = dst[(done * kFloatsOfBlock + i / 2) * kTurned + i % 2 * kFloatsOfBlock].GetPhyAddr();
            from[i] = src[(i < rows ? i : rows - 1) * pitch + done * kFloatsOfBlock].GetPhyAddr();
        }
        SubmitTurn(to, from, TurnSteps(repeats, kTurned, 1), at);
    }
}

/* dst: 16 rows of `columns` floats rounded up to 16, dense; src: as many rows of 16 floats. */
PITON_API void TurnOut(const FloatTensor &dst, const FloatTensor &src, uint32_t columns, Location at) {
    const uint32_t groups = (columns + kTurned - 1) / kTurned, pitch = groups * kTurned;
    for (uint32_t side = 0; side < 2; ++side) {
        for (uint32_t done = 0; done < groups; done += kMostTurns) {
            const uint32_t repeats = groups - done < kMostTurns ? groups - done : kMostTurns;
            uint64_t to[kAddresses], from[kAddresses];
            for (uint32_t i = 0; i < kAddresses; ++i) {
                to[i] = dst[(side * kFloatsOfBlock + i / 2) * pitch + done * kTurned + i % 2 * kFloatsOfBlock].GetPhyAddr();
                from[i] = src[(done * kTurned + i) * kTurned + side * kFloatsOfBlock].GetPhyAddr();
            }
            SubmitTurn(to, from, TurnSteps(repeats, 2, 2 * kTurned), at);
        }
    }
}

}  // namespace piton

#endif /* PITON_ASCENDC_TURN_ROWS_H */
