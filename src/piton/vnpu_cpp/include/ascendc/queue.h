/*
 * TQueBind, TQue and TBuf: buffers that pass between pipes.
 *
 * Problem: the flags of a queue are the kernel's synchronisation, so that their order, their ids and what happens on misuse have to be exact.
 * Approach: AllocTensor takes the next free buffer round robin and waits for the flag its last FreeTensor set; EnQue sets the forward flag, DeQue waits for
 * it; FreeTensor sets the backward flag. A queue of depth 0 keeps one pair of ids per buffer for its whole life, with the backward flag set at the start.
 * What would wait for ever on the chip is reported instead (facts read in the public headers of the framework).
 * Limits: of the handle forms (TBufHandle) there are DeQue and what pools of a kernel's own need (custom_pool.h); queue configurations have no effect.
 */
#ifndef PITON_ASCENDC_QUEUE_H
#define PITON_ASCENDC_QUEUE_H

#include <algorithm>
#include "pipe.h"

namespace AscendC {

using TBufHandle = uint8_t *;

/* What a queue may know when it is compiled (`&config` as last template argument); InitBuffer decides. On the Ascend 910B no queue converts formats. */
struct TQueConfig {
    bool nd2nz = false;
    bool nz2nd = false;
    bool scmBlockGroup = false;
    uint32_t bufferLen = 0;
    uint32_t bufferNumber = 0;
    uint32_t consumerSize = 0;
    TPosition consumer[8] = {};
    bool enableStaticEvtId = false;
    bool enableLoopQueue = false;
};

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
public:
    /* Ours: the position whose memory holds the buffers. */
    static constexpr TPosition kPlace = piton::SpaceOf(dst) == VNPU_SPACE_GM ? src : dst;

    template <typename T>
    PITON_API LocalTensor<T> AllocTensor(piton::Location at = piton::Location()) {
        piton::QueueBuffer &buffer = NextFree(at);
        WaitUntilFree(buffer, at);
        buffer.state = piton::BufferState::Occupied;
        piton::Submit(piton::MakeNote(VNPU_OP_BUFFER_ACQUIRE, at, buffer.handle));
        return TensorOf<T>(buffer);
    }
    template <typename T>
    PITON_API void AllocTensor(LocalTensor<T> &tensor, piton::Location at = piton::Location()) {
        tensor = AllocTensor<T>(at);
    }

    template <typename T>
    PITON_API void FreeTensor(const LocalTensor<T> &tensor, piton::Location at = piton::Location()) {
        piton::QueueBuffer &buffer = BufferOf(tensor, "FreeTensor", at);
        if (buffer.state == piton::BufferState::Free) {
            Misuse(VNPU_FAULT_DOUBLE_FREE, "FreeTensor", at, 0, &tensor);
        }
        SetFreeFlag(buffer, at);
        buffer.state = piton::BufferState::Free;
        piton::Submit(piton::MakeNote(VNPU_OP_BUFFER_RELEASE, at, buffer.handle));
    }

    template <typename T>
    PITON_API bool EnQue(const LocalTensor<T> &tensor, piton::Location at = piton::Location()) {
        return Push(tensor, kForward, at);
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    PITON_API bool EnQue(const LocalTensor<T> &tensor, piton::Location at = piton::Location()) {
        return Push(tensor, UserEvent<srcUserPos, dstUserPos>(), at);
    }

    template <typename T>
    PITON_API LocalTensor<T> DeQue(piton::Location at = piton::Location()) {
        static_assert(!kIsInPlace, "a queue of depth 0 is used in place: call DeQue(tensor)");
        return TensorOf<T>(Pop(kForward, at));
    }
    template <typename T>
    PITON_API void DeQue(LocalTensor<T> &tensor, piton::Location at = piton::Location()) {
        if constexpr (kIsInPlace) {
            TakeInPlace(BufferOf(tensor, "DeQue", at), at);
        } else {
            tensor = TensorOf<T>(Pop(kForward, at));
        }
    }
    /* Without a type, for whoever has a tensor of the buffer already. */
    PITON_API TBufHandle DeQue(piton::Location at = piton::Location()) { return reinterpret_cast<TBufHandle>(&Pop(kForward, at)); }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    PITON_API LocalTensor<T> DeQue(piton::Location at = piton::Location()) {
        return TensorOf<T>(Pop(UserEvent<srcUserPos, dstUserPos>(), at));
    }

    PITON_API bool VacantInQue() const { return queued_ < depth; }
    PITON_API bool HasTensorInQue() const { return queued_ != 0; }
    PITON_API int32_t GetTensorCountInQue() const { return queued_; }
    PITON_API bool HasIdleBuffer() const {
        return std::any_of(first_, first_ + count_, [](const piton::QueueBuffer &buffer) { return buffer.state == piton::BufferState::Free; });
    }

    /* Wait for the backward flags of all free buffers. */
    PITON_API void FreeAllEvent(piton::Location at = piton::Location()) {
        for (uint32_t i = 0; i < count_; ++i) {
            pipe_->WaitQueueFlag(kBackward, first_[i].freeId, at);
        }
    }

    /* Of a pool of the kernel's own (custom_pool.h): `num` buffers that begin with `startBufhandle`; then memory for each, in their order. */
    PITON_API void InitStartBufHandle(TBufHandle startBufhandle, uint8_t num, uint32_t) {
        first_ = reinterpret_cast<piton::QueueBuffer *>(startBufhandle);
        count_ = num;
    }
    template <class Pool>
    PITON_API void InitBufHandle(Pool *bufPool, uint32_t index, TBufHandle, uint32_t curPoolAddr, uint32_t len, piton::Location at = piton::Location()) {
        piton::RequireRange("InitBufHandle", 1, index, 0, int64_t(count_) - 1, at);
        TPipe *pipe = bufPool->piton_pool.Place(first_[index], kPlace, {std::make_tuple(curPoolAddr, len), at}, true);
        if (index + 1 == count_) {
            Attach(pipe, first_, count_, at);
        }
    }

    /* Ours, called by TPipe::InitBuffer. */
    PITON_API void Attach(TPipe *pipe, piton::QueueBuffer *first, uint32_t count, piton::Location at) {
        pipe_ = pipe;
        first_ = first;
        count_ = count;
        next_ = 0;
        head_ = 0;
        queued_ = 0;
        for (uint32_t i = 0; i < count; ++i) {
            first[i].freeEvent = kBackward;
            if (kIsInPlace) {
                first[i].enqueId = pipe->ReserveQueueId(kForward, at);
                first[i].freeId = pipe->SetQueueFlag(kBackward, "InitBuffer", at);
            }
        }
    }

private:
    static constexpr piton::QueueEvents kEvents = piton::EventsOfPath(piton::SpaceOf(src), piton::SpaceOf(dst));
    static constexpr HardEvent kForward = kEvents.forward;
    static constexpr HardEvent kBackward = kEvents.backward;
    static constexpr bool kIsInPlace = depth == 0;
    static_assert(kForward != HardEvent::MAX,
                  "no data path between these positions: a queue needs VECIN, VECOUT or a TQueBind of two; scratch memory is a TBuf");

    template <TPosition srcUserPos, TPosition dstUserPos>
    static constexpr HardEvent UserEvent() {
        constexpr HardEvent event = piton::EventsOfPath(piton::SpaceOf(srcUserPos), piton::SpaceOf(dstUserPos)).forward;
        static_assert(event != HardEvent::MAX, "EnQue/DeQue: no data path between these positions");
        static_assert(!kIsInPlace, "a queue of depth 0 has fixed events: call EnQue(tensor) and DeQue(tensor)");
        return event;
    }

    template <typename T>
    PITON_API LocalTensor<T> TensorOf(piton::QueueBuffer &buffer) const {
        return LocalTensor<T>(kPlace, buffer.address, buffer.address + buffer.bytes, static_cast<uint32_t>(piton::ElementsIn<T>(buffer.bytes)), &buffer);
    }

    template <typename T>
    PITON_API piton::QueueBuffer &BufferOf(const LocalTensor<T> &tensor, const char *api, piton::Location at) const {
        piton::QueueBuffer *buffer = tensor.Buffer();
        if (buffer == nullptr || buffer < first_ || buffer >= first_ + count_) {
            Misuse(VNPU_FAULT_FOREIGN_TENSOR, api, at, buffer == nullptr ? VNPU_TENSOR_OF_NO_QUEUE : VNPU_TENSOR_OF_ANOTHER_QUEUE, &tensor);
        }
        return *buffer;
    }

    /* Never returns: `figure` is p[1] of the fault, `tensor` (or none) what the call was given; abi.h says what else is told. */
    template <typename T = uint8_t>
    [[noreturn]] PITON_API void Misuse(vnpu_fault fault, const char *api, piton::Location at, uint32_t figure, const LocalTensor<T> *tensor = nullptr) const {
        vnpu_record record = piton::MakeNote(VNPU_OP_FAULT, at, fault, figure, count_);
        if (count_ != 0) {
            record.src1.space = piton::SpaceOf(kPlace);
            record.src1.addr = first_->address;
            record.src1.limit = first_->bytes * count_;
            record.mask[0] = reinterpret_cast<uint64_t>(first_->file);
            record.p[3] = first_->line;
        }
        if (tensor != nullptr) {
            record.dst = tensor->Operand();
        }
        if (tensor != nullptr && tensor->Buffer() != nullptr) {
            record.mask[1] = reinterpret_cast<uint64_t>(tensor->Buffer()->file);
            record.scalar = tensor->Buffer()->line;
        }
        piton::FaultRecord(record, api);
    }

    PITON_API piton::QueueBuffer &NextFree(piton::Location at) {
        for (uint32_t tried = 0; tried < count_; ++tried) {
            piton::QueueBuffer &buffer = first_[next_];
            next_ = (next_ + 1) % count_;
            if (buffer.state == piton::BufferState::Free) {
                return buffer;
            }
        }
        Misuse(VNPU_FAULT_QUEUE_EMPTY, "AllocTensor", at, count_);
    }

    template <typename T>
    PITON_API bool Push(const LocalTensor<T> &tensor, HardEvent event, piton::Location at) {
        piton::QueueBuffer &buffer = BufferOf(tensor, "EnQue", at);
        const bool isReady = buffer.state == piton::BufferState::Occupied || buffer.state == piton::BufferState::DeQue;
        if (!isReady) {
            const bool isQueued = buffer.state == piton::BufferState::EnQue;
            Misuse(VNPU_FAULT_FOREIGN_TENSOR, "EnQue", at, isQueued ? VNPU_TENSOR_QUEUED_ALREADY : VNPU_TENSOR_FREED, &tensor);
        }
        if (!kIsInPlace && queued_ >= depth) {
            Misuse(VNPU_FAULT_QUEUE_FULL, "EnQue", at, static_cast<uint32_t>(depth), &tensor);
        }
        buffer.state = piton::BufferState::EnQue;
        if constexpr (kIsInPlace) {
            piton::SubmitFlag(VNPU_OP_SET_FLAG, piton::PipesOf(event), buffer.enqueId, VNPU_F_QUEUE, at);
        } else {
            buffer.enqueId = pipe_->SetQueueFlag(event, "EnQue", at);
            fifo_[(head_ + queued_) % kSlots] = &buffer;
            ++queued_;
        }
        return true;
    }

    /* The wait is for `event`, as on the chip, even if EnQue has set another one. */
    PITON_API piton::QueueBuffer &Pop(HardEvent event, piton::Location at) {
        if (queued_ == 0) {
            Misuse(VNPU_FAULT_NOTHING_QUEUED, "DeQue", at, 0);
        }
        piton::QueueBuffer &buffer = *fifo_[head_];
        head_ = (head_ + 1) % kSlots;
        --queued_;
        pipe_->WaitQueueFlag(event, buffer.enqueId, at);
        buffer.state = piton::BufferState::DeQue;
        return buffer;
    }

    PITON_API void TakeInPlace(piton::QueueBuffer &buffer, piton::Location at) {
        if (buffer.state != piton::BufferState::EnQue) {
            Misuse(VNPU_FAULT_NOTHING_QUEUED, "DeQue", at, 0);
        }
        piton::SubmitFlag(VNPU_OP_WAIT_FLAG, piton::PipesOf(kForward), buffer.enqueId, VNPU_F_QUEUE, at);
        buffer.state = piton::BufferState::DeQue;
    }

    PITON_API void WaitUntilFree(piton::QueueBuffer &buffer, piton::Location at) {
        if constexpr (kIsInPlace) {
            piton::SubmitFlag(VNPU_OP_WAIT_FLAG, piton::PipesOf(kBackward), buffer.freeId, VNPU_F_QUEUE, at);
        } else {
            pipe_->WaitQueueFlag(kBackward, buffer.freeId, at);
        }
    }

    PITON_API void SetFreeFlag(piton::QueueBuffer &buffer, piton::Location at) {
        if constexpr (kIsInPlace) {
            piton::SubmitFlag(VNPU_OP_SET_FLAG, piton::PipesOf(kBackward), buffer.freeId, VNPU_F_QUEUE, at);
        } else {
            buffer.freeId = pipe_->SetQueueFlag(kBackward, "FreeTensor", at);
        }
    }

    static constexpr int32_t kSlots = depth > 0 ? depth : 1;

    TPipe *pipe_ = nullptr;
    piton::QueueBuffer *first_ = nullptr;
    uint32_t count_ = 0;
    uint32_t next_ = 0; /* where AllocTensor looks first */
    piton::QueueBuffer *fifo_[kSlots] = {};
    int32_t head_ = 0;
    int32_t queued_ = 0;
};

template <TPosition position, int32_t depth, auto mask = 0>
class TQue : public TQueBind<piton::PathOf(position).source, piton::PathOf(position).destination, depth, mask> {};

/* A queue whose buffers are in L1, for operands of Matmul objects. */
template <TPosition pos, int32_t depth = 1, auto mask = 0>
using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

/* Scratch memory without any flags. */
template <TPosition position = TPosition::LCM>
class TBuf {
public:
    template <typename T>
    PITON_API LocalTensor<T> Get(piton::Location at = piton::Location()) const {
        return Window<T>(0, static_cast<uint32_t>(piton::ElementsIn<T>(Bytes(at))), at);
    }
    template <typename T>
    PITON_API LocalTensor<T> Get(uint32_t len, piton::Location at = piton::Location()) const {
        return Window<T>(0, len, at);
    }
    /* `size` in elements, `bufOffset` in bytes. */
    template <typename T>
    PITON_API LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset, piton::Location at = piton::Location()) const {
        return Window<T>(bufOffset, size, at);
    }

    /* Kept for older kernels: none of them synchronises anything. */
    template <typename T>
    PITON_API LocalTensor<T> AllocTensor(piton::Location at = piton::Location()) const {
        return Get<T>(at);
    }
    template <typename T>
    PITON_API void FreeTensor(const LocalTensor<T> &) const {}
    template <typename T>
    PITON_API void EnQue(const LocalTensor<T> &) const {}
    template <typename T>
    PITON_API LocalTensor<T> DeQue(piton::Location at = piton::Location()) const {
        return Get<T>(at);
    }

    /* As those of a queue. */
    PITON_API void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t, piton::Location at = piton::Location()) {
        piton::RequireRange("TBuf::InitStartBufHandle", 1, num, 1, 1, at);
    }
    template <class Pool>
    PITON_API void InitBufHandle(Pool *bufPool, uint32_t, TBufHandle bufhandle, uint32_t curPoolAddr, uint32_t len, piton::Location at = piton::Location()) {
        auto *buffer = reinterpret_cast<piton::QueueBuffer *>(bufhandle);
        bufPool->piton_pool.Place(*buffer, position, {std::make_tuple(curPoolAddr, len), at}, false);
        buffer_ = buffer;
    }

    /* Ours, called by TPipe::InitBuffer. */
    PITON_API void Attach(piton::QueueBuffer *buffer) { buffer_ = buffer; }

private:
    template <typename T>
    PITON_API LocalTensor<T> Window(uint32_t offset, uint32_t elements, piton::Location at) const {
        const uint32_t bytes = Bytes(at); /* first: it is what notices a TBuf without memory */
        const uint32_t end = buffer_->address + bytes;
        return LocalTensor<T>(position, buffer_->address + offset, end, elements, nullptr);
    }

    PITON_API uint32_t Bytes(piton::Location at) const {
        if (buffer_ == nullptr) {
            piton::Fault(VNPU_FAULT_NO_MEMORY, "TBuf::Get", at);
        }
        return buffer_->bytes;
    }

    piton::QueueBuffer *buffer_ = nullptr;
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_QUEUE_H */
