/*
 * EXTERN_IMPL_BUFPOOL: what a class needs that hands out buffers in an order of its own.
 *
 * Problem: such a class decides where each buffer of a queue lies, and the queue's flags have to work as ever.
 * Approach: the macro gives the class handles (buffers without memory), the address up to which it has given out, and how many. InitStartBufHandle and
 * InitBufHandle of queues and TBufs then put memory to handles; all of a queue's buffers have to have it before it is used.
 * Limits: called experimental by its pages. Handles of one queue follow each other, as the example of the pages has it.
 */
#ifndef PITON_ASCENDC_CUSTOM_POOL_H
#define PITON_ASCENDC_CUSTOM_POOL_H

#include "buffer_pool.h"

namespace piton {

template <AscendC::TPosition position, uint32_t count>
class CustomPool {
    static constexpr uint8_t kSpace = SpaceOf(position);
    static_assert(kSpace == VNPU_SPACE_UB || kSpace == VNPU_SPACE_L1, "EXTERN_IMPL_BUFPOOL: VECIN, VECOUT, VECCALC, A1, B1 or C1");
    static_assert(count > 0 && count <= kMaxBuffers, "EXTERN_IMPL_BUFPOOL: 1 to 64 buffers");

public:
    CustomPool() = default;
    CustomPool(const CustomPool &) = delete;
    CustomPool &operator=(const CustomPool &) = delete;
    PITON_API ~CustomPool() { WaitForFreed(buffers_, count); }

    PITON_API void Attach(AscendC::TPipe *pipe, uint32_t address, uint32_t bytes) {
        pipe_ = pipe;
        start_ = next_ = address;
        bytes_ = bytes;
        used_ = 0;
    }
    PITON_API void Forget() { used_ = 0; }
    PITON_API void Reset(Location at) {
        for (QueueBuffer &buffer : buffers_) {
            if (pipe_ != nullptr && buffer.state == BufferState::Free) {
                pipe_->WaitQueueFlag(buffer.freeEvent, buffer.freeId, at);
            }
        }
        next_ = start_;
        used_ = 0;
    }
    PITON_API AscendC::TBufHandle Handle(uint32_t number, Location at) {
        RequireRange("GetBufHandle", 0, number, 0, count - 1, at);
        return reinterpret_cast<AscendC::TBufHandle>(buffers_ + number);
    }
    PITON_API AscendC::TPipe *Place(QueueBuffer &buffer, AscendC::TPosition place, const BufferRange &range, bool isQueue) {
        RequireRange("InitBufHandle", 0, SpaceOf(place), kSpace, kSpace, range.at);
        RequireRange("InitBufHandle", 2, &buffer - buffers_, 0, count - 1, range.at);
        RequireRange("InitBufHandle", 3, range.begin, start_, int64_t(start_) + bytes_ - range.bytes, range.at);
        pipe_->Introduce(buffer, place, range.begin, WholeBlocks(range.bytes), isQueue, range.at);
        return pipe_;
    }

    uint32_t next_ = 0; /* SetCurAddr, GetCurAddr */
    uint8_t used_ = 0;  /* SetCurBufSize, GetCurBufSize */

    template <class Shared>
    PITON_API bool Share(const Shared &shared, uint32_t len, Location at) {
        static_assert(SpaceOf(Shared::kPosition) == kSpace, "InitBufPool: both pools have to be in the same memory");
        RequireRange("InitBufPool", 1, len, 0, shared.Bytes(), at);
        Attach(shared.Pipe(), shared.Start(), shared.Bytes());
        return true;
    }
    PITON_API AscendC::TPipe *Pipe() const { return pipe_; }
    PITON_API uint32_t Start() const { return start_; }
    PITON_API uint32_t Bytes() const { return bytes_; }

private:
    AscendC::TPipe *pipe_ = nullptr;
    uint32_t start_ = 0;
    uint32_t bytes_ = 0;
    QueueBuffer buffers_[count];
};

}  // namespace piton

/* Inside the class, whose constructor may call Init. */
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                                                                                         \
public:                                                                                                                                                \
    static constexpr ::AscendC::TPosition kPosition = POSITION;                                                                                        \
    static constexpr uint32_t kBuffers = BUFID_SIZE;                                                                                                   \
    PITON_API void Init() { piton_pool.Forget(); }                                                                                                     \
    PITON_API void Reset(::piton::Location at = ::piton::Location()) { piton_pool.Reset(at); }                                                         \
    PITON_API ::AscendC::TBufHandle GetBufHandle(uint8_t offset, ::piton::Location at = ::piton::Location()) { return piton_pool.Handle(offset, at); } \
    PITON_API void SetCurAddr(uint32_t curAddr) { piton_pool.next_ = curAddr; }                                                                        \
    PITON_API uint32_t GetCurAddr() const { return piton_pool.next_; }                                                                                 \
    PITON_API void SetCurBufSize(uint8_t curBufSize) { piton_pool.used_ = curBufSize; }                                                                \
    PITON_API uint8_t GetCurBufSize() const { return piton_pool.used_; }                                                                               \
    PITON_API void Attach(::AscendC::TPipe *pipe, uint32_t address, uint32_t bytes) { piton_pool.Attach(pipe, address, bytes); }                       \
    template <class Shared>                                                                                                                            \
    PITON_API bool Share(const Shared &shared, uint32_t len, ::piton::Location at) {                                                                   \
        return piton_pool.Share(shared, len, at);                                                                                                      \
    }                                                                                                                                                  \
    ::piton::CustomPool<POSITION, BUFID_SIZE> piton_pool

#endif /* PITON_ASCENDC_CUSTOM_POOL_H */
