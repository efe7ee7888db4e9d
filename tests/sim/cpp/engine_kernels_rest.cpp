/* Selections by bytes, running sums, products and truths along an axis, the framework's copies; run by tests/sim/test_headers_rest.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

template <typename T>
uint32_t Pitch(uint32_t columns) {
    constexpr uint32_t perBlock = 32 / sizeof(T);
    return (columns + perBlock - 1) / perBlock * perBlock;
}

template <typename T>
void Load(const LocalTensor<T> &local, const uint8_t *from, uint32_t rows, uint32_t columns) {
    GlobalTensor<T> memory;
    memory.SetGlobalBuffer(reinterpret_cast<T *>(const_cast<uint8_t *>(from)));
    DataCopyPad(local, memory, DataCopyExtParams(rows, columns * sizeof(T), 0, 0, 0), DataCopyPadExtParams<T>());
}

template <typename T>
void Store(uint8_t *to, const LocalTensor<T> &local, uint32_t rows, uint32_t columns) {
    GlobalTensor<T> memory;
    memory.SetGlobalBuffer(reinterpret_cast<T *>(to));
    DataCopyPad(memory, local, DataCopyExtParams(rows, columns * sizeof(T), 0, 0, 0));
}

/* x.a rows of x.b columns, behind them the mask with more columns, 32 of them or a multiple; form 0: the tensor where the mask is 0. */
template <typename T, typename U, int form>
void select_bytes(const Arguments &x) {
    TPipe pipe;
    TBuf<> data, masks, rest;
    SelectWithBytesMaskShapeInfo shape;
    shape.firstAxis = x.a;
    shape.srcLastAxis = x.b;
    shape.maskLastAxis = (x.b + 63) / 32 * 32;
    pipe.InitBuffer(data, x.a * x.b * sizeof(T));
    pipe.InitBuffer(masks, x.a * shape.maskLastAxis * sizeof(U));
    pipe.InitBuffer(rest, 1024);
    const auto local = data.Get<T>();
    const auto mask = masks.Get<U>();
    Load(local, x.in, 1, x.a * x.b);
    Load(mask, x.in + x.a * x.b * sizeof(T), 1, x.a * shape.maskLastAxis);
    PipeBarrier<PIPE_ALL>();
    const T scalar = static_cast<T>(-7.5f);
    if (form == 0) {
        SelectWithBytesMask(local, local, scalar, mask, rest.Get<uint8_t>(), shape);
    } else {
        Select(local, scalar, local, mask, rest.Get<uint8_t>(), shape);
    }
    PipeBarrier<PIPE_ALL>();
    Store(x.out, local, 1, x.a * x.b);
}

constexpr CumSumConfig kAlong{true, false, true}, kDown{false, false, true};
constexpr CumSumConfig kAlongHalves{true, false, false, CumSumAlgorithm::CUMSUM_ALGORITHM_SKLANSKY};
constexpr CumSumConfig kDownHalves{false, false, false, CumSumAlgorithm::CUMSUM_ALGORITHM_SKLANSKY};

/* Sums of x.a rows of x.b columns, behind them the last line. */
template <typename T, const CumSumConfig &config>
void cumsum(const Arguments &x) {
    TPipe pipe;
    TBuf<> data, sums, last, rest;
    const uint32_t lines = config.isLastAxis ? x.a : x.b;
    pipe.InitBuffer(data, x.a * x.b * sizeof(T));
    pipe.InitBuffer(sums, x.a * x.b * sizeof(T));
    pipe.InitBuffer(last, lines * sizeof(T));
    pipe.InitBuffer(rest, 2 * 64 * (x.b + 15) / 16 * 16);
    const auto src = data.Get<T>(), dst = sums.Get<T>(), line = last.Get<T>();
    Load(src, x.in, 1, x.a * x.b);
    PipeBarrier<PIPE_ALL>();
    if (config.outputLastRow) {
        CumSum<T, config>(dst, line, src, rest.Get<uint8_t>(), {x.a, x.b});
    } else {
        CumSum<T, config>(dst, line, src, {x.a, x.b});
    }
    PipeBarrier<PIPE_ALL>();
    Store(x.out, dst, 1, x.a * x.b);
    if (config.outputLastRow) {
        Store(x.out + x.a * x.b * sizeof(T), line, 1, lines);
    }
}

/* Results with a buffer, behind them those without. */
template <typename T, typename Reduce>
void Reduction(const Arguments &x, uint32_t results, const Reduce &reduce) {
    TPipe pipe;
    TBuf<> data, result, again, rest;
    pipe.InitBuffer(data, x.a * Pitch<T>(x.b) * sizeof(T));
    pipe.InitBuffer(result, results * sizeof(T));
    pipe.InitBuffer(again, results * sizeof(T));
    pipe.InitBuffer(rest, 16384);
    const uint32_t shape[2] = {x.a, x.b};
    Load(data.Get<T>(), x.in, x.a, x.b);
    PipeBarrier<PIPE_ALL>();
    reduce(result.Get<T>(), again.Get<T>(), data.Get<T>(), rest.Get<uint8_t>(), shape);
    PipeBarrier<PIPE_ALL>();
    Store(x.out, result.Get<T>(), 1, results);
    Store(x.out + results * sizeof(T), again.Get<T>(), 1, results);
}

#define REDUCTION(name, Function, axis, results)                                                                                                            \
    template <typename T>                                                                                                                                   \
    void name(const Arguments &x) {                                                                                                                         \
        using Axis = Pattern::Reduce::axis;                                                                                                                 \
        using Tensor = LocalTensor<T>;                                                                                                                      \
        Reduction<T>(x, results, [](const Tensor &dst, const Tensor &again, const Tensor &src, const LocalTensor<uint8_t> &memory, const uint32_t *shape) { \
            Function<T, Axis>(dst, src, memory, shape, true);                                                                                               \
            Function<T, Axis>(again, src, shape, true);                                                                                                     \
        });                                                                                                                                                 \
    }
REDUCTION(prod_ar, ReduceProd, AR, x.a)
REDUCTION(prod_ra, ReduceProd, RA, x.b)
REDUCTION(mean_ar, ReduceMean, AR, x.a)
REDUCTION(mean_ra, ReduceMean, RA, x.b)
REDUCTION(all_ar, ReduceAll, AR, x.a)
REDUCTION(all_ra, ReduceAll, RA, x.b)
REDUCTION(any_ar, ReduceAny, AR, x.a)
REDUCTION(any_ra, ReduceAny, RA, x.b)

/* x.a elements, then as many more; x.b = 1: without a buffer. */
void xor_sum(const Arguments &x) {
    Between<int16_t>(x, 2 * x.a, 1, [&](const LocalTensor<int16_t> &dst, const LocalTensor<int16_t> &src) {
        const auto memory = GetTPipePtr()->UnusedMemory(piton::Location());
        if (x.b == 0) {
            ReduceXorSum<int16_t>(dst, src, src[x.a], memory, x.a);
        } else {
            ReduceXorSum<int16_t>(dst, src, src[x.a], x.a);
        }
    });
}

template <typename T>
void arange(const Arguments &x) {
    Between<T>(x, 1, x.a,
               [&](const LocalTensor<T> &dst, const LocalTensor<T> &) { Arange(dst, static_cast<T>(3), static_cast<T>(2), static_cast<int32_t>(x.a)); });
}

/* int64_t as pairs of uint32_t, x.a of them; blocks of 32 bytes behind, and one filled. */
void framework_copies(const Arguments &x) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 4096);
    const auto local = buffer.Get<int64_t>();
    auto *chip = (__ubuf__ uint32_t *)local.GetPhyAddr();
    auto *in = (__gm__ uint32_t *)x.in, *out = (__gm__ uint32_t *)x.out;
    DataCopyPadGm2UBImpl(chip, in, DataCopyExtParams(1, x.a * 8, 0, 0, 0), DataCopyPadExtParams<uint32_t>(true, 0, 0, 0));
    DataCopyGM2UBImpl(chip + 512, in, DataCopyParams(1, 2, 0, 0));
    PipeBarrier<PIPE_ALL>();
    DuplicateImpl<uint32_t>(chip + 640, 77, 8);
    PipeBarrier<PIPE_ALL>();
    DataCopyPadUB2GMImpl(out, chip, DataCopyExtParams(1, x.a * 8, 0, 0, 0));
    DataCopyUB2GMImpl(out + 2 * x.a, chip + 512, DataCopyParams(1, 2, 0, 0));
    DataCopyUB2GMImpl(out + 2 * x.a + 16, chip + 640, DataCopyParams(1, 1, 0, 0));
}

/* A flag in global memory, past the data cache or by lines of it. */
template <bool kPast>
int32_t Look(__gm__ int32_t *word) {
    if (kPast) {
        return ReadGmByPassDCache<int32_t>(word);
    }
    GlobalTensor<int32_t> flag;
    flag.SetGlobalBuffer(word);
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(flag);
    return flag.GetValue(0);
}

template <bool kPast>
void Raise(__gm__ int32_t *word) {
    if (kPast) {
        return WriteGmByPassDCache<int32_t>(word, 1);
    }
    GlobalTensor<int32_t> flag;
    flag.SetGlobalBuffer(word);
    flag.SetValue(0, 1);
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(flag);
}

/* Blocks from the last to the first: each waits for the word of the one before, adds its turn and sets its word. x.a = 1: no waiting, 2: all wait, in a ring.
 * The words lie at 4 kShift bytes of their cache lines. */
template <bool kPast, int kShift = 0>
void words(const Arguments &x) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 1024);
    const auto local = buffer.Get<int32_t>();
    auto *word = reinterpret_cast<__gm__ int32_t *>(x.in) + kShift;
    const int32_t own = static_cast<int32_t>(GetBlockIdx()), last = static_cast<int32_t>(GetBlockNum()) - 1, turn = last - own;
    const int32_t before = own == last ? 0 : own + 1;
    const bool waits = x.a == 2 || (x.a == 0 && own != last); /* the last block is the first */
    while (waits && Look<kPast>(word + 32 * before) == 0) {
    }
    GlobalTensor<int32_t> sum;
    sum.SetGlobalBuffer(reinterpret_cast<int32_t *>(x.out));
    SetFlag<HardEvent::S_MTE2>(0);
    WaitFlag<HardEvent::S_MTE2>(0);
    DataCopy(local, sum, 8);
    PipeBarrier<PIPE_ALL>();
    Adds(local, local, turn, 8);
    Muls(local, local, 3, 8);
    PipeBarrier<PIPE_ALL>();
    DataCopy(sum, local, 8);
    SetFlag<HardEvent::MTE3_S>(0);
    WaitFlag<HardEvent::MTE3_S>(0);
    DataSyncBarrier<MemDsbT::DDR>();
    Raise<kPast>(word + 32 * own);
}

/* Cores ask in turns for two words; gives up after x.a tries. */
void gives_up(const Arguments &x) {
    auto *word = reinterpret_cast<__gm__ int64_t *>(x.in);
    int64_t tries = 0;
    while (tries < x.a && ReadGmByPassDCache(word) == 0 && ReadGmByPassDCache(word + 1) == 0) {
        ++tries;
    }
    WriteGmByPassDCache(reinterpret_cast<__gm__ int64_t *>(x.out) + GetBlockIdx(), tries);
}

/* A store past the cache under a line that still holds a SetValue; x.a = 1: cleaned before. */
void dirty_line(const Arguments &x) {
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer(reinterpret_cast<int32_t *>(x.out));
    out.SetValue(0, 5);
    if (x.a == 1) {
        DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(out);
    }
    WriteGmByPassDCache(reinterpret_cast<__gm__ int32_t *>(x.out), 6);
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(out);
}

#define BOTH(name) \
    {#name " f16", name<half>}, { #name " f32", name<float> }
#define BYTES(name) \
    {#name " u8", name<uint8_t>}, { #name " f32", name<float> }
const Row kRows[] = {
    {"select_bytes f16 bool", select_bytes<half, bool, 0>},
    {"select_bytes f16 i16", select_bytes<half, int16_t, 1>},
    {"select_bytes f16 u32", select_bytes<half, uint32_t, 1>},
    {"select_bytes f32 u8", select_bytes<float, uint8_t, 1>},
    {"select_bytes f32 u16", select_bytes<float, uint16_t, 0>},
    {"select_bytes f32 i32", select_bytes<float, int32_t, 0>},
    {"cumsum along f16", cumsum<half, kAlong>},
    {"cumsum along f32", cumsum<float, kAlong>},
    {"cumsum down f16", cumsum<half, kDown>},
    {"cumsum down f32", cumsum<float, kDown>},
    {"cumsum along halves f32", cumsum<float, kAlongHalves>},
    {"cumsum down halves f32", cumsum<float, kDownHalves>},
    {"cumsum down halves f16", cumsum<half, kDownHalves>},
    {"prod AR f32", prod_ar<float>},
    {"prod RA f32", prod_ra<float>},
    {"mean AR f32", mean_ar<float>},
    {"mean RA f32", mean_ra<float>},
    BYTES(all_ar),
    BYTES(all_ra),
    BYTES(any_ar),
    BYTES(any_ra),
    {"xor_sum", xor_sum},
    BOTH(arange),
    {"arange i16", arange<int16_t>},
    {"arange i32", arange<int32_t>},
    {"framework_copies", framework_copies},
    {"words", words<true>},
    {"words through the cache", words<false>},
    {"words in the middle of lines", words<false, 5>},
    {"gives_up", gives_up},
    {"dirty_line", dirty_line},
};

}  // namespace

rig::Entry rig::FindRestKernel(const char *name) { return Find(kRows, name); }
