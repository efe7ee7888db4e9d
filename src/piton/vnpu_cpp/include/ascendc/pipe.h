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

namespace AscendC {

/* The TPipe of the running core. */
PITON_API TPipe *GetTPipePtr(piton::Location at = piton::Location()) {
    TPipe *pipe = reinterpret_cast<TPipe *>(piton::Fetch(piton::MakeNote(VNPU_OP_GET_PIPE, at)));
    if (pipe != nullptr) {
        return pipe;
    }
    piton::Fault(VNPU_FAULT_BAD_ARGUMENT, "GetTPipePtr without TPipe", at);
}

void TPipe::Init(piton::Location at) {
    used_ = 0;
    for (uint64_t &end : end_) {
        end = 0;
    }
    ids_ = piton::EventIds();
    cube_.Forget();
    isAlive_ = true;
    Tell(VNPU_OP_PIPE_BEGIN, at);
    TakeCubeIds(at);
}

/* On a cube core the framework keeps the first three M_MTE1 flags for itself: set at the start, waited for at the end. */
void TPipe::TakeCubeIds(piton::Location at) {
    if (piton::IsVectorCore(at)) {
        return;
    }
    for (TEventID &id : cubeIds_) {
        id = SetQueueFlag(HardEvent::M_MTE1, "TPipe", at);
    }
}

void TPipe::WaitForCubeIds(piton::Location at) {
    for (TEventID &id : cubeIds_) {
        WaitQueueFlag(HardEvent::M_MTE1, id, at);
    }
}

void TPipe::Reset(piton::Location at) {
    cube_.GiveBack(*this, at);
    WaitForFreeBuffers(at);
    WaitForCubeIds(at);
    Init(at);
}

void TPipe::Destroy(piton::Location at) {
    if (!isAlive_) {
        return;
    }
    isAlive_ = false;
    if (atEnd_ != nullptr) {
        atEnd_(at);
    }
    cube_.GiveBack(*this, at);
    WaitForFreeBuffers(at);
    WaitForCubeIds(at);
    piton::SubmitBarrier(VNPU_PIPE_ALL, VNPU_F_QUEUE, at);
    Tell(VNPU_OP_PIPE_END, at);
}

/* Buffers that were never freed keep their flags: the engine finds them as leaks. */
void TPipe::WaitForFreeBuffers(piton::Location at) {
    for (uint32_t i = 0; i < used_; ++i) {
        if (buffers_[i].state == piton::BufferState::Free) {
            WaitQueueFlag(buffers_[i].freeEvent, buffers_[i].freeId, at);
        }
    }
}

uint32_t TPipe::TakeMemory(uint8_t space, uint32_t bytes, uint32_t count, const char *api, piton::Location at) {
    const uint64_t capacity = piton::Fetch(piton::MakeNote(VNPU_OP_GET_CAPACITY, at, space));
    const uint64_t begin = end_[space], asked = begin + uint64_t(bytes) * count;
    /* Kernels with both kinds of core often set up all buffers before the roles part: memory that only the block's other cores have may be asked for, not used.
     */
    const bool isOfOtherCores = capacity == 0 && piton::Fetch(piton::MakeNote(VNPU_OP_GET_CORE_KIND, at, 1)) >= VNPU_CORE_MIX_1_1;
    if (asked > capacity && !isOfOtherCores) {
        piton::Fault(VNPU_FAULT_UB_OVERFLOW, api, at, asked, static_cast<uint32_t>(capacity), space);
    }
    end_[space] += bytes;
    return static_cast<uint32_t>(begin);
}

void TPipe::Introduce(piton::QueueBuffer &buffer, TPosition position, uint32_t address, uint32_t bytes, bool isQueue, piton::Location at) {
    buffer = piton::QueueBuffer();
    buffer.address = address;
    buffer.bytes = bytes;
    buffer.handle = handles_++;
    buffer.file = at.file;
    buffer.line = at.line;

    vnpu_record note = piton::MakeNote(VNPU_OP_BUFFER_INIT, at, buffer.handle, static_cast<uint32_t>(position), isQueue);
    note.dst.space = piton::SpaceOf(position);
    note.dst.addr = buffer.address;
    note.dst.limit = buffer.bytes;
    piton::Submit(note);
}

piton::QueueBuffer *TPipe::AddBuffer(TPosition position, uint32_t len, uint32_t toCome, bool isQueue, piton::Location at) {
    if (used_ + toCome > piton::kMaxBuffers) {
        piton::Fault(VNPU_FAULT_BUFFER_LIMIT, "InitBuffer", at, 0, used_ + toCome, piton::kMaxBuffers);
    }
    const uint32_t bytes = piton::WholeBlocks(len);
    const uint32_t address = TakeMemory(piton::SpaceOf(position), bytes, toCome, "InitBuffer", at);
    piton::QueueBuffer &buffer = buffers_[used_++];
    Introduce(buffer, position, address, bytes, isQueue, at);
    return &buffer;
}

}  // namespace AscendC

/* Also a global name, as kernels write it. */
using AscendC::GetTPipePtr;

#endif /* PITON_ASCENDC_PIPE_H */
