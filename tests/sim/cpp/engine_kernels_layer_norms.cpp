/* LayerNorm and its kin, run by tests/sim/test_headers_layer_norms.py. */
#include "engine_rows.h"

using namespace rig;

namespace {

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

/* Rows of x, gamma, rows of dy. Results: dx, what goes on to gamma, and what flows to gamma and beta. */
template <typename T, uint32_t room>
void layer_norm_grad(const Arguments &x) {
    Bench<T> bench(x, x.a + 1, 2 * kNumbers + 2 * (x.a + 2) * PitchOf<T>(x.b) * sizeof(T), room);
    tiling::LayerNormGradTiling tiling;
    tiling.bLength = x.a, tiling.sLength = 1, tiling.hLength = bench.pitch, tiling.originalHLength = x.b;
    tiling::LayerNormGradBetaTiling betaTiling;
    betaTiling.bLength = x.a, betaTiling.sLength = 1, betaTiling.hLength = bench.pitch, betaTiling.originalHLength = x.b;
    const auto mean = bench.numbers.template Get<T>(), variance = mean[kNumbers / sizeof(T)], forGamma = variance[kNumbers / sizeof(T)];
    const auto dGamma = forGamma[x.a * bench.pitch], dBeta = dGamma[bench.pitch];
    Duplicate(mean, static_cast<T>(0.25f), kNumbers / sizeof(T));
    Duplicate(variance, static_cast<T>(1.75f), kNumbers / sizeof(T));
    PipeBarrier<PIPE_ALL>();
    LayerNormGrad<T, false>(bench.dst, forGamma, bench.Row(x.a + 1), bench.local, variance, mean, bench.Row(x.a), bench.scratch, static_cast<T>(0.25f), tiling);
    LayerNormGradBeta<T, false>(dGamma, dBeta, forGamma, bench.Row(x.a + 1), bench.scratch, betaTiling);
    PipeBarrier<PIPE_ALL>();
    Put(x, 0, bench.dst, x.a * bench.pitch);
    Put(x, 1, forGamma, x.a * bench.pitch);
    Put(x, 2, dGamma, bench.pitch);
    Put(x, 3, dBeta, bench.pitch);
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
    {"layer_norm_grad f16", layer_norm_grad<half, 16384>},
    {"layer_norm_grad f32", layer_norm_grad<float, 16384>},
    {"layer_norm_grad_small f16", layer_norm_grad<half, 8192>},
    {"layer_norm_grad_small f32", layer_norm_grad<float, 8192>},
    {"layer_norm_overlap f32", layer_norm_overlap},
};

}  // namespace

rig::Entry rig::FindLayerNormKernel(const char *name) { return Find(kRows, name); }
