/*
 * Flags, barriers and masks: the calls that order pipes and set the vector unit's state.
 *
 * Problem: SetFlag<event>(id) names its pipes by an enumerator; masks come as counts or bits.
 * Approach: one record each; an event between V and V is a barrier of V, as on the chip.
 * Limits: flags between cores are in cross_core.h.
 */
#ifndef PITON_ASCENDC_SYNC_H
#define PITON_ASCENDC_SYNC_H

#include "enums.h"
#include "record.h"

namespace piton {

constexpr int32_t kEventIds = 8; /* per pipe pair */

PITON_API void SubmitFlag(uint16_t opcode, PipePair pipes, int32_t id, uint8_t flags, Location at) {
    vnpu_record record = MakeNote(opcode, at, pipes.source, pipes.destination, static_cast<uint32_t>(id));
    record.pipe = opcode == VNPU_OP_SET_FLAG ? pipes.source : pipes.destination;
    record.flags = flags;
    Submit(record);
}

PITON_API void SubmitBarrier(uint8_t pipe, uint8_t flags, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_BARRIER, at, pipe);
    record.pipe = pipe;
    record.flags = flags;
    Submit(record);
}

PITON_API void SetUserFlag(const char *api, PipePair pipes, int32_t id, Location at) {
    RequireRange(api, 0, id, 0, kEventIds - 1, at);
    SubmitFlag(VNPU_OP_SET_FLAG, pipes, id, 0, at);
}

PITON_API void WaitUserFlag(const char *api, PipePair pipes, int32_t id, Location at) {
    RequireRange(api, 0, id, 0, kEventIds - 1, at);
    SubmitFlag(VNPU_OP_WAIT_FLAG, pipes, id, 0, at);
}

struct MaskBits {
    uint64_t low;
    uint64_t high;
};

/* The first `count` of at most 128 lanes. */
PITON_API MaskBits FirstLanes(uint64_t count) {
    const uint64_t all = ~uint64_t(0);
    const uint64_t low = count >= 64 ? all : (uint64_t(1) << count) - 1;
    const uint64_t high = count >= 128 ? all : count > 64 ? (uint64_t(1) << (count - 64)) - 1 : 0;
    return {low, high};
}

PITON_API void SubmitMask(MaskBits bits, Location at) {
    vnpu_record record = MakeRecord(VNPU_OP_SET_MASK, VNPU_PIPE_V, at);
    record.mask[0] = bits.low;
    record.mask[1] = bits.high;
    Submit(record);
}

PITON_API void SubmitMaskMode(uint32_t mode, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_SET_MASK_MODE, at, mode);
    record.pipe = VNPU_PIPE_V;
    Submit(record);
}

}  // namespace piton

namespace AscendC {

template <HardEvent event>
PITON_API void SetFlag(int32_t eventID, piton::Location at = piton::Location()) {
    constexpr piton::PipePair pipes = piton::PipesOf(event);
    if (pipes.source == pipes.destination) {
        piton::SubmitBarrier(pipes.source, 0, at);
    } else {
        piton::SetUserFlag("SetFlag", pipes, eventID, at);
    }
}

template <HardEvent event>
PITON_API void WaitFlag(int32_t eventID, piton::Location at = piton::Location()) {
    constexpr piton::PipePair pipes = piton::PipesOf(event);
    if (pipes.source != pipes.destination) {
        piton::WaitUserFlag("WaitFlag", pipes, eventID, at);
    }
}

template <pipe_t pipe>
PITON_API void PipeBarrier(piton::Location at = piton::Location()) {
    static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S> is not allowed: the scalar unit runs in order; remove it or use PIPE_ALL");
    piton::SubmitBarrier(piton::ToPipe(pipe), 0, at);
}

PITON_API void SetMaskCount(piton::Location at = piton::Location()) { piton::SubmitMaskMode(1, at); }

PITON_API void SetMaskNorm(piton::Location at = piton::Location()) { piton::SubmitMaskMode(0, at); }

template <typename T, MaskMode mode = MaskMode::NORMAL>
PITON_API void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow, piton::Location at = piton::Location()) {
    piton::SubmitMask({maskLow, maskHigh}, at);
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
PITON_API void SetVectorMask(int32_t len, piton::Location at = piton::Location()) {
    piton::RequireRange("SetVectorMask", 0, len, 0, INT32_MAX, at);
    const uint64_t count = static_cast<uint64_t>(len);
    piton::SubmitMask(mode == MaskMode::COUNTER ? piton::MaskBits{count, 0} : piton::FirstLanes(count), at);
}

PITON_API void ResetMask(piton::Location at = piton::Location()) { piton::SubmitMask({~uint64_t(0), ~uint64_t(0)}, at); }

}  // namespace AscendC

/* The compiler's own names for the same instructions, which older kernels use. */
PITON_API void set_flag(pipe_t source, pipe_t destination, event_t id, piton::Location at = piton::Location()) {
    piton::SetUserFlag("set_flag", {piton::ToPipe(source), piton::ToPipe(destination)}, id, at);
}

PITON_API void wait_flag(pipe_t source, pipe_t destination, event_t id, piton::Location at = piton::Location()) {
    piton::WaitUserFlag("wait_flag", {piton::ToPipe(source), piton::ToPipe(destination)}, id, at);
}

PITON_API void pipe_barrier(pipe_t pipe, piton::Location at = piton::Location()) { piton::SubmitBarrier(piton::ToPipe(pipe), 0, at); }

#endif /* PITON_ASCENDC_SYNC_H */
