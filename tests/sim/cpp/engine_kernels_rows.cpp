/* SoftMax and reductions along an axis, run by tests/sim/test_headers_rows.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

/* What a kernel has of its tiling; the shape is all that counts. */
struct Shape {
    uint32_t srcM;
    uint32_t srcK;
};

/* `pitch`: elements of a row in local memory, whole blocks. */
template <typename T>
uint32_t Pitch(uint32_t columns) {
    constexpr uint32_t perBlock = 32 / sizeof(T);
    return (columns + perBlock - 1) / perBlock * perBlock;
}

template <typename T>
void LoadRows(const LocalTensor<T> &local, const GlobalTensor<T> &memory, uint32_t rows, uint32_t columns) {
    DataCopyPad(local, memory, DataCopyExtParams(rows, columns * sizeof(T), 0, 0, 0), DataCopyPadExtParams<T>());
    PipeBarrier<PIPE_ALL>();
}

/* x.a rows of x.b columns; sums and maxima, 8 floats of each row, behind the result. */
template <typename T>
void softmax(const Arguments &x) {
    TPipe pipe;
    TBuf<> data, sums, maxima, rest;
    const Tensors<T> memory(x);
    const uint32_t pitch = Pitch<T>(x.b), bytes = x.a * pitch * sizeof(T);
    pipe.InitBuffer(data, bytes);
    pipe.InitBuffer(sums, x.a * 32);
    pipe.InitBuffer(maxima, x.a * 32);
    pipe.InitBuffer(rest, 32768);
    const LocalTensor<T> local = data.Get<T>();
    const LocalTensor<float> sum = sums.Get<float>(), max = maxima.Get<float>();
    LoadRows(local, memory.in, x.a, x.b);
    const SoftMaxShapeInfo shape{x.a, pitch, x.a, x.b};
    SoftMax<T>(local, sum, max, local, rest.Get<uint8_t>(), Shape{x.a, pitch}, shape);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(memory.out, local, DataCopyExtParams(x.a, x.b * sizeof(T), 0, 0, 0));
    GlobalTensor<float> told;
    told.SetGlobalBuffer(reinterpret_cast<float *>(x.out + (x.a * x.b * sizeof(T) + 31) / 32 * 32));
    DataCopy(told, sum, x.a * 8);
    DataCopy(told[x.a * 8], max, x.a * 8);
}

/* Without sums, out of place, with the memory that is left and the tiling's shape. */
template <typename T>
void plain_softmax(const Arguments &x) {
    Between<T>(x, x.a * x.b, x.a * x.b, [&](const LocalTensor<T> &dst, const LocalTensor<T> &src) { SoftMax<T, true, false>(dst, src, Shape{x.a, x.b}); });
}

template <typename Pattern, typename Reduce>
void Reduction(const Arguments &x, uint32_t results, const Reduce &reduce) {
    TPipe pipe;
    TBuf<> data, result, rest;
    const Tensors<float> memory(x);
    pipe.InitBuffer(data, x.a * Pitch<float>(x.b) * 4);
    pipe.InitBuffer(result, results * 4);
    pipe.InitBuffer(rest, 8192);
    LoadRows(data.Get<float>(), memory.in, x.a, x.b);
    const uint32_t shape[2] = {x.a, x.b};
    reduce(result.Get<float>(), data.Get<float>(), rest.Get<uint8_t>(), shape);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(memory.out, result.Get<float>(), DataCopyExtParams(1, results * 4, 0, 0, 0));
}

#define REDUCTION(name, Function, pattern, results)                                                                                                   \
    void name(const Arguments &x) {                                                                                                                   \
        using Axis = Pattern::Reduce::pattern;                                                                                                        \
        Reduction<Axis>(x, results,                                                                                                                   \
                        [](const LocalTensor<float> &dst, const LocalTensor<float> &src, const LocalTensor<uint8_t> &memory, const uint32_t *shape) { \
                            Function<float, Axis>(dst, src, memory, shape, true);                                                                     \
                        });                                                                                                                           \
    }
REDUCTION(sum_ar, ReduceSum, AR, x.a)
REDUCTION(max_ar, ReduceMax, AR, x.a)
REDUCTION(min_ar, ReduceMin, AR, x.a)
REDUCTION(sum_ra, ReduceSum, RA, x.b)
REDUCTION(max_ra, ReduceMax, RA, x.b)
REDUCTION(min_ra, ReduceMin, RA, x.b)

const Row kRows[] = {{"softmax f16", softmax<half>},
                     {"softmax f32", softmax<float>},
                     {"plain_softmax f16", plain_softmax<half>},
                     {"plain_softmax f32", plain_softmax<float>},
                     {"sum AR", sum_ar},
                     {"max AR", max_ar},
                     {"min AR", min_ar},
                     {"sum RA", sum_ra},
                     {"max RA", max_ra},
                     {"min RA", min_ra}};

}  // namespace

rig::Entry rig::FindRowKernel(const char *name) { return Find(kRows, name); }
