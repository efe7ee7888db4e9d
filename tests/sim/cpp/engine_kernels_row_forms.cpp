/* Functions of rows in the forms that the other kernels leave out, each beside a form that is compared with NumPy there: without a buffer (or with one), and of
 * the format NZ; run by tests/sim/test_headers_row_forms.py. */
#include "engine_rows.h"

using namespace rig;

namespace {

constexpr uint32_t kRegion = 16384, kNumber = 2048; /* bytes of what a call leaves, of a tensor of numbers in it */

/* Four matrices of x.a rows of x.b elements come in; what each call leaves goes out as a result of its own. */
template <typename T>
struct Desk {
    const Arguments x;
    uint32_t rows, columns, told = 0;
    TPipe pipe;
    TBuf<> data, region, rest;
    LocalTensor<T> in, y;
    LocalTensor<uint8_t> memory;

    explicit Desk(const Arguments &given) : x(given), rows(x.a), columns(x.b) {
        const Tensors<T> outside(x);
        pipe.InitBuffer(data, 4 * rows * columns * sizeof(T));
        pipe.InitBuffer(region, kRegion);
        pipe.InitBuffer(rest, 40960);
        in = data.Get<T>(), y = region.Get<T>(), memory = rest.Get<uint8_t>();
        DataCopy(in, outside.in, 4 * rows * columns);
        PipeBarrier<PIPE_ALL>();
    }
    LocalTensor<T> In(uint32_t matrix, uint32_t row = 0) const { return in[(matrix * rows + row) * columns]; }
    /* Tensor `number` of numbers behind the matrix that a call leaves. */
    template <typename S = T>
    LocalTensor<S> Number(uint32_t number) {
        return region.Get<S>()[(kRegion / 2 + number * kNumber) / sizeof(S)];
    }
    template <typename Call>
    void Leave(const Call &call) {
        Duplicate(y, static_cast<T>(0.5f), kRegion / sizeof(T));
        PipeBarrier<PIPE_ALL>();
        call();
        PipeBarrier<PIPE_ALL>();
        Put(x, told++, region.Get<float>(), kRegion / sizeof(float));
        PipeBarrier<PIPE_ALL>();
    }
    template <typename With, typename Without>
    void Both(const With &with, const Without &without) {
        Leave(with);
        Leave(without);
    }
};

template <typename Tiling>
Tiling RowsAs(uint32_t rows, uint32_t columns) {
    Tiling tiling;
    tiling.bLength = rows, tiling.sLength = 1, tiling.hLength = columns, tiling.originalHLength = columns;
    return tiling;
}

constexpr NormalizeConfig kPlain{ReducePattern::AR, -1, true, true, false};

/* Gamma and beta are rows of the fourth matrix. */
template <typename T>
void norms(const Arguments &x) {
    Desk<T> d(x);
    const auto gamma = d.In(3), beta = d.In(3, 1);
    const T half_ = static_cast<T>(0.5f), weight = static_cast<T>(0.75f);
    const LayerNormPara rows{x.a, x.b, x.b};
    const NormalizePara given{x.a, x.b, x.b};
    const auto mean = d.template Number<float>(0), other = d.template Number<float>(1), rstd = d.template Number<float>(2);
    const tiling::LayerNormSeparateTiling none;
    d.Both([&] { LayerNorm<T, T>(d.y, mean, rstd, d.In(0), gamma, beta, 0.5f, d.memory, rows, none); },
           [&] { LayerNorm<T, T>(d.y, mean, rstd, d.In(0), gamma, beta, 0.5f, rows, none); });
    d.Both([&] { Normalize<T, T>(d.y, rstd, mean, other, d.In(0), gamma, beta, d.memory, 0.5f, given); },
           [&] { Normalize<T, T>(d.y, rstd, mean, other, d.In(0), gamma, beta, 0.5f, given); });
    d.Both(
        [&] {
            Duplicate(gamma, static_cast<T>(1.0f), static_cast<int32_t>(x.b));
            Duplicate(beta, static_cast<T>(0.0f), static_cast<int32_t>(x.b));
            PipeBarrier<PIPE_ALL>();
            Normalize<T, T>(d.y, rstd, mean, other, d.In(0), gamma, beta, 0.5f, given);
        },
        [&] { Normalize<T, T, false, kPlain>(d.y, rstd, mean, other, d.In(0), gamma, beta, 0.5f, given); });
    const auto deep = RowsAs<tiling::DeepNormTiling>(x.a, x.b);
    d.Both([&] { DeepNorm<T>(d.y, d.Number(0), d.Number(1), d.In(0), d.In(1), d.In(2), d.In(2, 1), d.memory, weight, half_, deep); },
           [&] { DeepNorm<T>(d.y, d.Number(0), d.Number(1), d.In(0), d.In(1), d.In(2), d.In(2, 1), weight, half_, deep); });
    const auto root = RowsAs<tiling::RmsNormTiling>(x.a, x.b);
    d.Both([&] { RmsNorm<T>(d.y, d.In(0), d.In(2), d.memory, half_, root); }, [&] { RmsNorm<T>(d.y, d.In(0), d.In(2), half_, root); });
    tiling::GroupNormTiling group;
    group.n = 2, group.c = x.a / 2, group.hw = x.b, group.g = 2, group.d = x.a / 4;
    d.Both([&] { GroupNorm<T>(d.y, d.Number(0), d.Number(1), d.In(0), d.In(1), d.In(2), d.memory, half_, group); },
           [&] { GroupNorm<T>(d.y, d.Number(0), d.Number(1), d.In(0), d.In(1), d.In(2), half_, group); });
    tiling::BatchNormTiling batch;
    batch.originalBLength = x.a, batch.meanVarSize = x.b;
    d.Both([&] { BatchNorm<T>(d.y, d.Number(0), d.Number(1), d.In(0), d.In(1), d.In(2), d.memory, half_, batch); },
           [&] { BatchNorm<T>(d.y, d.Number(0), d.Number(1), d.In(0), d.In(1), d.In(2), half_, batch); });
}

template <typename T>
void gradients(const Arguments &x) {
    Desk<T> d(x);
    const T half_ = static_cast<T>(0.5f);
    const auto row = RowsAs<tiling::LayerNormGradTiling>(x.a, x.b);
    const auto sums = RowsAs<tiling::LayerNormGradBetaTiling>(x.a, x.b);
    d.Both([&] { LayerNormGrad<T>(d.y, d.In(3), d.In(0), d.In(1), d.Number(0), d.Number(1), d.In(2), d.memory, half_, row); },
           [&] { LayerNormGrad<T>(d.y, d.In(3), d.In(0), d.In(1), d.Number(0), d.Number(1), d.In(2), half_, row); });
    d.Both([&] { LayerNormGradBeta<T>(d.y, d.Number(0), d.In(0), d.In(1), d.memory, sums); },
           [&] { LayerNormGradBeta<T>(d.y, d.Number(0), d.In(0), d.In(1), sums); });
    const SoftMaxShapeInfo shape{x.a, x.b, x.a, x.b};
    const tiling::SoftMaxTiling none;
    d.Both([&] { SoftmaxGrad<T>(d.y, d.In(0), d.In(1), d.memory, none, false, shape); }, [&] { SoftmaxGrad<T>(d.y, d.In(0), d.In(1), none, false, shape); });
    d.Both([&] { SoftmaxGradFront<T>(d.Number(0), d.In(0), d.In(1), d.memory, none, shape); },
           [&] { SoftmaxGradFront<T>(d.Number(0), d.In(0), d.In(1), none, shape); });
}

/* Rows of the first matrix: values, means, squares; counts are made of the fourth. */
void welford(const Arguments &x) {
    Desk<float> d(x);
    const auto mean = d.Number(0), variance = d.Number(1);
    const auto counts = d.In(3).ReinterpretCast<int32_t>();
    Duplicate(counts, 4, static_cast<int32_t>(x.b));
    PipeBarrier<PIPE_ALL>();
    const WelfordUpdateParam part{1, x.b, x.b - 3, 0.25f};
    const WelfordFinalizePara whole{4, x.b, 4, x.b, 0, 0, 1.0f / x.b, 1.0f / (4 * x.b), 1.0f};
    d.Both([&] { WelfordUpdate<float, float>(mean, variance, d.In(0, 1), d.In(0, 2), d.In(0), d.memory, part); },
           [&] { WelfordUpdate<float, float>(mean, variance, d.In(0, 1), d.In(0, 2), d.In(0), part); });
    d.Both([&] { WelfordFinalize<false>(mean, variance, d.In(0, 1), d.In(0, 2), d.memory, whole); },
           [&] { WelfordFinalize<false>(mean, variance, d.In(0, 1), d.In(0, 2), whole); });
    d.Both([&] { WelfordFinalize<false>(mean, variance, d.In(0, 1), d.In(0, 2), counts, d.memory, whole); },
           [&] { WelfordFinalize<false>(mean, variance, d.In(0, 1), d.In(0, 2), counts, whole); });
}

/* Sums and maxima of before are 0.5. */
template <typename T, typename S>
void softmaxes(const Arguments &x) {
    Desk<T> d(x);
    const SoftMaxShapeInfo shape{x.a, x.b, x.a, x.b};
    const tiling::SoftMaxTiling none;
    const auto sum = d.template Number<S>(0), max = d.template Number<S>(1);
    const auto factor = d.Number(2);
    d.Both([&] { SoftmaxFlash<T>(d.y, sum, max, d.In(0), factor, sum, max, d.memory, none, true, shape); },
           [&] { SoftmaxFlash<T>(d.y, sum, max, d.In(0), factor, sum, max, none, true, shape); });
    d.Both([&] { SoftmaxFlashV2<T, true>(d.y, sum, max, d.In(0), factor, sum, max, d.memory, none, shape); },
           [&] { SoftmaxFlashV2<T, true>(d.y, sum, max, d.In(0), factor, sum, max, none, shape); });
    d.Both([&] { SoftMax<T>(d.y, sum, max, d.In(0), d.memory, none, shape); }, [&] { SoftMax<T>(d.y, sum, max, d.In(0), none, shape); });
    d.Both([&] { SimpleSoftMax<T>(d.y, sum, max, d.In(0), d.memory, none, shape); }, [&] { SimpleSoftMax<T>(d.y, sum, max, d.In(0), none, shape); });
}

/* Parts of rows, whose means are of before, too. */
void pasa(const Arguments &x) {
    Desk<half> d(x);
    const SoftMaxParams params{x.a, x.b, x.a, x.b, 2, 8, 0.9375f};
    const tiling::SoftMaxTiling none;
    const auto mean = d.Number<float>(0), sum = d.Number<float>(1), max = d.Number<float>(2);
    const auto factor = d.Number(3);
    d.Both([&] { SoftmaxFlashV3<half, float, true>(d.y, mean, sum, max, d.In(0), factor, mean, sum, max, d.memory, none, params); },
           [&] { SoftmaxFlashV3<half, float, true>(d.y, mean, sum, max, d.In(0), factor, mean, sum, max, none, params); });
}

/* Every call of the format NZ, or its rows: the test gives the same matrices in both orders. */
template <typename T, bool isNz>
void fractals(const Arguments &x) {
    Desk<T> d(x);
    const SoftMaxShapeInfo shape{x.a, x.b, x.a, x.b};
    const tiling::SoftMaxTiling none;
    const auto sum = d.Number(0), max = d.Number(1), factor = d.Number(2);
    d.Leave([&] { SoftmaxFlashV2<T, true, false, false, isNz>(d.y, sum, max, d.In(0), factor, sum, max, d.memory, none, shape); });
    d.Leave([&] { SoftmaxFlashV2<T, false, false, false, isNz>(d.y, sum, max, d.In(0), factor, sum, max, d.memory, none, shape); });
    d.Leave([&] { LogSoftMax<T, false, isNz>(d.y, sum, max, d.In(0), d.memory, tiling::LogSoftMaxTiling(), shape); });
    d.Leave([&] { SimpleSoftMax<T, false, false, isNz>(d.y, sum, max, d.In(0), d.memory, none, shape); });
    d.Leave([&] { SoftmaxGradFront<T, false, isNz>(sum, d.In(0), d.In(1), d.memory, none, shape); });
}

#define BOTH(name, ...) \
    {#name " f16", name<half __VA_ARGS__>}, { #name " f32", name<float __VA_ARGS__> }
const Row kRows[] = {
    BOTH(norms),
    BOTH(gradients),
    {"welford", welford},
    {"softmaxes f16", softmaxes<half, half>},
    {"softmaxes f32", softmaxes<float, float>},
    {"softmaxes mixed", softmaxes<half, float>},
    {"pasa", pasa},
    {"fractals nz f16", fractals<half, true>},
    {"fractals nz f32", fractals<float, true>},
    {"fractals rows f16", fractals<half, false>},
    {"fractals rows f32", fractals<float, false>},
};

}  // namespace

rig::Entry rig::FindRowFormKernel(const char *name) { return Find(kRows, name); }
