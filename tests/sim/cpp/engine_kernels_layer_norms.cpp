/* LayerNorm and its kin, run by tests/sim/test_headers_layer_norms.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

template <typename T>
uint32_t PitchOf(uint32_t columns) {
    constexpr uint32_t unit = 32 / sizeof(T);
    return (columns + unit - 1) / unit * unit;
}

/* x.a rows of x.b elements, and what kernels add to them. */
template <typename T>
struct Bench {
    TPipe pipe;
    TBuf<> data, result, numbers, rest;
    Tensors<T> memory;
    uint32_t rows, columns, pitch;
    LocalTensor<T> local, dst;
    LocalTensor<uint8_t> scratch;

    /* `more` rows behind x.a of them; `ends` bytes of numbers; `room` bytes of temporary memory, 0 for none. */
    Bench(const Arguments &x, uint32_t more, uint32_t ends, uint32_t room) : memory(x), rows(x.a), columns(x.b), pitch(PitchOf<T>(x.b)) {
        pipe.InitBuffer(data, (rows + more) * pitch * sizeof(T));
        pipe.InitBuffer(result, rows * pitch * sizeof(T));
        pipe.InitBuffer(numbers, ends);
        if (room != 0) {
            pipe.InitBuffer(rest, room);
            scratch = rest.Get<uint8_t>();
        }
        local = data.Get<T>();
        dst = result.Get<T>();
        DataCopyPad(local, memory.in, DataCopyExtParams(rows + more, columns * sizeof(T), 0, 0, 0),
                    DataCopyPadExtParams<T>(true, 0, pitch - columns, static_cast<T>(0.0f)));
        PipeBarrier<PIPE_ALL>();
    }
    LocalTensor<T> Row(uint32_t number) { return local[number * pitch]; }
    /* The matrix without padding, then `count` numbers from each of two tensors of S. */
    template <typename S>
    void Store(const LocalTensor<S> &one, const LocalTensor<S> &two) {
        PipeBarrier<PIPE_ALL>();
        DataCopyPad(memory.out, dst, DataCopyExtParams(rows, columns * sizeof(T), 0, 0, 0));
        GlobalTensor<S> behind;
        behind.SetGlobalBuffer(reinterpret_cast<__gm__ S *>(memory.out.GetPhyAddr()) + (rows * columns * sizeof(T) + 63) / 64 * 64 / sizeof(S));
        DataCopyPad(behind, one, DataCopyExtParams(1, rows * sizeof(S), 0, 0, 0));
        PipeBarrier<PIPE_ALL>();
        DataCopyPad(behind[rows], two, DataCopyExtParams(1, rows * sizeof(S), 0, 0, 0));
    }
};

constexpr uint32_t kNumbers = 2048; /* bytes of one number of each row */

template <typename T, uint32_t room>
void layer_norm(const Arguments &x) {
    Bench<T> bench(x, 2, 2 * kNumbers, room);
    tiling::LayerNormTiling tiling;
    tiling.bLength = 1, tiling.sLength = x.a, tiling.hLength = bench.pitch, tiling.originalHLength = x.b;
    const auto mean = bench.numbers.template Get<T>(), variance = mean[kNumbers / sizeof(T)];
    if constexpr (room == 0) {
        LayerNorm<T, false>(bench.dst, mean, variance, bench.local, bench.Row(x.a), bench.Row(x.a + 1), static_cast<T>(0.01f), tiling);
    } else {
        LayerNorm<T, false>(bench.dst, mean, variance, bench.local, bench.Row(x.a), bench.Row(x.a + 1), bench.scratch, static_cast<T>(0.01f), tiling);
    }
    bench.Store(mean, variance);
}

template <typename T, bool isPlain>
void layer_norm_rstd(const Arguments &x) {
    Bench<T> bench(x, 2, 2 * kNumbers, 16384);
    static constexpr LayerNormConfig config{isPlain, isPlain, false, true};
    const LayerNormPara para{x.a, x.b, bench.pitch};
    const auto mean = bench.numbers.template Get<float>(), rstd = mean[kNumbers / sizeof(float)];
    LayerNorm<T, T, false, config>(bench.dst, mean, rstd, bench.local, bench.Row(x.a), bench.Row(x.a + 1), 0.01f, bench.scratch, para,
                                   tiling::LayerNormSeparateTiling());
    bench.Store(mean, rstd);
}

/* Gamma and beta of float beside half; mean = 0.5 and variance = 2 in every row. */
template <typename T>
void normalize(const Arguments &x) {
    Bench<T> bench(x, 2, 3 * kNumbers + 2 * 4096, 16384);
    const auto mean = bench.numbers.template Get<float>(), variance = mean[kNumbers / 4], rstd = variance[kNumbers / 4], gamma = rstd[kNumbers / 4];
    Duplicate(mean, 0.5f, kNumbers / 4);
    Duplicate(variance, 2.0f, kNumbers / 4);
    if constexpr (sizeof(T) == 2) {
        Cast(gamma, bench.Row(x.a), RoundMode::CAST_NONE, bench.pitch);
        Cast(gamma[1024], bench.Row(x.a + 1), RoundMode::CAST_NONE, bench.pitch);
    } else {
        Adds(gamma, bench.Row(x.a), 0.0f, bench.pitch);
        Adds(gamma[1024], bench.Row(x.a + 1), 0.0f, bench.pitch);
    }
    PipeBarrier<PIPE_ALL>();
    Normalize<float, T>(bench.dst, rstd, mean, variance, bench.local, gamma, gamma[1024], 0.25f, NormalizePara{x.a, x.b, bench.pitch});
    bench.Store(mean, rstd);
}

/* What it may not do: temporary memory that it reads. */
void layer_norm_overlap(const Arguments &x) {
    Bench<float> bench(x, 2, 2 * kNumbers, 32);
    tiling::LayerNormTiling tiling;
    tiling.bLength = 1, tiling.sLength = x.a, tiling.hLength = bench.pitch, tiling.originalHLength = x.b;
    const auto mean = bench.numbers.Get<float>();
    LayerNorm<float, false>(bench.dst, mean, mean[512], bench.local, bench.Row(x.a), bench.Row(x.a + 1), bench.local.ReinterpretCast<uint8_t>(), 0.01f, tiling);
}

#define BOTH(name, ...) \
    {#name " f16", name<half __VA_ARGS__>}, { #name " f32", name<float __VA_ARGS__> }
const Row kRows[] = {
    BOTH(normalize),
    {"layer_norm f16", layer_norm<half, 0>},
    {"layer_norm f32", layer_norm<float, 0>},
    {"layer_norm_small f16", layer_norm<half, 12288>},
    {"layer_norm_small f32", layer_norm<float, 8192>},
    {"layer_norm_tiny f32", layer_norm<float, 1024>},
    {"layer_norm_rstd f16", layer_norm_rstd<half, false>},
    {"layer_norm_rstd f32", layer_norm_rstd<float, false>},
    {"layer_norm_plain f16", layer_norm_rstd<half, true>},
    {"layer_norm_plain f32", layer_norm_rstd<float, true>},
    {"layer_norm_overlap f32", layer_norm_overlap},
};

}  // namespace

rig::Entry rig::FindLayerNormKernel(const char *name) { return Find(kRows, name); }
