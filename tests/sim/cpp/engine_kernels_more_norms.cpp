/* DeepNorm, GroupNorm, BatchNorm and Welford's steps, run by tests/sim/test_headers_more_norms.py. */
#include "engine_rows.h"

using namespace rig;

namespace {

constexpr uint32_t kNumbers = 4096; /* bytes of a tensor of numbers */

/* No rows are no reason to want more memory; all memory that strips take is theirs. */
static_assert(piton::PlanRows(piton::LeastBytes(piton::SoftmaxNeeds(64)), 0, piton::SoftmaxNeeds(64)).chunk == 1, "no rows");
static_assert(piton::StripsUsed(piton::WelfordUpdateNeeds(), 65536, 200) == 3 * 256 * sizeof(float), "a strip of all 200");
static_assert(piton::StripsUsed(piton::WelfordUpdateNeeds(), 0, 200) == 3 * 64 * sizeof(float), "the least");

/* Rows of x, gamma, beta, rows of gx. */
template <typename T, uint32_t room>
void deep_norm(const Arguments &x) {
    Bench<T> bench(x, x.a + 2, 2 * kNumbers, room);
    tiling::DeepNormTiling tiling;
    tiling.bLength = 1, tiling.sLength = x.a, tiling.hLength = bench.pitch, tiling.originalHLength = x.b;
    const auto mean = bench.numbers.template Get<T>(), variance = mean[kNumbers / sizeof(T)];
    DeepNorm<T>(bench.dst, mean, variance, bench.local, bench.Row(x.a + 2), bench.Row(x.a + 1), bench.Row(x.a), bench.scratch, static_cast<T>(0.75f),
                static_cast<T>(0.5f), tiling);
    bench.Store(mean, variance);
}

/* Two images of x.a / 2 channels of x.b elements in two groups; gamma and beta are the beginnings of two rows. */
template <typename T, uint32_t room>
void group_norm(const Arguments &x) {
    Bench<T> bench(x, 2, 2 * kNumbers, room);
    tiling::GroupNormTiling tiling;
    tiling.n = 2, tiling.c = x.a / 2, tiling.hw = x.b, tiling.g = 2, tiling.d = x.a / 4;
    const auto mean = bench.numbers.template Get<T>(), variance = mean[kNumbers / sizeof(T)];
    GroupNorm<T>(bench.dst, mean, variance, bench.local, bench.Row(x.a), bench.Row(x.a + 1), bench.scratch, static_cast<T>(0.5f), tiling);
    PipeBarrier<PIPE_ALL>();
    Put(x, 0, bench.dst, x.a * x.b);
    Put(x, 1, mean, 4);
    Put(x, 2, variance, 4);
}

/* A batch of x.a rows; gamma and beta are the beginnings of two rows. */
template <typename T, uint32_t room>
void batch_norm(const Arguments &x) {
    Bench<T> bench(x, 2, 2 * kNumbers, room);
    tiling::BatchNormTiling tiling;
    tiling.originalBLength = x.a, tiling.meanVarSize = x.b;
    const auto mean = bench.numbers.template Get<T>(), variance = mean[kNumbers / sizeof(T)];
    BatchNorm<T>(bench.dst, mean, variance, bench.local, bench.Row(x.a), bench.Row(x.a + 1), bench.scratch, static_cast<T>(0.5f), tiling);
    PipeBarrier<PIPE_ALL>();
    Put(x, 0, bench.dst, x.a * x.b);
    Put(x, 1, mean, x.b);
    Put(x, 2, variance, x.b);
}

/* Three rows: x, the old means and the old sums of squares; all but the last three elements are computed. */
template <typename T, bool isInplace>
void welford_update(const Arguments &x) {
    Bench<T> bench(x, 0, 4 * kNumbers, 768);
    static constexpr WelfordUpdateConfig config{isInplace};
    LocalTensor<float> numbers[4];
    for (uint32_t i = 0; i < 4; ++i) {
        numbers[i] = bench.numbers.template Get<float>()[i * kNumbers / 4];
        Duplicate(numbers[i], -1.0f, bench.pitch);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        if constexpr (sizeof(T) == 2) {
            Cast(numbers[i], bench.Row(1 + i), RoundMode::CAST_NONE, bench.pitch);
        } else {
            Adds(numbers[i], bench.Row(1 + i), 0.0f, bench.pitch);
        }
    }
    PipeBarrier<PIPE_ALL>();
    const WelfordUpdateParam para{1, bench.pitch, x.b - 3, 0.25f};
    WelfordUpdate<T, float, false, config>(numbers[2], numbers[3], numbers[0], numbers[1], bench.local, bench.scratch, para);
    PipeBarrier<PIPE_ALL>();
    Put(x, 0, numbers[2], x.b);
    Put(x, 1, numbers[3], x.b);
}

/* Three rows: means, sums of squares, counts. `kind`: 0 equal counts of 4, 1 counts of 5 and then, for the last three, of 2, 2 counts of the third row. */
template <uint32_t kind, uint32_t room>
void welford_finalize(const Arguments &x) {
    Bench<float> bench(x, 0, 2 * kNumbers, room);
    const auto mean = bench.numbers.Get<float>(), variance = mean[8];
    const auto counts = bench.numbers.Get<int32_t>()[kNumbers / 4];
    Duplicate(mean, 0.0f, 16);
    Cast(counts, bench.Row(2), RoundMode::CAST_RINT, bench.pitch);
    PipeBarrier<PIPE_ALL>();
    WelfordFinalizePara para{4, x.b, 4, x.b, 0, 0, 1.0f / x.b, 1.0f / (4 * x.b), 1.0f};
    if (kind == 1) {
        para.headCount = 5, para.headCountLength = x.b - 3, para.tailCount = 2, para.tailCountLength = 3;
        para.rRec = 1.0f / (5 * x.b - 9);
    }
    if (kind == 2) {
        WelfordFinalize<false>(mean, variance, bench.local, bench.Row(1), counts, bench.scratch, para);
    } else {
        WelfordFinalize<false>(mean, variance, bench.local, bench.Row(1), bench.scratch, para);
    }
    PipeBarrier<PIPE_ALL>();
    Put(x, 0, mean, 16);
}

#define BOTH(name, ...) \
    {#name " f16", name<half, __VA_ARGS__>}, { #name " f32", name<float, __VA_ARGS__> }
const Row kRows[] = {
    BOTH(deep_norm, 16384),
    BOTH(group_norm, 32768),
    {"group_norm_small f32", group_norm<float, 8192>},
    {"group_norm_small f16", group_norm<half, 8192>},
    BOTH(batch_norm, 8192),
    BOTH(welford_update, false),
    {"welford_update_inplace f16", welford_update<half, true>},
    {"welford_update_inplace f32", welford_update<float, true>},
    {"welford_finalize plain", welford_finalize<0, 8192>},
    {"welford_finalize tail", welford_finalize<1, 1024>},
    {"welford_finalize counts", welford_finalize<2, 1024>},
};

}  // namespace

rig::Entry rig::FindMoreNormKernel(const char *name) { return Find(kRows, name); }
