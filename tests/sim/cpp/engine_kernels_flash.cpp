/* SoftmaxFlash in its versions, LogSoftMax, the format NZ, AdjustSoftMaxRes, run by tests/sim/test_headers_flash.py. */
#include "engine_rows.h"

using namespace rig;

namespace {

/* Two matrices of x.a rows of x.b elements, and four tensors of a block per row. */
template <typename T, typename S>
struct Parts {
    TPipe pipe;
    TBuf<> data, result, numbers, factors, rest;
    uint32_t pitch, each;
    LocalTensor<T> one, two, dst, factor;
    LocalTensor<S> sum, max, first;
    LocalTensor<uint8_t> scratch;
    SoftMaxShapeInfo shape;
    tiling::SoftMaxTiling tiling;

    Parts(const Arguments &x, uint32_t room) : pitch(PitchOf<T>(x.b)), each(x.a * 32 / sizeof(S)) {
        const Tensors<T> memory(x);
        pipe.InitBuffer(data, 2 * x.a * pitch * sizeof(T));
        pipe.InitBuffer(result, x.a * pitch * sizeof(T));
        pipe.InitBuffer(numbers, 3 * x.a * 32);
        pipe.InitBuffer(factors, x.a * 32);
        if (room != 0) {
            pipe.InitBuffer(rest, room);
            scratch = rest.Get<uint8_t>();
        }
        one = data.Get<T>(), two = one[x.a * pitch], dst = result.Get<T>(), factor = factors.Get<T>();
        sum = numbers.Get<S>(), max = sum[each], first = max[each];
        shape = {x.a, pitch, x.a, x.b};
        tiling = SoftMaxFlashV2TilingFunc(shape, sizeof(T), sizeof(S), room);
        DataCopyPad(one, memory.in, DataCopyExtParams(2 * x.a, x.b * sizeof(T), 0, 0, 0), DataCopyPadExtParams<T>(true, 0, pitch - x.b, static_cast<T>(0.0f)));
        Duplicate(sum, static_cast<S>(0.0f), 3 * each);
        Duplicate(factor, static_cast<T>(0.0f), x.a * 32 / sizeof(T));
        PipeBarrier<PIPE_ALL>();
    }
    void Store(const Arguments &x) {
        PipeBarrier<PIPE_ALL>();
        Put(x, 0, dst, x.a * pitch);
        Put(x, 1, sum, each);
        Put(x, 2, max, each);
        Put(x, 3, factor, x.a * 32 / sizeof(T));
        Put(x, 4, first, each);
    }
};

constexpr SoftmaxConfig kDense{false, 0, 0, SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC};

/* The first part, then the second with the first one's numbers. */
template <typename T, typename S, uint32_t room>
void flash_two(const Arguments &x) {
    Parts<T, S> p(x, room);
    SoftmaxFlashV2<T, false>(p.dst, p.sum, p.max, p.one, p.factor, p.sum, p.max, p.scratch, p.tiling, p.shape);
    SoftmaxFlashV2<T, true>(p.dst, p.sum, p.max, p.two, p.factor, p.sum, p.max, p.scratch, p.tiling, p.shape);
    p.Store(x);
}

template <typename T>
void flash_dense(const Arguments &x) {
    Parts<T, T> p(x, 0);
    SoftmaxFlashV2<T, false, false, false, false, kDense>(p.dst, p.sum, p.max, p.one, p.factor, p.sum, p.max, p.tiling, p.shape);
    SoftmaxFlashV2<T, true, false, false, false, kDense>(p.dst, p.first, p.sum, p.max, p.two, p.factor, p.sum, p.max, p.tiling, p.shape);
    p.Store(x);
}

template <typename T, typename S>
void flash_one(const Arguments &x) {
    Parts<T, S> p(x, 0);
    SoftmaxFlash<T>(p.dst, p.sum, p.max, p.one, p.factor, p.sum, p.max, p.tiling, false, p.shape);
    SoftmaxFlash<T>(p.dst, p.sum, p.max, p.two, p.factor, p.sum, p.max, p.tiling, true, p.shape);
    p.Store(x);
}

/* The first matrix alone. */
template <typename T>
void log_softmax(const Arguments &x) {
    Parts<T, T> p(x, 8192);
    LogSoftMax<T>(p.dst, p.sum, p.max, p.one, p.scratch, tiling::LogSoftMaxTiling(), p.shape);
    p.Store(x);
}

template <typename T>
void softmax_nz(const Arguments &x) {
    Parts<T, T> p(x, 16384);
    SoftMax<T, false, false, true>(p.dst, p.sum, p.max, p.one, p.scratch, p.tiling, p.shape);
    p.Store(x);
}

/* (grad - sum of grad * src) * src. */
template <typename T>
void softmax_grad_nz(const Arguments &x) {
    Parts<T, T> p(x, 16384);
    SoftmaxGrad<T, false, true>(p.dst, p.one, p.two, p.scratch, p.tiling, false, p.shape);
    p.Store(x);
}

/* Two calls: the first from nothing, the second with its numbers. The third result is the mean. */
template <uint32_t room>
void flash_pasa(const Arguments &x) {
    Parts<half, float> p(x, room);
    const SoftMaxParams first{x.a, p.pitch, x.a, x.b, 1, 8, 0.9375f}, second{x.a, p.pitch, x.a, x.b, 2, 8, 0.9375f};
    SoftmaxFlashV3<half, float, false>(p.dst, p.first, p.sum, p.max, p.one, p.factor, p.first, p.sum, p.max, p.scratch, p.tiling, first);
    SoftmaxFlashV3<half, float, true>(p.dst, p.first, p.sum, p.max, p.two, p.factor, p.first, p.sum, p.max, p.scratch, p.tiling, second);
    p.Store(x);
}

/* Where the first element of a row of the second matrix is 1, the row of the first becomes 7; the answer is the sum. */
template <typename T, uint8_t mode>
void adjust(const Arguments &x) {
    Parts<T, T> p(x, 0);
    const uint32_t step = mode == 0 ? 32 / sizeof(T) : 1;
    for (uint32_t row = 0; row < x.a; ++row) {
        p.first.SetValue(row * step, p.two.GetValue(row * p.pitch));
    }
    Adds(p.dst, p.one, static_cast<T>(0.0f), x.a * p.pitch);
    const bool isFound = AdjustSoftMaxRes<T, T, false, mode>(p.dst, p.first, sizeof(T) == 2 ? 0x3c00 : 0x3f800000, static_cast<T>(7.0f), p.shape);
    Duplicate(p.sum, static_cast<T>(isFound ? 1.0f : 0.0f), p.each);
    p.Store(x);
}

const Row kRows[] = {
    {"flash_two f16", flash_two<half, half, 16384>},
    {"flash_two f32", flash_two<float, float, 16384>},
    {"flash_two mixed", flash_two<half, float, 16384>},
    {"flash_small f16", flash_two<half, half, 4096>},
    {"flash_small f32", flash_two<float, float, 4096>},
    {"flash_small mixed", flash_two<half, float, 4096>},
    {"flash_dense f16", flash_dense<half>},
    {"flash_dense f32", flash_dense<float>},
    {"flash_one f16", flash_one<half, half>},
    {"flash_one f32", flash_one<float, float>},
    {"flash_one mixed", flash_one<half, float>},
    {"log_softmax f16", log_softmax<half>},
    {"log_softmax f32", log_softmax<float>},
    {"softmax_nz f16", softmax_nz<half>},
    {"softmax_nz f32", softmax_nz<float>},
    {"softmax_grad_nz f16", softmax_grad_nz<half>},
    {"softmax_grad_nz f32", softmax_grad_nz<float>},
    {"flash_pasa mixed", flash_pasa<0x12000>},
    {"flash_pasa_small mixed", flash_pasa<0x3800>},
    {"adjust f16", adjust<half, 0>},
    {"adjust f32", adjust<float, 0>},
    {"adjust_dense f16", adjust<half, 1>},
    {"adjust_dense f32", adjust<float, 1>},
};

}  // namespace

rig::Entry rig::FindFlashKernel(const char *name) { return Find(kRows, name); }
