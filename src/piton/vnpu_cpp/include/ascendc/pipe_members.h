/*
 * What TPipe does: pipe.h says how.
 *
 * Problem and approach: the member functions that are more than a line.
 * Limits: as pipe.h; included by it.
 */
#ifndef PITON_ASCENDC_PIPE_MEMBERS_H
#define PITON_ASCENDC_PIPE_MEMBERS_H

#include "pipe.h"

namespace piton {

/* Kernels with both kinds of core often set up all buffers before the roles part: memory that only the block's other cores have may be asked for, not used. */
PITON_API bool IsOfOtherCores(uint64_t capacity, Location at) { return capacity == 0 && Fetch(MakeNote(VNPU_OP_GET_CORE_KIND, at, 1)) >= VNPU_CORE_MIX_1_1; }

}  // namespace piton

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
    if (isAlive_) {
        GiveBack(at);
        piton::SubmitBarrier(VNPU_PIPE_ALL, VNPU_F_QUEUE, at);
        Tell(VNPU_OP_PIPE_END, at);
    }
}

void TPipe::DestroyWithoutPipeAll(piton::Location at) {
    if (isAlive_) {
        GiveBack(at);
        Tell(VNPU_OP_PIPE_END, at);
    }
}

void TPipe::GiveBack(piton::Location at) {
    isAlive_ = false;
    if (atEnd_ != nullptr) {
        atEnd_(at);
    }
    cube_.GiveBack(*this, at);
    WaitForFreeBuffers(at);
    WaitForCubeIds(at);
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
    if (asked > capacity && !piton::IsOfOtherCores(capacity, at)) {
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

template <class Queue, class... Ranges>
bool TPipe::InitBuffer(Queue &queue, const piton::BufferRange &first, const Ranges &...rest) {
    const piton::BufferRange ranges[] = {first, rest...};
    piton::QueueBuffer *buffers = buffers_ + used_;
    for (const piton::BufferRange &range : ranges) {
        PlaceBuffer(Queue::kPlace, range);
    }
    queue.Attach(this, buffers, 1 + sizeof...(rest), first.at);
    return true;
}

/* Memory that is given out without an address later lies behind it. */
void TPipe::PlaceBuffer(TPosition position, const piton::BufferRange &range) {
    if (used_ == piton::kMaxBuffers) {
        piton::Fault(VNPU_FAULT_BUFFER_LIMIT, "InitBuffer", range.at, 0, used_ + 1, piton::kMaxBuffers);
    }
    const uint8_t space = piton::SpaceOf(position);
    const uint64_t capacity = piton::Fetch(piton::MakeNote(VNPU_OP_GET_CAPACITY, range.at, space)), end = uint64_t(range.begin) + range.bytes;
    piton::RequireRange("InitBuffer", 1, range.begin % piton::kBlockBytes, 0, 0, range.at);
    if (end > capacity && !piton::IsOfOtherCores(capacity, range.at)) {
        piton::Fault(VNPU_FAULT_UB_OVERFLOW, "InitBuffer", range.at, end, static_cast<uint32_t>(capacity), space);
    }
    end_[space] = end > end_[space] ? (end + piton::kBlockBytes - 1) / piton::kBlockBytes * piton::kBlockBytes : end_[space];
    Introduce(buffers_[used_++], position, range.begin, range.bytes, true, range.at);
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

#endif /* PITON_ASCENDC_PIPE_MEMBERS_H */
