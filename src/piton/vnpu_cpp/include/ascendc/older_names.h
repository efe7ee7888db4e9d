/*
 * Names of public kernels for what has another name on the vendor's pages: GetAccVal, TQueSync, TransDataTo5HDImpl.
 *
 * Problem: kernels call them as the framework's own code does; of the three only TQueSync has a page.
 * Approach: each is the call it stands for: the sum of the last ReduceSum by count, a flag between two named pipes, TransDataTo5HD by lists of addresses.
 * Limits: GetAccVal without a type gives the bits, which kernels read as float.
 */
#ifndef PITON_ASCENDC_OLDER_NAMES_H
#define PITON_ASCENDC_OLDER_NAMES_H

#include "reduce.h"
#include "sync.h"
#include "transpose.h"

namespace AscendC {

PITON_API uint64_t GetAccVal(piton::Location at = piton::Location()) { return piton::Fetch(piton::MakeNote(VNPU_OP_GET_REDUCE_SUM, at)); }

template <typename T>
PITON_API T GetAccVal(piton::Location at = piton::Location()) {
    return GetReduceRepeatSumSpr<T>(at);
}

/* Pipe `dst` waits for pipe `src`. */
template <pipe_t src, pipe_t dst>
class TQueSync {
public:
    static_assert(src != dst, "TQueSync orders two pipes; within one use PipeBarrier");

    PITON_API void SetFlag(int32_t id, piton::Location at = piton::Location()) { piton::SetUserFlag("TQueSync::SetFlag", kPipes, id, at); }
    PITON_API void WaitFlag(int32_t id, piton::Location at = piton::Location()) { piton::WaitUserFlag("TQueSync::WaitFlag", kPipes, id, at); }

private:
    static constexpr piton::PipePair kPipes{piton::ToPipe(src), piton::ToPipe(dst)};
};

/* Lists of pointers into the unified buffer, which are offsets here. */
template <typename T>
PITON_API void TransDataTo5HDImpl(T *(&dstList)[NCHW_CONV_ADDR_LIST_SIZE], T *(&srcList)[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams &params,
                                  piton::Location at = piton::Location()) {
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE], src[NCHW_CONV_ADDR_LIST_SIZE];
    for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        dst[i] = reinterpret_cast<uint64_t>(dstList[i]);
        src[i] = reinterpret_cast<uint64_t>(srcList[i]);
    }
    TransDataTo5HD<T>(dst, src, params, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_OLDER_NAMES_H */
