/* Kernels of whole sorts and of quantisation, run by tests/sim/test_headers_sorts.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

/* Buffers of x's kernel in turn, all of local memory that is not yet taken. */
struct Memory {
    TPipe pipe;
    template <typename T>
    LocalTensor<T> Take(uint32_t count) {
        TBuf<> buffer;
        pipe.InitBuffer(buffer, (count * sizeof(T) + 31) / 32 * 32);
        return buffer.Get<T>();
    }
};

template <typename T>
void Load(const LocalTensor<T> &to, const uint8_t *from, uint32_t count) {
    GlobalTensor<T> memory;
    memory.SetGlobalBuffer(reinterpret_cast<T *>(const_cast<uint8_t *>(from)));
    DataCopyPad(to, memory, DataCopyExtParams(1, count * sizeof(T), 0, 0, 0), DataCopyPadExtParams<T>());
    PipeBarrier<PIPE_ALL>();
}

template <typename T>
void Store(uint8_t *to, const LocalTensor<T> &from, uint32_t count) {
    GlobalTensor<T> memory;
    memory.SetGlobalBuffer(reinterpret_cast<T *>(to));
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(memory, from, DataCopyExtParams(1, count * sizeof(T), 0, 0, 0));
    PipeBarrier<PIPE_ALL>();
}

/* x.a scores, x.b: all of them or 32 by 32; out: scores as T, then indices. */
template <typename T>
void sort(const Arguments &x) {
    Memory memory;
    const LocalTensor<T> scores = memory.Take<T>(x.a), sorted = memory.Take<T>(GetSortLen<T>(x.a)), tmp = memory.Take<T>(GetSortLen<T>(x.a));
    const LocalTensor<T> value = memory.Take<T>(x.a);
    const LocalTensor<uint32_t> index = memory.Take<uint32_t>(x.a);
    Load(scores, x.in, x.a);
    CreateVecIndex(index.ReinterpretCast<int32_t>(), int32_t(0), x.a);
    PipeBarrier<PIPE_V>();
    LocalTensor<T> concat;
    Concat(concat, scores, tmp, static_cast<int32_t>(x.a / 16 > 255 ? 255 : x.a / 16));
    if (x.b) {
        Sort<T, true>(sorted, concat, index, tmp, x.a / 32);
    } else {
        Sort<T, false>(sorted, concat, index, tmp, x.a / 32);
    }
    Extract(value, index, sorted, x.a / 32);
    Store(x.out, value, x.a);
    Store(x.out + x.a * sizeof(T), index, x.a);
}

/* Sorted lists of 32 and 64 scores until the first is used up; out: structures of 96 as far as there are any, then how many of each were taken. */
void merge(const Arguments &x) {
    Memory memory;
    const LocalTensor<float> scores = memory.Take<float>(96), lists = memory.Take<float>(192), tmp = memory.Take<float>(192), merged = memory.Take<float>(192);
    const LocalTensor<uint32_t> index = memory.Take<uint32_t>(96);
    Load(scores, x.in, 96);
    CreateVecIndex(index.ReinterpretCast<int32_t>(), int32_t(0), 96);
    Duplicate(merged, 0.0f, 192);
    PipeBarrier<PIPE_V>();
    Sort<float, true>(lists, scores, index, tmp, 1);
    Sort<float, true>(lists[GetSortOffset<float>(32)], scores[32], index[32], tmp, 2);
    const uint16_t lengths[4] = {32, 64, 0, 0};
    uint32_t taken[4];
    MrgSort<float, true>(merged, {lists, lists[GetSortOffset<float>(32)], lists, lists}, lengths, taken, 3, 1);
    Store(x.out, merged, 192);
    PipeBarrier<PIPE_ALL>();
    index.SetValue(0, taken[0]);
    index.SetValue(1, taken[1]);
    Store(x.out + 768, index, 8);
}

struct NoTiling {};

/* Rows of 64 (Normal) or 32 (Small) of which n = 60 or 30 count; x.a = k + 256 * mode: 0 largest, 1 smallest, 2 with indices, 3 with finished rows; x.b rows.
 * The data: rows, indices, finished rows. */
template <typename T, bool isSmall>
void top_k(const Arguments &x) {
    constexpr uint32_t inner = isSmall ? 32 : 64;
    constexpr TopKMode mode = isSmall ? TopKMode::TOPK_NSMALL : TopKMode::TOPK_NORMAL;
    const uint32_t k = x.a % 256, form = x.a / 256, rows = x.b, indices = isSmall ? rows * inner : inner;
    const uint32_t values = isSmall ? k : (k * sizeof(T) + 31) / 32 * 32 / sizeof(T), told = isSmall ? k : (k + 7) / 8 * 8;
    Memory memory;
    const LocalTensor<T> data = memory.Take<T>(rows * inner), value = memory.Take<T>(rows * values);
    const LocalTensor<int32_t> srcIndex = memory.Take<int32_t>(indices), index = memory.Take<int32_t>(rows * told);
    const LocalTensor<uint8_t> finish = memory.Take<uint8_t>(rows);
    const uint8_t *next = x.in + rows * inner * sizeof(T);
    Load(data, x.in, rows * inner);
    Load(srcIndex, next, indices);
    Load(finish, next + indices * 4, rows);
    Duplicate(value, static_cast<T>(0.0f), static_cast<int32_t>(rows * values));
    Duplicate(index, 0, static_cast<int32_t>(rows * told));
    PipeBarrier<PIPE_V>();
    const LocalTensor<bool> done = finish.ReinterpretCast<bool>();
    const TopKInfo info{static_cast<int32_t>(rows), inner, inner == 32 ? 30 : 60};
    const NoTiling tiling;
    if (form == 2) {
        TopK<T, true, false, false, mode>(value, index, data, srcIndex, done, static_cast<int32_t>(k), tiling, info);
    } else if (form == 3) {
        TopK<T, false, !isSmall, false, mode>(value, index, data, srcIndex, done, static_cast<int32_t>(k), tiling, info);
    } else {
        const LocalTensor<uint8_t> tmp = memory.Take<uint8_t>(rows * inner * 24);
        TopK<T, false, false, false, mode>(value, index, data, srcIndex, done, tmp, static_cast<int32_t>(k), tiling, info, form == 0);
    }
    Store(x.out, value, rows * values);
    Store(x.out + rows * values * sizeof(T), index, rows * told);
}

/* x.a rows of x.b (whole blocks) int32_t, then scales; the first x.b - 3 columns count. */
template <typename D, typename S, bool isTensor>
void dequant(const Arguments &x) {
    constexpr uint32_t columns = 32 / sizeof(D);
    const uint32_t pitch = (x.b + columns - 1) / columns * columns;
    Memory memory;
    const LocalTensor<int32_t> data = memory.Take<int32_t>(x.a * x.b);
    const LocalTensor<S> scales = memory.Take<S>(x.b);
    const LocalTensor<D> result = memory.Take<D>(x.a * pitch);
    Load(data, x.in, x.a * x.b);
    Load(scales.template ReinterpretCast<uint16_t>(), x.in + x.a * x.b * 4, x.b * sizeof(S) / 2);
    Duplicate(result.template ReinterpretCast<uint16_t>(), uint16_t(0), static_cast<int32_t>(x.a * pitch * sizeof(D) / 2));
    PipeBarrier<PIPE_V>();
    const DequantParams shape{x.a, x.b, x.b - 3};
    if constexpr (isTensor) {
        AscendDequant(result, data, scales, shape);
    } else {
        const S scale = scales.GetValue(0);
        AscendDequant<D, S>(result, data, scale, memory.Take<uint8_t>(2 * 4 * (x.b + 64)), shape);
    }
    Store(x.out, result.template ReinterpretCast<uint16_t>(), x.a * pitch * sizeof(D) / 2);
}

/* x.a elements as rows of x.b, then scales and offsets. */
template <typename T, int form>
void quant(const Arguments &x) {
    Memory memory;
    const LocalTensor<T> data = memory.Take<T>(x.a), scales = memory.Take<T>(x.b), offsets = memory.Take<T>(x.b);
    const LocalTensor<int8_t> result = memory.Take<int8_t>(x.a);
    const LocalTensor<uint8_t> tmp = memory.Take<uint8_t>(2048);
    Load(data, x.in, x.a);
    Load(scales, x.in + x.a * sizeof(T), x.b);
    Load(offsets, x.in + (x.a + x.b) * sizeof(T), x.b);
    if constexpr (form == 0) {
        AscendQuant(result, data, tmp, 2.0f, 1.0f, x.a);
    } else if constexpr (form == 1) {
        AscendQuant(result, data, tmp, scales, static_cast<T>(1.0f), x.b, x.a);
    } else {
        AscendQuant(result, data, scales, offsets, x.b, x.b, x.a);
    }
    Store(x.out, result, x.a);
}

const Row kRows[] = {{"sort f16", sort<half>},
                     {"sort f32", sort<float>},
                     {"merge f32", merge},
                     {"top_k f16", top_k<half, false>},
                     {"top_k f32", top_k<float, false>},
                     {"top_k_small f16", top_k<half, true>},
                     {"top_k_small f32", top_k<float, true>},
                     {"dequant f32 f32", dequant<float, float, true>},
                     {"dequant f32 bf16", dequant<float, bfloat16_t, true>},
                     {"dequant bf16 f32", dequant<bfloat16_t, float, true>},
                     {"dequant f16 u64", dequant<half, uint64_t, true>},
                     {"dequant_by_one f32 f32", dequant<float, float, false>},
                     {"dequant_by_one bf16 bf16", dequant<bfloat16_t, bfloat16_t, false>},
                     {"quant0 f16", quant<half, 0>},
                     {"quant0 f32", quant<float, 0>},
                     {"quant1 f16", quant<half, 1>},
                     {"quant1 f32", quant<float, 1>},
                     {"quant2 f16", quant<half, 2>},
                     {"quant2 f32", quant<float, 2>}};

}  // namespace

rig::Entry rig::FindSortKernel(const char *name) { return Find(kRows, name); }
