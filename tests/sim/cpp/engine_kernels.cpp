/* Kernels of composed calls, run by tests/sim/test_headers_composed.py on the engine of the test rig: headers and engine together. */
#include "engine_kernels.h"

using namespace rig;

namespace {

#define ELEMENTWISE(name, Function)                                                                                      \
    template <typename T>                                                                                                \
    void name(const Arguments &x) {                                                                                      \
        Between<T>(x, x.a, x.a, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) { Function(dst, src, x.a); }); \
    }
ELEMENTWISE(floor, Floor)
ELEMENTWISE(ceil, Ceil)
ELEMENTWISE(trunc, Trunc)
ELEMENTWISE(rint, Rint)
ELEMENTWISE(log, Log)
ELEMENTWISE(log2, Log2)
ELEMENTWISE(log10, Log10)

template <typename T>
void column(const Arguments &x) {
    const uint32_t to[2] = {x.a, x.b}, from[2] = {x.a, 1};
    Between<T>(x, x.a, x.a * x.b, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) { Broadcast<T, 2, 1>(dst, src, to, from); });
}

template <typename T>
void row(const Arguments &x) {
    const uint32_t to[2] = {x.a, x.b}, from[2] = {1, x.b};
    Between<T>(x, x.b, x.a * x.b, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) { BroadCast<T, 2, 0>(dst, src, to, from); });
}

template <typename T>
void fill(const Arguments &x) {
    TPipe pipe;
    const Tensors<T> memory(x);
    InitGlobalMemory<T>(memory.out, x.a, static_cast<T>(3));
}

/* The local memory of a fill is loaded into without a flag. */
template <typename T>
void fill_and_load(const Arguments &x) {
    fill<T>(x);
    const Tensors<T> memory(x);
    TPipe pipe;
    InitOutput<T>(memory.out, x.a);
    TBuf<TPosition::VECIN> buffer;
    pipe.InitBuffer(buffer, 1024);
    DataCopy(buffer.Get<T>(), memory.in, 1024 / sizeof(T));
}

template <typename T>
void expression(const Arguments &x) {
    Between<T>(x, x.a, x.a, [&](LocalTensor<T> dst, LocalTensor<T> src) {
        dst.SetSize(x.a);
        dst = src * src;
        dst = dst - src;
    });
}

/* Blocks take turns: each adds itself to what the one before left. */
void turns(const Arguments &x) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 1024);
    GlobalTensor<int32_t> flags, sum;
    flags.SetGlobalBuffer(reinterpret_cast<int32_t *>(x.in));
    sum.SetGlobalBuffer(reinterpret_cast<int32_t *>(x.out));
    LocalTensor<int32_t> local = buffer.Get<int32_t>();
    InitDetermineComputeWorkspace(flags, local);
    for (uint32_t round = 0; round < x.a; ++round) {
        WaitPreBlock(flags, local);
        DataCopy(local, sum, 8);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Muls(local, local, 2, 8);
        Adds(local, local, static_cast<int32_t>(GetBlockIdx()), 8);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(sum, local, 8);
        NotifyNextBlock(flags, local);
    }
}

#define BOTH(name) \
    {#name " f16", name<half>}, { #name " f32", name<float> }
const Row kRows[] = {BOTH(floor),  BOTH(ceil), BOTH(trunc), BOTH(rint),          BOTH(log),        BOTH(log2),      BOTH(log10),
                     BOTH(column), BOTH(row),  BOTH(fill),  BOTH(fill_and_load), BOTH(expression), {"turns", turns}};

}  // namespace

extern "C" void (*rig_kernel(const char *name))(const void *) {
    for (const auto find :
         {FindApiKernel,         FindRowKernel,       FindFunctionKernel,    FindSortKernel,     FindNormKernel,    FindFormKernel,        FindRestKernel,
          FindShapeKernel,       FindMatmulKernel,    FindMixedMatmulKernel, FindProbe,          FindComposedProbe, FindCubeProbe,         FindMatmulFormKernel,
          FindAskedMatmulKernel, FindLayerNormKernel, FindFlashKernel,       FindMoreNormKernel, FindCallKernel,    FindNamedMatmulKernel, FindRowFormKernel}) {
        if (const Entry entry = find(name)) {
            return entry;
        }
    }
    return Find(kRows, name);
}
