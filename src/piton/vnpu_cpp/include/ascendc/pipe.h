/*
 * TPipe: hands out on-chip memory and event ids.
 *
 * Problem: buffers, their flags and their misuse have to behave as in the vendor's framework, since a kernel's synchronisation comes from it.
 * Approach: a table of at most 64 buffers, given out linearly per physical memory from address 0 in units of 32 bytes, and eight event ids per pipe pair,
 * lowest first (facts read in the public headers of the framework). Flags that the framework sets are marked VNPU_F_QUEUE.
 * Limits: no spilling to global memory, no mutexes of later chips. Pools of buffers are in buffer_pool.h.
 */
#ifndef PITON_ASCENDC_PIPE_H
#define PITON_ASCENDC_PIPE_H

#include <tuple>

#include "matmul/tokens.h"
#include "sync.h"
#include "system.h"
#include "tensor.h"

namespace piton {

constexpr uint32_t kMaxBuffers = 64; /* over all queues and TBufs of a kernel */
constexpr AscendC::TEventID kNoEventId = -1;

/* Lengths are rounded up to blocks of 32 bytes; one that is near 2^32 stays too large for any memory. */
PITON_API uint32_t WholeBlocks(uint32_t bytes) {
    const uint64_t whole = (uint64_t(bytes) + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    return whole > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(whole);
}

enum class BufferState : uint8_t { Free, Occupied, EnQue, DeQue };

/* One buffer of a queue or a TBuf. The event ids are those of flags that are set and not yet waited for. */
struct QueueBuffer {
    uint32_t address = 0;
    uint32_t bytes = 0;
    uint32_t handle = 0;
    BufferState state = BufferState::Free;
    AscendC::HardEvent freeEvent = AscendC::HardEvent::MAX;
    AscendC::TEventID enqueId = kNoEventId;
    AscendC::TEventID freeId = kNoEventId;
    const char *file = nullptr; /* of the InitBuffer that made it */
    uint32_t line = 0;
};

/* Where a buffer is to lie; the conversion of the tuple is where the user's line is known. */
struct BufferRange {
    uint32_t begin, bytes;
    Location at;

    template <typename U, typename V>
    PITON_API BufferRange(const std::tuple<U, V> &given, Location here = Location())
        : begin(static_cast<uint32_t>(std::get<0>(given))), bytes(static_cast<uint32_t>(std::get<1>(given))), at(here) {}
};

/* The id pools, one bit per id and event. */
class EventIds {
public:
    /* The lowest free id, not reserved. */
    PITON_API AscendC::TEventID Peek(AscendC::HardEvent event, const char *api, Location at) const {
        for (int8_t id = 0; id < kEventIds; ++id) {
            if ((used_[Index(event)] >> id & 1) == 0) {
                return id;
            }
        }
        const PipePair pipes = PipesOf(event);
        Fault(VNPU_FAULT_NO_EVENT_ID, api, at, kEventIds, pipes.source, pipes.destination);
    }
    PITON_API AscendC::TEventID Allocate(AscendC::HardEvent event, const char *api, Location at) {
        const AscendC::TEventID id = Peek(event, api, at);
        used_[Index(event)] = static_cast<uint8_t>(used_[Index(event)] | 1u << id);
        return id;
    }
    PITON_API void Release(AscendC::HardEvent event, AscendC::TEventID id) { used_[Index(event)] = static_cast<uint8_t>(used_[Index(event)] & ~(1u << id)); }

private:
    PITON_API static uint32_t Index(AscendC::HardEvent event) { return static_cast<uint32_t>(event); }

    uint8_t used_[kEventCount] = {};
};

}  // namespace piton

namespace AscendC {

template <TPosition src, TPosition dst, int32_t depth, auto mask>
class TQueBind;
template <TPosition position>
class TBuf;

class TPipe {
public:
    PITON_API TPipe(piton::Location at = piton::Location()) : at_(at) { Init(at); }
    PITON_API ~TPipe() { Destroy(at_); }
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;

    PITON_API void Init(piton::Location at = piton::Location());
    PITON_API void Reset(piton::Location at = piton::Location());
    PITON_API void Destroy(piton::Location at = piton::Location());
    /* The caller sees to it that nothing is under way. */
    PITON_API void DestroyWithoutPipeAll(piton::Location at = piton::Location());
    /* Of a memory; here addresses start at 0. */
    PITON_API uint8_t *GetBaseAddr(int8_t) const { return nullptr; }

    /* Give `queue` `num` buffers of `len` bytes each. */
    template <class Queue>
    PITON_API bool InitBuffer(Queue &queue, piton::Narrow<uint8_t> num, piton::Narrow<uint32_t> len, piton::Location at = piton::Location()) {
        const uint32_t count = num.Get("InitBuffer", 1, at);
        piton::RequireRange("InitBuffer", 1, count, 1, piton::kMaxBuffers, at);
        piton::QueueBuffer *first = buffers_ + used_;
        for (uint32_t i = 0; i < count; ++i) {
            AddBuffer(Queue::kPlace, len.Get("InitBuffer", 2, at), count - i, true, at);
        }
        queue.Attach(this, first, count, at);
        return true;
    }

    /* Give `queue` one buffer at each of these places: tuples of first byte and length. */
    template <class Queue, class... Ranges>
    PITON_API bool InitBuffer(Queue &queue, const piton::BufferRange &first, const Ranges &...rest);

    template <TPosition position>
    PITON_API bool InitBuffer(TBuf<position> &buffer, piton::Narrow<uint32_t> len, piton::Location at = piton::Location()) {
        buffer.Attach(AddBuffer(position, len.Get("InitBuffer", 1, at), 1, false, at));
        return true;
    }

    template <HardEvent event>
    PITON_API TEventID AllocEventID(piton::Location at = piton::Location()) {
        return ids_.Allocate(event, "AllocEventID", at);
    }
    template <HardEvent event>
    PITON_API void ReleaseEventID(TEventID id, piton::Location at = piton::Location()) {
        piton::RequireRange("ReleaseEventID", 0, id, 0, piton::kEventIds - 1, at);
        ids_.Release(event, id);
    }
    template <HardEvent event>
    PITON_API TEventID FetchEventID(piton::Location at = piton::Location()) {
        return ids_.Peek(event, "FetchEventID", at);
    }
    PITON_API TEventID FetchEventID(HardEvent event, piton::Location at = piton::Location()) { return ids_.Peek(event, "FetchEventID", at); }

    /* Ours, for the queues: take an id and set its flag; only take one; wait for a flag and give its id back. */
    PITON_API TEventID SetQueueFlag(HardEvent event, const char *api, piton::Location at) {
        const TEventID id = ids_.Allocate(event, api, at);
        piton::SubmitFlag(VNPU_OP_SET_FLAG, piton::PipesOf(event), id, VNPU_F_QUEUE, at);
        return id;
    }
    PITON_API TEventID ReserveQueueId(HardEvent event, piton::Location at) { return ids_.Allocate(event, "InitBuffer", at); }
    PITON_API void WaitQueueFlag(HardEvent event, TEventID &id, piton::Location at) {
        if (id != piton::kNoEventId) {
            piton::SubmitFlag(VNPU_OP_WAIT_FLAG, piton::PipesOf(event), id, VNPU_F_QUEUE, at);
            ids_.Release(event, id);
            id = piton::kNoEventId;
        }
    }

    /* Ours, for Matmul objects (matmul/tokens.h). */
    PITON_API piton::CubeFlags &Cube() { return cube_; }
    PITON_API TEventID TakeCubeId(HardEvent event, piton::Location at) { return ids_.Allocate(event, "Matmul", at); }
    PITON_API void GiveBackCubeId(HardEvent event, TEventID id) { ids_.Release(event, id); }
    /* What is to be done before the pipe ends. */
    PITON_API void AtEnd(void (*end)(piton::Location)) { atEnd_ = end; }
    /* `bytes` of the memory of `position` that stay taken. */
    PITON_API uint32_t TakeForCube(TPosition position, uint32_t bytes, piton::Location at) { return AddBuffer(position, bytes, 1, false, at)->address; }

    /* `pool` gets `len` bytes for buffers of its own; with `shared`, those of that pool (buffer_pool.h). */
    template <class Pool>
    PITON_API bool InitBufPool(Pool &pool, piton::Narrow<uint32_t> len, piton::Location at = piton::Location()) {
        const uint32_t bytes = piton::WholeBlocks(len.Get("InitBufPool", 1, at));
        pool.Attach(this, TakeMemory(piton::SpaceOf(Pool::kPosition), bytes, 1, "InitBufPool", at), bytes);
        return true;
    }
    template <class Pool, class Shared>
    PITON_API bool InitBufPool(Pool &pool, piton::Narrow<uint32_t> len, Shared &shared, piton::Location at = piton::Location()) {
        return pool.Share(shared, len.Get("InitBufPool", 1, at), at);
    }

    /* Ours: a buffer at `address` of the memory of `position`, which the engine is told of. */
    PITON_API void Introduce(piton::QueueBuffer &buffer, TPosition position, uint32_t address, uint32_t bytes, bool isQueue, piton::Location at);

    /* Ours: the unified buffer (or L1) that InitBuffer has not given out, for APIs that need memory and are given none. */
    PITON_API LocalTensor<uint8_t> UnusedMemory(piton::Location at, TPosition position = TPosition::VECCALC) const {
        const uint64_t capacity = piton::Fetch(piton::MakeNote(VNPU_OP_GET_CAPACITY, at, piton::SpaceOf(position)));
        const uint64_t begin = end_[piton::SpaceOf(position)];
        return LocalTensor<uint8_t>(position, static_cast<uint32_t>(begin), static_cast<uint32_t>(capacity), static_cast<uint32_t>(capacity - begin), nullptr);
    }

private:
    /* `toCome` buffers of this size are asked for, this one included. */
    PITON_API piton::QueueBuffer *AddBuffer(TPosition position, uint32_t len, uint32_t toCome, bool isQueue, piton::Location at);
    /* Address of the first of `count` pieces of memory of `bytes` each, of which one is taken now. */
    PITON_API uint32_t TakeMemory(uint8_t space, uint32_t bytes, uint32_t count, const char *api, piton::Location at);
    PITON_API void WaitForFreeBuffers(piton::Location at);
    PITON_API void GiveBack(piton::Location at);
    PITON_API void PlaceBuffer(TPosition position, const piton::BufferRange &range);
    PITON_API void TakeCubeIds(piton::Location at);
    PITON_API void WaitForCubeIds(piton::Location at);

    piton::QueueBuffer buffers_[piton::kMaxBuffers];
    uint32_t used_ = 0;
    uint32_t handles_ = 0; /* never reused, so that a buffer of before Reset is not taken for a new one */
    uint64_t end_[VNPU_SPACE_COUNT] = {};
    piton::EventIds ids_;
    piton::CubeFlags cube_;
    void (*atEnd_)(piton::Location) = nullptr;
    TEventID cubeIds_[3] = {piton::kNoEventId, piton::kNoEventId, piton::kNoEventId};
    bool isAlive_ = false;
    piton::Location at_; /* of the construction: the destructor has no place of its own */

    /* The engine keeps the pipes of each core, so that a launch that was cut leaves nothing behind. */
    PITON_API void Tell(uint16_t note, piton::Location at) {
        vnpu_record record = piton::MakeNote(note, at);
        record.scalar = reinterpret_cast<uint64_t>(this);
        piton::Submit(record);
    }
};

}  // namespace AscendC

#include "pipe_members.h"

#endif /* PITON_ASCENDC_PIPE_H */
