/*
 * TBufPool: a part of on-chip memory that is divided into buffers, and that stages of a kernel use one after another.
 *
 * Problem: two pools may share their memory, so that addresses alone do not say which buffer is meant, and the first stage has to have ended.
 * Approach: a pool holds its own buffers, at most as many as it says, at addresses counted from its start. Reset waits for what FreeTensor has set, so that
 * the buffers' last uses have ended (facts read in the public headers of the framework). Whether that is enough for the next user of the bytes is the race
 * detector's to say: a Reset orders what a queue's flags order, not every pipe against every other.
 * Limits: pools of a kernel's own are in custom_pool.h. Event ids that Reset waits for are given back, where the framework's are not.
 */
#ifndef PITON_ASCENDC_BUFFER_POOL_H
#define PITON_ASCENDC_BUFFER_POOL_H

#include "queue.h"

namespace piton {

/* The flags of freed buffers; their pipe may be gone by now. */
PITON_API void WaitForFreed(const QueueBuffer *buffers, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const QueueBuffer &buffer = buffers[i];
        if (buffer.state == BufferState::Free && buffer.freeId != kNoEventId) {
            SubmitFlag(VNPU_OP_WAIT_FLAG, PipesOf(buffer.freeEvent), buffer.freeId, VNPU_F_QUEUE, {Here(), buffer.file, buffer.line});
        }
    }
}

}  // namespace piton

namespace AscendC {

constexpr uint32_t defaultBufIDSize = 4;

template <TPosition pos, uint32_t bufIDSize = defaultBufIDSize>
class TBufPool {
    static constexpr uint8_t kSpace = piton::SpaceOf(pos);
    static_assert(kSpace == VNPU_SPACE_UB || kSpace == VNPU_SPACE_L1, "TBufPool: VECIN, VECOUT, VECCALC, A1, B1 or C1");
    static_assert(bufIDSize > 0 && bufIDSize <= 16, "TBufPool: 1 to 16 buffers");

public:
    static constexpr TPosition kPosition = pos;

    TBufPool() = default;
    TBufPool(const TBufPool &) = delete;
    TBufPool &operator=(const TBufPool &) = delete;
    PITON_API ~TBufPool() { piton::WaitForFreed(buffers_, used_); }

    template <class Queue>
    PITON_API bool InitBuffer(Queue &queue, piton::Narrow<uint8_t> num, piton::Narrow<uint32_t> len, piton::Location at = piton::Location()) {
        const uint32_t count = num.Get(kInitBuffer, 1, at), bytes = piton::WholeBlocks(len.Get(kInitBuffer, 2, at));
        piton::RequireRange(kInitBuffer, 1, count, 1, left_, at);
        piton::RequireRange(kInitBuffer, 2, uint64_t(bytes) * count, 0, Room(), at);
        piton::QueueBuffer *first = buffers_ + used_;
        for (uint32_t i = 0; i < count; ++i) {
            AddBuffer(Queue::kPlace, bytes, true, at);
        }
        queue.Attach(pipe_, first, count, at);
        return true;
    }
    template <TPosition position>
    PITON_API bool InitBuffer(TBuf<position> &buffer, piton::Narrow<uint32_t> len, piton::Location at = piton::Location()) {
        const uint32_t bytes = piton::WholeBlocks(len.Get(kInitBuffer, 1, at));
        piton::RequireRange(kInitBuffer, 1, bytes, 0, left_ == 0 ? 0 : Room(), at);
        buffer.Attach(AddBuffer(position, bytes, false, at));
        return true;
    }

    /* A pool within this one, or one that shares the memory of `shared`. */
    template <class Pool>
    PITON_API bool InitBufPool(Pool &pool, piton::Narrow<uint32_t> len, piton::Location at = piton::Location()) {
        static_assert(piton::SpaceOf(Pool::kPosition) == kSpace, "InitBufPool: both pools have to be in the same memory");
        const uint32_t bytes = piton::WholeBlocks(len.Get(kInitBufPool, 1, at));
        piton::RequireRange(kInitBufPool, 1, bytes, 0, Room(), at);
        piton::RequireRange(kInitBufPool, 0, Pool::kBuffers, 1, left_, at);
        left_ -= Pool::kBuffers;
        pool.Attach(pipe_, next_, bytes);
        next_ += bytes;
        return true;
    }
    template <class Pool, class Shared>
    PITON_API bool InitBufPool(Pool &pool, piton::Narrow<uint32_t> len, Shared &shared, piton::Location at = piton::Location()) {
        return pool.Share(shared, len.Get(kInitBufPool, 1, at), at);
    }

    /* What the buffers were last used for has ended; the next user of the memory may begin. */
    PITON_API void Reset(piton::Location at = piton::Location()) {
        for (uint32_t i = 0; i < used_; ++i) {
            if (buffers_[i].state == piton::BufferState::Free) {
                pipe_->WaitQueueFlag(buffers_[i].freeEvent, buffers_[i].freeId, at);
            }
        }
    }

    /* Ours, for InitBufPool. */
    static constexpr uint32_t kBuffers = bufIDSize;
    PITON_API void Attach(TPipe *pipe, uint32_t address, uint32_t bytes) {
        pipe_ = pipe;
        start_ = next_ = address;
        bytes_ = bytes;
        used_ = 0;
        left_ = bufIDSize;
    }
    template <class Shared>
    PITON_API bool Share(const Shared &shared, uint32_t len, piton::Location at) {
        static_assert(piton::SpaceOf(Shared::kPosition) == kSpace, "InitBufPool: both pools have to be in the same memory");
        piton::RequireRange(kInitBufPool, 1, len, 0, shared.Bytes(), at);
        Attach(shared.Pipe(), shared.Start(), shared.Bytes());
        return true;
    }
    PITON_API TPipe *Pipe() const { return pipe_; }
    PITON_API uint32_t Start() const { return start_; }
    PITON_API uint32_t Bytes() const { return bytes_; }

private:
    static constexpr const char *kInitBuffer = "TBufPool::InitBuffer";
    static constexpr const char *kInitBufPool = "InitBufPool";

    PITON_API int64_t Room() const { return int64_t(start_) + bytes_ - next_; }

    PITON_API piton::QueueBuffer *AddBuffer(TPosition position, uint32_t bytes, bool isQueue, piton::Location at) {
        piton::RequireRange(kInitBuffer, 0, piton::SpaceOf(position), kSpace, kSpace, at);
        piton::QueueBuffer &buffer = buffers_[used_++];
        --left_;
        pipe_->Introduce(buffer, position, next_, bytes, isQueue, at);
        next_ += bytes;
        return &buffer;
    }

    TPipe *pipe_ = nullptr;
    uint32_t start_ = 0;
    uint32_t next_ = 0;
    uint32_t bytes_ = 0;
    uint32_t used_ = 0;
    uint32_t left_ = 0; /* buffers that may still be asked for; 0 before InitBufPool */
    piton::QueueBuffer buffers_[bufIDSize];
};

/* All of the unified buffer that InitBuffer has not given out; it stays free. */
template <typename T, TPosition pos>
PITON_API bool PopStackBuffer(LocalTensor<T> &popLocal, piton::Location at = piton::Location()) {
    static_assert(piton::SpaceOf(pos) == VNPU_SPACE_UB, "PopStackBuffer: a position of the unified buffer");
    popLocal = GetTPipePtr(at)->UnusedMemory(at).template ReinterpretCast<T>();
    return popLocal.GetSize() != 0;
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_BUFFER_POOL_H */
