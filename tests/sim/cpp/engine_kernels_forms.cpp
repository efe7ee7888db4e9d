/* Kernels of forms that few kernels use: matrices into the unified buffer, 4-bit global memory, buffers at places, shapes; run by
 * tests/sim/test_headers_places.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

/* x.a rows of x.b elements, twice, into columns of 32-byte units; rows and matrices have gaps on chip, filled with 7. */
template <typename T>
void columns(const Arguments &x) {
    constexpr uint32_t unit = 32 / sizeof(T), matrices = 2;
    const uint32_t units = (x.b + unit - 1) / unit, blocks = matrices * (units * (2 * x.a + 1) + 1);
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, blocks * 32);
    const Tensors<T> memory(x);
    const LocalTensor<T> local = buffer.Get<T>();
    Duplicate(buffer.Get<int16_t>(), int16_t(0x0707), static_cast<int32_t>(blocks * 16));
    PipeBarrier<PIPE_ALL>();
    Nd2NzParams params(matrices, x.a, x.b, x.a * (x.b + 3), x.b + 3, 2 * x.a + 1, 2, blocks / matrices * unit);
    DataCopy(local, memory.in, params);
    PipeBarrier<PIPE_ALL>();
    DataCopy(memory.out, local, blocks * unit);
}

/* x.a rows that start x.b elements apart and are 16 elements long, so that they share elements. */
void close_rows(const Arguments &x) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, x.a * 32);
    const Tensors<half> memory(x);
    const LocalTensor<half> local = buffer.Get<half>();
    DataCopy(local, memory.in, Nd2NzParams(1, x.a, 16, 0, x.b, x.a, 1, 0));
    PipeBarrier<PIPE_ALL>();
    DataCopy(memory.out, local, x.a * 16);
}

/* x.a halves as 4-bit numbers, from element x.b of the result on. */
void nibbles(const Arguments &x) {
    TPipe pipe;
    TBuf<> buffer, result;
    pipe.InitBuffer(buffer, x.a * 2);
    pipe.InitBuffer(result, x.a);
    GlobalTensor<half> in;
    GlobalTensor<int4b_t> out;
    in.SetGlobalBuffer(reinterpret_cast<half *>(x.in));
    out.SetGlobalBuffer(reinterpret_cast<int4b_t *>(x.out));
    const LocalTensor<half> local = buffer.Get<half>();
    const LocalTensor<int4b_t> narrow = result.Get<int4b_t>();
    DataCopy(local, in, x.a);
    PipeBarrier<PIPE_ALL>();
    Cast(narrow, local, RoundMode::CAST_RINT, x.a);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(out[x.b], narrow, DataCopyExtParams(1, x.a / 2, 0, 0, 0));
}

/* 4-bit numbers by elements, in and out; x.a of them. */
void nibbles_back(const Arguments &x) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, x.a / 2);
    const Tensors<int4b_t> memory(x);
    DataCopy(buffer.Get<int4b_t>(), memory.in[x.b], x.a);
    PipeBarrier<PIPE_ALL>();
    DataCopy(memory.out, buffer.Get<int4b_t>(), x.a);
}

/* Two buffers of 1 KiB at x.a and x.b: what they hold is copied out of the whole buffer's memory, and the next one lies behind them. */
void placed(const Arguments &x) {
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    TBuf<> next;
    pipe.InitBuffer(queue, Std::make_tuple(x.a, 1024), Std::make_tuple(x.b, 1024));
    pipe.InitBuffer(next, 32);
    Tensors<float> memory(x);
    for (uint32_t i = 0; i < 2; ++i) {
        auto local = queue.AllocTensor<float>();
        DataCopy(local, memory.in[i * 256], 256);
        queue.EnQue(local);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        auto local = queue.DeQue<float>();
        local.SetValue(0, static_cast<float>(local.GetPhyAddr()));
        SetFlag<HardEvent::S_MTE3>(0);
        WaitFlag<HardEvent::S_MTE3>(0);
        DataCopy(memory.out[i * 256], local, 256);
        SetFlag<HardEvent::MTE3_MTE2>(0);
        WaitFlag<HardEvent::MTE3_MTE2>(0);
        queue.FreeTensor(local);
    }
    memory.out.SetValue(512, static_cast<float>(next.Get<float>().GetPhyAddr()));
    DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(memory.out);
}

/* Two pipes one after the other, the first one left without a barrier: x.a elements in and out of it, then of the second. */
void two_pipes(const Arguments &x) {
    const Tensors<float> memory(x);
    for (uint32_t round = 0; round < 2; ++round) {
        TPipe pipe;
        TBuf<> buffer;
        pipe.InitBuffer(buffer, x.a * 4);
        DataCopy(buffer.Get<float>(), memory.in[round * x.a], x.a);
        if (round == 1 || x.b == 0) {
            PipeBarrier<PIPE_ALL>();
        }
        DataCopy(memory.out[round * x.a], buffer.Get<float>(), x.a);
        if (x.b == 0) {
            PipeBarrier<PIPE_ALL>();
        }
        pipe.DestroyWithoutPipeAll();
    }
}

/* What tensors say about themselves: x.out gets it. */
void shapes(const Arguments &x) {
    const Tensors<int32_t> memory(x);
    const uint32_t lengths[] = {16, 1024}, before[] = {10, 1000, 3};
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 8192);
    LocalTensor<float> whole = buffer.Get<float>();
    LocalTensor<half> part;
    part.SetAddrWithOffset(whole, 96);
    GlobalTensor<int32_t> out = memory.out;
    out.SetShapeInfo(ShapeInfo(2, lengths, 3, before, DataFormat::NZ));
    whole.SetShapeInfo(ShapeInfo(2, lengths));
    LocalTensor<float> copy = whole;
    whole.SetShapeInfo(ShapeInfo(3, before, DataFormat::NHWC));
    const ShapeInfo given = out.GetShapeInfo(), first = copy.GetShapeInfo(), second = whole.GetShapeInfo();
    const int32_t told[] = {static_cast<int32_t>(part.GetPhyAddr()),
                            static_cast<int32_t>(part.GetSize()),
                            given.shapeDim,
                            static_cast<int32_t>(given.shape[1]),
                            given.originalShapeDim,
                            static_cast<int32_t>(given.originalShape[2]),
                            static_cast<int32_t>(given.dataFormat),
                            GetShapeSize(first),
                            GetShapeSize(second),
                            static_cast<int32_t>(second.dataFormat),
                            part.GetShapeInfo().shapeDim};
    for (uint32_t i = 0; i < sizeof told / sizeof *told; ++i) {
        out.SetValue(i, told[i]);
    }
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(out);
}

const Row kRows[] = {{"columns f16", columns<half>},
                     {"columns i8", columns<int8_t>},
                     {"columns f32", columns<float>},
                     {"close_rows", close_rows},
                     {"nibbles", nibbles},
                     {"nibbles_back", nibbles_back},
                     {"placed", placed},
                     {"two_pipes", two_pipes},
                     {"shapes", shapes}};

}  // namespace

rig::Entry rig::FindFormKernel(const char *name) { return Find(kRows, name); }
