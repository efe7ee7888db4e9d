/* Kernels of calls that are made of several instructions or need tables and pools, run by tests/sim/test_headers_api.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

/* ---- Power: x.a elements of base and exponent, one behind the other (multiples of 8 elements) ---- */

template <typename T>
void power(const Arguments &x) {
    Between<T>(x, 2 * x.a, x.a, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) { Power(dst, src, src[x.a], x.a); });
}

/* To the power of the first exponent. */
template <typename T>
void power_of_tensor(const Arguments &x) {
    Between<T>(x, 2 * x.a, x.a, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) {
        const T exponent = src.GetValue(x.a);
        Power<T, false>(dst, src, exponent, x.a);
    });
}

/* The first base. */
template <typename T>
void power_of_number(const Arguments &x) {
    Between<T>(x, 2 * x.a, x.a, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) {
        const T base = src.GetValue(0);
        Power(dst, base, src[x.a], x.a);
    });
}

/* ---- Functions of one tensor: in place where x.b says so, else with 1 KiB of memory of its own ---- */

#define FUNCTION(name, Function)                                                            \
    template <typename T>                                                                   \
    void name(const Arguments &x) {                                                         \
        Between<T>(x, x.a, x.a, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) { \
            if (x.b) {                                                                      \
                Muls(dst, src, static_cast<T>(1), static_cast<int32_t>(x.a));               \
                PipeBarrier<PIPE_V>();                                                      \
                Function(dst, dst, x.a);                                                    \
            } else {                                                                        \
                LocalTensor<uint8_t> rest;                                                  \
                PopStackBuffer<uint8_t, TPosition::VECCALC>(rest);                          \
                rest.SetSize(1024);                                                         \
                Function(dst, src, rest, x.a);                                              \
            }                                                                               \
        });                                                                                 \
    }
FUNCTION(tanh, Tanh)
FUNCTION(sign, Sign)
FUNCTION(sigmoid, Sigmoid)

void trap(const Arguments &) { Trap(); }

/* ---- Broadcast of bytes ---- */

template <typename T>
void byte_column(const Arguments &x) {
    const uint32_t to[2] = {x.a, x.b}, from[2] = {x.a, 1};
    TPipe pipe;
    TBuf<> in, out, rest;
    const Tensors<T> memory(x);
    pipe.InitBuffer(in, x.a);
    pipe.InitBuffer(out, x.a * x.b + 32);
    pipe.InitBuffer(rest, 65536);
    DataCopyPad(in.Get<T>(), memory.in, DataCopyExtParams(1, x.a, 0, 0, 0), DataCopyPadExtParams<T>());
    PipeBarrier<PIPE_ALL>();
    LocalTensor<uint8_t> scratch = rest.Get<uint8_t>();
    Broadcast<T, 2, 1>(out.Get<T>(), in.Get<T>(), to, from, scratch);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(memory.out, out.Get<T>(), DataCopyExtParams(1, x.a * x.b, 0, 0, 0));
}

template <typename T>
void byte_row(const Arguments &x) {
    const uint32_t to[2] = {x.a, x.b}, from[2] = {1, x.b};
    Between<T>(x, x.b, x.a * x.b, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) { Broadcast<T, 2, 0>(dst, src, to, from); });
}

/* ---- A list of tensors: out[i] = first dimension, last dimension, dimensions, number, first element of tensor i; x.a says how many are asked about ---- */

void list(const Arguments &x) {
    ListTensorDesc tensors(x.in);
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer(reinterpret_cast<int32_t *>(x.out));
    out.SetValue(0, static_cast<int32_t>(tensors.GetSize()));
    for (uint32_t i = 0; i < x.a; ++i) {
        uint64_t shape[9];
        TensorDesc<int32_t> desc;
        desc.SetShapeAddr(shape);
        tensors.GetDesc(desc, i);
        const uint32_t at = 1 + 5 * i;
        out.SetValue(at, static_cast<int32_t>(desc.GetShape(0)));
        out.SetValue(at + 1, static_cast<int32_t>(desc.GetShape(static_cast<uint32_t>(desc.GetDim()) - 1)));
        out.SetValue(at + 2, static_cast<int32_t>(desc.GetDim()));
        out.SetValue(at + 3, static_cast<int32_t>(desc.GetIndex()));
        out.SetValue(at + 4, desc.GetDataObj().GetValue(0));
        if (desc.GetDataPtr() != tensors.GetDataPtr<int32_t>(i)) {
            out.SetValue(0, -1);
        }
    }
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(out);
}

/* Says that there are x.a tensors. */
void list_of(const Arguments &x) { ListTensorDesc tensors(x.in, 0xffffffff, x.a); }

/* ---- Slices: the documentation's 3 x 87 floats, of which rows 0 and 2 have two pieces of 24; x.a = 1: into a box of global memory again ---- */

void slices(const Arguments &x) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * 48 * sizeof(float));
    const Tensors<float> memory(x);
    const SliceInfo in[] = {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}}, dense[] = {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}};
    const LocalTensor<float> local = buffer.Get<float>();
    DataCopy(local, memory.in, dense, in, 2);
    SetFlag<HardEvent::MTE2_MTE3>(0);
    WaitFlag<HardEvent::MTE2_MTE3>(0);
    DataCopy(memory.out, local, x.a ? in : dense, dense, 2);
}

/* Pieces that do not fill the slice. */
void uneven_slices(const Arguments &x) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 1024);
    const Tensors<float> memory(x);
    const SliceInfo in[] = {{16, 69, 7, 3, 87}}, dense[] = {{0, 47, 0, 3, 48}};
    DataCopy(buffer.Get<float>(), memory.in, dense, in);
}

/* ---- Two stages that use the same memory in turn ---- */

template <typename Pool>
void Stage(Pool &pool, const Tensors<float> &memory, float addend, uint32_t at) {
    TQue<TPosition::VECIN, 1> inputs;
    TQue<TPosition::VECOUT, 1> outputs;
    pool.InitBuffer(inputs, 1, 1024);
    pool.InitBuffer(outputs, 1, 1024);
    auto src = inputs.template AllocTensor<float>();
    DataCopy(src, memory.in[at], 256);
    inputs.EnQue(src);
    src = inputs.template DeQue<float>();
    auto dst = outputs.template AllocTensor<float>();
    Adds(dst, src, addend, 256);
    outputs.EnQue(dst);
    inputs.FreeTensor(src);
    dst = outputs.template DeQue<float>();
    DataCopy(memory.out[at], dst, 256);
    outputs.FreeTensor(dst);
}

/* x.a stages of 256 floats; two pools share 2 KiB inside a pool of 4 KiB. */
void pools(const Arguments &x) {
    TPipe pipe;
    const Tensors<float> memory(x);
    TBufPool<TPosition::VECCALC, 10> whole;
    TBufPool<TPosition::VECCALC> first, second;
    TBuf<> behind;
    pipe.InitBufPool(whole, 4096);
    pipe.InitBuffer(behind, 32);
    whole.InitBufPool(first, 2048);
    whole.InitBufPool(second, 2048, first);
    Stage(first, memory, 1.0f, 0);
    first.Reset();
    Stage(second, memory, 2.0f, 256);
    second.Reset();
    GlobalTensor<int32_t> told;
    told.SetGlobalBuffer(reinterpret_cast<int32_t *>(x.out + 2048));
    told.SetValue(0, static_cast<int32_t>(behind.Get<int32_t>().GetPhyAddr()));
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(told);
}

/* Without Reset, the second stage's load meets what the first stage's vector unit still reads. */
void pools_without_reset(const Arguments &x) {
    TPipe pipe;
    const Tensors<float> memory(x);
    TBufPool<TPosition::VECCALC> first, second;
    pipe.InitBufPool(first, 2048);
    pipe.InitBufPool(second, 2048, first);
    Stage(first, memory, 1.0f, 0);
    Stage(second, memory, 2.0f, 256);
}

void pool_too_small(const Arguments &) {
    TPipe pipe;
    TBufPool<TPosition::VECCALC> pool;
    TBuf<> a, b;
    pipe.InitBufPool(pool, 1024);
    pool.InitBuffer(a, 512);
    pool.InitBuffer(b, 544);
}

void pool_of_too_many(const Arguments &) {
    TPipe pipe;
    TBufPool<TPosition::VECCALC, 2> pool;
    TBuf<> a;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBufPool(pool, 1024);
    pool.InitBuffer(a, 32);
    pool.InitBuffer(queue, 2, 32);
}

/* ---- CastDequant: x.a values of 16 bits; x.b = 1 for a scale per lane, + 2 for the upper halves ---- */

template <bool isVecDeq, bool halfBlock>
void Dequantise(const LocalTensor<int8_t> &dst, const LocalTensor<int16_t> &src, uint32_t count, const LocalTensor<uint64_t> &words) {
    if (isVecDeq) {
        float scale[16];
        int16_t offset[16];
        bool sign[16];
        for (int16_t i = 0; i < 16; ++i) {
            scale[i] = 0.25f * static_cast<float>(i + 1);
            offset[i] = static_cast<int16_t>(i - 8);
            sign[i] = true;
        }
        SetDeqScale<uint64_t>(words, VdeqInfo(scale, offset, sign));
    } else {
        SetDeqScale(0.5f, -3, true);
    }
    CastDequant<int8_t, int16_t, isVecDeq, halfBlock>(dst, src, count);
}

void cast_dequant(const Arguments &x) {
    TPipe pipe;
    TBuf<> in, out, words;
    pipe.InitBuffer(in, x.a * 2);
    pipe.InitBuffer(words, 128);
    pipe.InitBuffer(out, x.a * 2);
    GlobalTensor<int16_t> source;
    GlobalTensor<int8_t> target;
    source.SetGlobalBuffer(reinterpret_cast<int16_t *>(x.in));
    target.SetGlobalBuffer(reinterpret_cast<int8_t *>(x.out));
    const LocalTensor<int16_t> src = in.Get<int16_t>();
    const LocalTensor<int8_t> dst = out.Get<int8_t>();
    DataCopy(src, source, x.a);
    Duplicate(dst.ReinterpretCast<int16_t>(), int16_t(0), x.a);
    PipeBarrier<PIPE_ALL>();
    const LocalTensor<uint64_t> deq = words.Get<uint64_t>();
    switch (x.b) {
        case 0:
            Dequantise<false, false>(dst, src, x.a, deq);
            break;
        case 1:
            Dequantise<true, false>(dst, src, x.a, deq);
            break;
        case 2:
            Dequantise<false, true>(dst, src, x.a, deq);
            break;
        default:
            Dequantise<true, true>(dst, src, x.a, deq);
    }
    PipeBarrier<PIPE_ALL>();
    DataCopy(target, dst, x.a * 2);
}

#define BOTH(name) \
    {#name " f16", name<half>}, { #name " f32", name<float> }
#define BYTES(name) \
    {#name " i8", name<int8_t>}, { #name " u8", name<uint8_t> }
const Row kRows[] = {BOTH(tanh),
                     BOTH(sign),
                     BOTH(sigmoid),
                     {"trap", trap},
                     BOTH(power),
                     {"power i32", power<int32_t>},
                     BOTH(power_of_tensor),
                     {"power_of_tensor i32", power_of_tensor<int32_t>},
                     BOTH(power_of_number),
                     {"power_of_number i32", power_of_number<int32_t>},
                     BYTES(byte_column),
                     BYTES(byte_row),
                     {"list", list},
                     {"list_of", list_of},
                     {"slices", slices},
                     {"uneven_slices", uneven_slices},
                     {"pools", pools},
                     {"pools_without_reset", pools_without_reset},
                     {"pool_too_small", pool_too_small},
                     {"pool_of_too_many", pool_of_too_many},
                     {"cast_dequant", cast_dequant}};

}  // namespace

rig::Entry rig::FindApiKernel(const char *name) { return Find(kRows, name); }
