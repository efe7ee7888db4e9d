/* Kernels whose records tests/sim/test_headers_records.py looks at. A comment with @name marks a line whose number has to be in a record. */
#include "kernel_operator.h"

#include <cstring>

#include "headers_recorder.h"

using namespace AscendC;

namespace {

using VecIn = TQue<QuePosition::VECIN, 2>;

void double_buffer() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 100);
    for (int i = 0; i < 3; ++i) {
        auto in = queue.AllocTensor<float>();  // @alloc
        queue.EnQue(in);                       // @enque
        in = queue.DeQue<float>();             // @deque
        queue.FreeTensor(in);                  // @free
    }
}

void two_in_flight() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 64);
    auto first = queue.AllocTensor<half>();
    auto second = queue.AllocTensor<half>();
    queue.EnQue(first);
    queue.EnQue(second);
    first = queue.DeQue<half>();
    second = queue.DeQue<half>();
    queue.FreeTensor(first);
    queue.FreeTensor(second);
}

void in_place() {
    TPipe pipe;
    TQue<TPosition::VECOUT, 0> queue;
    pipe.InitBuffer(queue, 1, 32);
    LocalTensor<float> out;
    queue.AllocTensor(out);
    queue.EnQue(out);
    queue.DeQue(out);
    queue.FreeTensor(out);
}

void bound_queue() {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 32);
    auto tensor = queue.AllocTensor<float>();
    queue.EnQue<TPosition::GM, TPosition::VECIN>(tensor);
    tensor = queue.DeQue<TPosition::GM, TPosition::VECIN, float>();
    queue.EnQue(tensor);
    tensor = queue.DeQue<float>();
    queue.FreeTensor(tensor);
}

void reset_pipe() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 64);
    auto tensor = queue.AllocTensor<float>();
    queue.FreeTensor(tensor);
    pipe.Reset();
    pipe.InitBuffer(queue, 1, 64);
}

void destroyed_once() {
    TPipe pipe;
    pipe.Destroy();
}

void scratch() {
    TPipe pipe;
    TBuf<TPosition::VECCALC> first, second;
    pipe.InitBuffer(first, 33);
    pipe.InitBuffer(second, 256);
    Exp(second.GetWithOffset<float>(16, 64), first.Get<float>(), 8);
}

void pads() {
    LocalTensor<float> local(TPosition::VECIN, 64, 128);
    GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<float *>(0x200000001000), 1000);
    DataCopyPad(local, global[10], DataCopyExtParams{3, 20, 7, 2, 0}, DataCopyPadExtParams<float>{true, 1, 2, 1.0f});  // @padin
    DataCopyPad(global[1], local[8], DataCopyExtParams{3, 20, 2, 7, 0});
    DataCopyPad(local, global, DataCopyParams{1, 4, 0, 0}, DataCopyPadParams{});
    DataCopyPad(global, local, {1, 4, 0, 0, 0});  // @braces
}

void copies() {
    LocalTensor<half> local(TPosition::VECIN, 0, 1024);
    GlobalTensor<half> global;
    global.SetGlobalBuffer(reinterpret_cast<half *>(0x200000000000));
    DataCopy(local, global[16], 64);
    global.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    DataCopy(global[16], local[32], DataCopyParams(2, 3, 4, 5));
    DataCopy(local, local[512], 32);
}

void masks() {
    LocalTensor<half> x(TPosition::VECCALC, 0, 1024);
    LocalTensor<half> y(TPosition::VECCALC, 4096, 1024);
    uint64_t bits[2] = {5, 9};
    Add(x, x, y, 100, 4, {1, 2, 3, 8, 9, 10});
    Add(x, x, y, bits, 4, BinaryRepeatParams());
    Add<half, false>(x, x, y, MASK_PLACEHOLDER, 4, BinaryRepeatParams());
    Add(x, x, y, 1000);
    Muls(x, y, half(0.5), 64, 2, {1, 1, 8, 8});
    Duplicate(x, half(2), 16, 1, 2, 3);
    SetVectorMask<half>(100);
    SetVectorMask<half, MaskMode::COUNTER>(1000);
    SetVectorMask<half>(9, 5);
    SetMaskCount();
    SetMaskNorm();
    ResetMask();
}

void comparisons() {
    LocalTensor<half> x(TPosition::VECCALC, 0, 1024);
    LocalTensor<half> y(TPosition::VECCALC, 4096, 1024);
    LocalTensor<uint8_t> bits(TPosition::VECCALC, 8192, 64);
    uint64_t mask[2] = {5, 9};
    Compare(bits, x, y, CMPMODE::GE, 256);
    Compare(bits, x, y, CMPMODE::LT, mask, 4, {1, 2, 3, 8, 9, 10});
    Compares(bits, x, half(2), CMPMODE::NE, 256);
    CompareScalar(bits, x, half(2), CMPMODE::GT, 64, 3, {1, 2, 8, 9});
    Select(x, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 300);
    Select(x, bits, x, half(2), SELMODE::VSEL_TENSOR_SCALAR_MODE, 300);
    Select(x, bits, x, y, SELMODE::VSEL_CMPMASK_SPR, mask, 2, {1, 2, 3, 8, 9, 10});
}

void registers() {
    LocalTensor<float> x(TPosition::VECCALC, 0, 64);
    LocalTensor<float> y(TPosition::VECCALC, 4096, 64);
    LocalTensor<uint8_t> bits(TPosition::VECCALC, 8192, 128);
    Compare(x, y, CMPMODE::LT, 64, BinaryRepeatParams());
    GetCmpMask(bits);
    SetCmpMask(bits);
}

void bit_operations() {
    LocalTensor<int16_t> x(TPosition::VECCALC, 0, 1024);
    LocalTensor<float> wide(TPosition::VECCALC, 4096, 1024);
    LocalTensor<half> narrow(TPosition::VECCALC, 8192, 1024);
    And(x, x, x, 64);
    Or(x, x, x, 100, 4, {1, 1, 1, 8, 8, 8});
    Not(x, x, 64);
    ShiftLeft(x, x, int16_t(3), 64);
    ShiftRight(x, x, int16_t(3), 100, 2, {1, 1, 8, 8}, true);
    ShiftRight<int16_t, false>(x, x, int16_t(3), 1);
    LeakyRelu(narrow, narrow, half(0.5), 64);
    Axpy(wide, narrow, half(0.5), 64, 8, {1, 1, 8, 4});
    Copy(wide, wide, 8, 18, {1, 2, 300, 4095});
}

void reductions() {
    LocalTensor<half> x(TPosition::VECCALC, 0, 1024);
    LocalTensor<half> y(TPosition::VECCALC, 4096, 1024);
    LocalTensor<half> work(TPosition::VECCALC, 8192, 64);
    uint64_t mask[2] = {5, 9};
    WholeReduceSum(x, y, 100, 4, 1, 2, 9);
    WholeReduceMax<half>(x, y, mask, 4, 1, 2, 9, ReduceOrder::ORDER_ONLY_INDEX);
    BlockReduceMin(x, y, 4, 100, 1, 2, 9);
    PairReduceSum<half>(x, y, 4, mask, 1, 2, 9);
    RepeatReduceSum(x, y, 4, 100, 0, 2, 1, 9);
    ReduceRepeat<ReduceType::MIN, half>(x, y, 100, 4, 1, 2, 9);
    ReduceDataBlock<ReduceType::SUM, half>(x, y, 100, 4, 1, 2, 9);
    ReduceSum(x, y, work, 1000);
    ReduceSum<half>(x, y, work, 100, 300, 9);
    ReduceMax(x, y, work, 1000, true);
    ReduceMin<half>(x, y, work, mask, 300, 9);
    Brcb(x, y, 2, {1, 8});
}

void indices() {
    LocalTensor<half> x(TPosition::VECCALC, 0, 1024);
    LocalTensor<half> y(TPosition::VECCALC, 4096, 1024);
    LocalTensor<int16_t> index(TPosition::VECCALC, 8192, 1024);
    LocalTensor<uint32_t> offsets(TPosition::VECCALC, 16384, 1024);
    Gather(x, y, offsets, 32u, 300);
    Gather(x, y, offsets, 0u, 100, 4, 300);
    CreateVecIndex(index, int16_t(-2), 300);
    CreateVecIndex(index, int16_t(3), 100, 4, 2, 9);
    ArithProgression<int16_t>(index, 3, 2, 150);
    uint64_t chosen = 0;
    GatherMask(x, y, uint8_t(2), false, 0, {1, 4, 8, 0}, chosen);
    GatherMask(offsets, offsets, offsets, true, 70, {1, 2, 4, 5}, chosen);
    Gatherb(offsets, offsets, offsets, 3, {0, 9});
}

void atomics() {
    SetAtomicAdd<half>();
    SetAtomicMax<int8_t>();
    SetAtomicMin<bfloat16_t>();
    SetAtomicType<float>();
    SetAtomicNone();
    DisableDmaAtomic();
}

void caches() {
    LocalTensor<float> local(TPosition::VECCALC, 32, 16);
    GlobalTensor<uint64_t> global;
    global.SetGlobalBuffer(reinterpret_cast<uint64_t *>(0x200000000000));
    DataCacheCleanAndInvalid<uint64_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(global[4]);
    DataCacheCleanAndInvalid<uint64_t, CacheLine::ENTIRE_DATA_CACHE>(global);
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_UB>(local);
}

void allocated() {
    LocalMemAllocator<Hardware::UB> allocator;
    auto first = allocator.Alloc<half, 17>();
    auto second = allocator.Alloc<TPosition::VECIN, float>(8);
    Exp(first, first, 17);
    Exp(second, second, 8);
}

void fault_allocator() {
    LocalMemAllocator<> allocator;
    allocator.Alloc<float, 49152>();
    allocator.Alloc<int8_t>(1);
}

void casts() {
    LocalTensor<half> narrow(TPosition::VECCALC, 0, 64);
    LocalTensor<float> wide(TPosition::VECCALC, 1024, 64);
    Cast(wide, narrow, RoundMode::CAST_NONE, 64);
    Cast(narrow, wide, RoundMode::CAST_ODD, 64, 1, {1, 1, 4, 8});
}

void scalars() {
    LocalTensor<float> local(TPosition::VECCALC, 32, 16);
    GlobalTensor<int16_t> global;
    global.SetGlobalBuffer(reinterpret_cast<int16_t *>(0x200000000000));
    const float value = local.GetValue(3);  // @getvalue
    local.SetValue(1, value);
    local(2) = 1.0f;  // @element
    global.SetValue(5, -2);
    SetPadValue(1.5f);
}

void sync() {
    SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);
    SetFlag<HardEvent::V_V>(EVENT_ID0);
    PipeBarrier<PIPE_ALL>();
    pipe_barrier(PIPE_FIX);
    SyncAll();
    InitSocState();
}

void event_ids() {
    TPipe pipe;
    const TEventID kept = pipe.AllocEventID<HardEvent::V_MTE3>();
    const TEventID peeked = GetTPipePtr()->FetchEventID(HardEvent::V_MTE3);
    SetFlag<HardEvent::V_MTE3>(peeked);
    pipe.ReleaseEventID<HardEvent::V_MTE3>(kept);
    SetFlag<HardEvent::V_MTE3>(pipe.FetchEventID<HardEvent::V_MTE3>());
}

void cube_copies() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    LocalMemAllocator<Hardware::L1> allocator;
    auto skipped = allocator.Alloc<TPosition::A1, half>(16);
    auto local = allocator.Alloc<TPosition::B1, half>(1024);
    GlobalTensor<half> global;
    global.SetGlobalBuffer(reinterpret_cast<half *>(0x200000000000));
    Nd2NzParams params{1, 20, 23, 9, 32, 32, 1, 9};  // one matrix: its two steps mean nothing
    DataCopy(local, global[2], params);              // @nd2nz
    params.ndNum = 2;
    global.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    DataCopy(local, global, params);
    DataCopy(skipped, global, 16);
    DataCopy(global, local, DataCopyParams(2, 3, 4, 5));
}

void cube_pipe() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_0);
    TPipe pipe;
    TQue<TPosition::A1, 1> queue;
    pipe.InitBuffer(queue, 1, 524288);
    auto tensor = queue.AllocTensor<half>();
    queue.EnQue(tensor);
    tensor = queue.DeQue<half>();
    queue.FreeTensor(tensor);
    if ASCEND_IS_AIC {
        PipeBarrier<PIPE_MTE1>();
    }
    if ASCEND_IS_AIV {
        PipeBarrier<PIPE_V>();
    }
}

void fault_l1() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TQue<TPosition::B1, 1> queue;
    pipe.InitBuffer(queue, 2, 262176);
}

void fault_nd2nz() {
    LocalTensor<half> local(TPosition::A1, 0, 1024);
    GlobalTensor<half> global;
    DataCopy(local, global, Nd2NzParams{1, 16, 16, 0, 16, 0, 1, 0});
}

void fault_overflow() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 65536);
    pipe.InitBuffer(queue, 2, 65536);  // @overflow
}

void fault_limit() {
    TPipe pipe;
    TBuf<> buffers[65];
    for (auto &buffer : buffers) {
        pipe.InitBuffer(buffer, 32);
    }
}

void fault_alloc() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 32);
    queue.AllocTensor<float>();
    queue.AllocTensor<float>();
    queue.AllocTensor<float>();  // @stuck
}

void fault_full() {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, 32);  // @given_full
    auto first = queue.AllocTensor<float>();
    auto second = queue.AllocTensor<float>();
    queue.EnQue(first);
    queue.EnQue(second);
}

void fault_deque() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 32);
    queue.DeQue<float>();
}

void fault_double_free() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 32);  // @given_twice
    auto tensor = queue.AllocTensor<float>();
    queue.FreeTensor(tensor);
    queue.FreeTensor(tensor);
}

void fault_foreign() {
    TPipe pipe;
    VecIn queue;
    TQue<TPosition::VECOUT, 1> other;
    pipe.InitBuffer(queue, 2, 32);  // @given
    pipe.InitBuffer(other, 1, 32);  // @has
    auto tensor = queue.AllocTensor<float>();
    other.EnQue(tensor);
}

void fault_scratch() {
    TPipe pipe;
    VecIn queue;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(queue, 2, 32);  // @given_scratch
    pipe.InitBuffer(scratch, 32);
    queue.EnQue(scratch.Get<float>());
}

void fault_freed() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 32);  // @given_freed
    auto tensor = queue.AllocTensor<float>();
    queue.FreeTensor(tensor);
    queue.EnQue(tensor);
}

void fault_enque_twice() {
    TPipe pipe;
    VecIn queue;
    pipe.InitBuffer(queue, 2, 32);  // @given_enque_twice
    auto tensor = queue.AllocTensor<float>();
    queue.EnQue(tensor);
    queue.EnQue(tensor);
}

void fault_tbuf() {
    TBuf<TPosition::VECCALC> scratch;
    scratch.Get<float>();
}

void fault_event_ids() {
    TPipe pipe;
    for (int i = 0; i < 9; ++i) {
        pipe.AllocEventID<HardEvent::MTE2_V>();
    }
}

int64_t volatile repeats = 256;

void fault_repeat() {
    LocalTensor<half> x(TPosition::VECCALC, 0, 1024);
    Add(x, x, x, 128, repeats, BinaryRepeatParams());
}

void fault_stride() {
    LocalTensor<half> x(TPosition::VECCALC, 0, 1024);
    Add(x, x, x, 128, 1, {1, 1, 1, repeats, 8, 8});
}

void fault_block_count() {
    LocalTensor<float> local(TPosition::VECIN, 0, 128);
    GlobalTensor<float> global;
    DataCopy(local, global, DataCopyParams(4096, 1, 0, 0));
}

void fault_round_mode() {
    LocalTensor<float> wide(TPosition::VECCALC, 0, 64);
    LocalTensor<bfloat16_t> narrow(TPosition::VECCALC, 1024, 64);
    Cast(narrow, wide, RoundMode::CAST_NONE, 64);
}

void fault_integer_compare() {
    LocalTensor<int32_t> x(TPosition::VECCALC, 0, 64);
    LocalTensor<uint8_t> bits(TPosition::VECCALC, 1024, 64);
    Compare(bits, x, x, CMPMODE::LT, 64);
}

void fault_select_mode() {
    LocalTensor<float> x(TPosition::VECCALC, 0, 64);
    LocalTensor<uint8_t> bits(TPosition::VECCALC, 1024, 64);
    Select(x, bits, x, 1.0f, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
}

void fault_shift() {
    LocalTensor<int16_t> x(TPosition::VECCALC, 0, 64);
    ShiftLeft(x, x, int16_t(17), 64);
}

void fault_reduce_repeat() {
    LocalTensor<float> x(TPosition::VECCALC, 0, 64);
    WholeReduceSum(x, x, 64, repeats, 1, 1, 8);
}

void fault_event_id() { SetFlag<HardEvent::MTE2_V>(8); }

void fault_count() {
    LocalTensor<float> x(TPosition::VECCALC, 0, 64);
    Exp(x, x, static_cast<int32_t>(-repeats));
}

void fault_pad() {
    LocalTensor<float> local(TPosition::VECIN, 0, 128);
    GlobalTensor<float> global;
    DataCopyPad(local, global, DataCopyExtParams{1, 8, 0, 0, 0}, DataCopyPadExtParams<float>{true, 9, 0, 0});
}

void fault_ragged() {
    LocalTensor<float> local(TPosition::VECIN, 0, 128);
    GlobalTensor<float> global;
    DataCopyPad(local, global, DataCopyExtParams{1, 7, 0, 0, 0}, DataCopyPadExtParams<float>{false, 0, 0, 0});
}

void fault_wide_pad() {
    LocalTensor<int64_t> local(TPosition::VECIN, 0, 128);
    GlobalTensor<int64_t> global;
    DataCopyPad(local, global, DataCopyExtParams{1, 8, 0, 0, 0}, DataCopyPadExtParams<int64_t>{true, 1, 0, 0});
    DataCopyPad(local, global, DataCopyExtParams{1, 8, 0, 0, 0}, DataCopyPadExtParams<int64_t>{true, 1, 0, 5});
}

struct Scenario {
    const char *name;
    void (*kernel)();
};

#define SCENARIO(name) {#name, name}
const Scenario kScenarios[] = {
    SCENARIO(double_buffer),
    SCENARIO(two_in_flight),
    SCENARIO(in_place),
    SCENARIO(bound_queue),
    SCENARIO(reset_pipe),
    SCENARIO(destroyed_once),
    SCENARIO(scratch),
    SCENARIO(pads),
    SCENARIO(copies),
    SCENARIO(masks),
    SCENARIO(comparisons),
    SCENARIO(registers),
    SCENARIO(bit_operations),
    SCENARIO(reductions),
    SCENARIO(indices),
    SCENARIO(atomics),
    SCENARIO(caches),
    SCENARIO(allocated),
    SCENARIO(fault_allocator),
    SCENARIO(casts),
    SCENARIO(scalars),
    SCENARIO(sync),
    SCENARIO(event_ids),
    SCENARIO(cube_copies),
    SCENARIO(cube_pipe),
    SCENARIO(fault_l1),
    SCENARIO(fault_nd2nz),
    SCENARIO(fault_overflow),
    SCENARIO(fault_limit),
    SCENARIO(fault_alloc),
    SCENARIO(fault_full),
    SCENARIO(fault_deque),
    SCENARIO(fault_double_free),
    SCENARIO(fault_foreign),
    SCENARIO(fault_scratch),
    SCENARIO(fault_freed),
    SCENARIO(fault_enque_twice),
    SCENARIO(fault_tbuf),
    SCENARIO(fault_event_ids),
    SCENARIO(fault_repeat),
    SCENARIO(fault_stride),
    SCENARIO(fault_block_count),
    SCENARIO(fault_round_mode),
    SCENARIO(fault_integer_compare),
    SCENARIO(fault_select_mode),
    SCENARIO(fault_shift),
    SCENARIO(fault_reduce_repeat),
    SCENARIO(fault_event_id),
    SCENARIO(fault_count),
    SCENARIO(fault_pad),
    SCENARIO(fault_ragged),
    SCENARIO(fault_wide_pad),
};

}  // namespace

int main() {
    for (const Scenario &scenario : kScenarios) {
        Recorder &recorder = TheRecorder();
        recorder.records.clear();
        recorder.basicBlocks = 0;
        try {
            scenario.kernel();
        } catch (const Faulted &) {
        }
        const uint64_t basicBlocks = recorder.basicBlocks;
        for (const vnpu_record &record : recorder.records) {
            PrintRecord(scenario.name, record);
        }
        std::printf("{\"scenario\": \"%s\", \"basic_blocks\": %llu}\n", scenario.name, static_cast<unsigned long long>(basicBlocks));
    }
    return 0;
}
