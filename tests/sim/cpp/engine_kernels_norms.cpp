/* Kernels of functions of rows, run by tests/sim/test_headers_norms.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

struct Shape {
    uint32_t srcM, srcK, bLength, sLength, hLength, originalHLength;
};

/* Rows of x.b elements in local memory, in whole blocks, x.a of each of two tensors, and 24 KiB besides. */
template <typename T, typename Step>
void OfRows(const Arguments &x, uint32_t results, const Step &step) {
    constexpr uint32_t unit = 32 / sizeof(T);
    const uint32_t pitch = (x.b + unit - 1) / unit * unit;
    TPipe pipe;
    TBuf<> data, result, rest;
    const Tensors<T> memory(x);
    pipe.InitBuffer(data, 2 * x.a * pitch * sizeof(T));
    pipe.InitBuffer(result, (results + unit) * sizeof(T));
    pipe.InitBuffer(rest, 24576);
    const LocalTensor<T> local = data.Get<T>();
    DataCopyPad(local, memory.in, DataCopyExtParams(2 * x.a, x.b * sizeof(T), 0, 0, 0), DataCopyPadExtParams<T>(true, 0, pitch - x.b, static_cast<T>(0.0f)));
    Duplicate(result.Get<T>(), static_cast<T>(0.0f), static_cast<int32_t>(results));
    PipeBarrier<PIPE_ALL>();
    step(result.Get<T>(), local, local[x.a * pitch], rest.Get<uint8_t>(), Shape{x.a, pitch, 1, x.a, pitch, x.b});
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(memory.out, result.Get<T>(), DataCopyExtParams(1, results * sizeof(T), 0, 0, 0));
}

template <typename T>
uint32_t Whole(const Arguments &x) {
    constexpr uint32_t unit = 32 / sizeof(T);
    return x.a * ((x.b + unit - 1) / unit * unit);
}

#define OF_ROWS(name, results, ...)                                                                                                                        \
    template <typename T>                                                                                                                                  \
    void name(const Arguments &x) {                                                                                                                        \
        OfRows<T>(                                                                                                                                         \
            x, results,                                                                                                                                    \
            [&](const LocalTensor<T> &dst, const LocalTensor<T> &one, const LocalTensor<T> &two, const LocalTensor<uint8_t> &memory, const Shape &shape) { \
                const SoftMaxShapeInfo info{shape.srcM, shape.srcK, x.a, x.b};                                                                             \
                (void)two, (void)memory, (void)info;                                                                                                       \
                __VA_ARGS__;                                                                                                                               \
            });                                                                                                                                            \
    }
OF_ROWS(row_sum, x.a, Sum(dst, one, memory, SumParams{x.a, shape.srcK, x.b}))
OF_ROWS(row_mean, x.a, Mean<T, float>(dst, one, MeanParams{x.a, shape.srcK, x.b}))
OF_ROWS(rms_norm, Whole<T>(x), RmsNorm<T>(dst, one, two, memory, static_cast<T>(0.5f), shape))
OF_ROWS(softmax_grad, Whole<T>(x), SoftmaxGrad(dst, one, two, memory, shape, false, info))
OF_ROWS(softmax_front, x.a * 32 / sizeof(T), SoftmaxGradFront(dst, one, two, shape, info))
OF_ROWS(softmax_again, Whole<T>(x), SimpleSoftMax<T>(dst, two, two[x.a * 32 / sizeof(T)], one, memory, shape, info))
OF_ROWS(softmax_numbers, Whole<T>(x) + 2 * x.a * 32 / sizeof(T),
        SoftMax<T>(dst, dst[Whole<T>(x)], dst[Whole<T>(x) + x.a * 32 / sizeof(T)], one, memory, shape, info))
OF_ROWS(axis_max, x.a, const uint32_t matrix[] = {x.a, x.b}; ReduceMax<T, Pattern::Reduce::AR>(dst, one, memory, matrix, true))
OF_ROWS(axis_min_of_columns, x.b, const uint32_t matrix[] = {x.a, x.b}; ReduceMin<T, Pattern::Reduce::RA>(dst, one, memory, matrix, true))
OF_ROWS(softmax_overlap, Whole<T>(x), SoftMax<T>(dst, one, one.template ReinterpretCast<uint8_t>(), shape, info))

#define BOTH(name) \
    {#name " f16", name<half>}, { #name " f32", name<float> }
const Row kRows[] = {BOTH(row_sum),       BOTH(row_mean),        BOTH(rms_norm), BOTH(softmax_grad),        BOTH(softmax_front),
                     BOTH(softmax_again), BOTH(softmax_numbers), BOTH(axis_max), BOTH(axis_min_of_columns), BOTH(softmax_overlap)};

}  // namespace

rig::Entry rig::FindNormKernel(const char *name) { return Find(kRows, name); }
