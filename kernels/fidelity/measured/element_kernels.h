/*
 * Elementwise jobs: an even split over the blocks, tiles of 4096 elements, two buffers per queue. bfloat16 is computed in float, as the chip has no other way.
 */
#ifndef MEASURED_ELEMENT_KERNELS_H
#define MEASURED_ELEMENT_KERNELS_H

#include "kernel_operator.h"

namespace measured {

constexpr uint32_t kTile = 4096;

enum class Op { ADD, MUL };

template <typename T>
using Local = AscendC::LocalTensor<T>;
template <typename T>
using Global = AscendC::GlobalTensor<T>;
using AscendC::TPosition;

template <typename T>
__aicore__ inline void Load(const Local<T> &to, const Global<T> &from, uint32_t count) {
    AscendC::DataCopyExtParams bytes{1, count * static_cast<uint32_t>(sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> padding{false, 0, 0, 0};
    AscendC::DataCopyPad(to, from, bytes, padding);
}

template <typename T>
__aicore__ inline void Store(const Global<T> &to, const Local<T> &from, uint32_t count) {
    AscendC::DataCopyExtParams bytes{1, count * static_cast<uint32_t>(sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(to, from, bytes);
}

/* Elements of this block: [first, first + count). */
struct Share {
    uint64_t first, count;
};

__aicore__ inline Share ShareOf(uint64_t elements) {
    const uint64_t each = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
    const uint64_t first = each * AscendC::GetBlockIdx();
    if (first >= elements) return {0, 0};
    return {first, elements - first < each ? elements - first : each};
}

template <Op op, typename T>
__aicore__ inline void Compute(const Local<T> &z, const Local<T> &x, const Local<T> &y, uint32_t count) {
    op == Op::ADD ? AscendC::Add(z, x, y, count) : AscendC::Mul(z, x, y, count);
}

/* z = x op y. */
template <Op op, typename T>
class Binary {
public:
    __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint64_t elements) {
        const Share share = ShareOf(elements);
        x_.SetGlobalBuffer((__gm__ T *)x + share.first);
        y_.SetGlobalBuffer((__gm__ T *)y + share.first);
        z_.SetGlobalBuffer((__gm__ T *)z + share.first);
        pipe_.InitBuffer(inX_, 2, kTile * sizeof(T));
        pipe_.InitBuffer(inY_, 2, kTile * sizeof(T));
        pipe_.InitBuffer(out_, 2, kTile * sizeof(T));
        pipe_.InitBuffer(wide_, 2 * kTile * sizeof(float));
        for (uint64_t at = 0; at < share.count; at += kTile) Tile(at, share.count - at < kTile ? share.count - at : kTile);
    }

private:
    __aicore__ inline void Tile(uint64_t at, uint32_t count) {
        Local<T> x = inX_.template AllocTensor<T>(), y = inY_.template AllocTensor<T>();
        Load(x, x_[at], count);
        Load(y, y_[at], count);
        inX_.EnQue(x);
        inY_.EnQue(y);
        x = inX_.template DeQue<T>();
        y = inY_.template DeQue<T>();
        Local<T> z = out_.template AllocTensor<T>();
        Work(z, x, y, count);
        out_.EnQue(z);
        inX_.FreeTensor(x);
        inY_.FreeTensor(y);
        z = out_.template DeQue<T>();
        Store(z_[at], z, count);
        out_.FreeTensor(z);
    }

    __aicore__ inline void Work(const Local<T> &z, const Local<T> &x, const Local<T> &y, uint32_t count) {
        if constexpr (std::is_same<T, bfloat16_t>::value) {
            Local<float> a = wide_.Get<float>(), b = a[kTile];
            AscendC::Cast(a, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(b, y, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            Compute<op>(a, a, b, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(z, a, AscendC::RoundMode::CAST_RINT, count);
        } else {
            Compute<op>(z, x, y, count);
        }
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<TPosition::VECIN, 2> inX_, inY_;
    AscendC::TQue<TPosition::VECOUT, 2> out_;
    AscendC::TBuf<TPosition::VECCALC> wide_;
    Global<T> x_, y_, z_;
};

/* From one element type to another. */
template <typename From, typename To>
class Convert {
public:
    __aicore__ inline void Run(GM_ADDR x, GM_ADDR z, uint64_t elements) {
        const Share share = ShareOf(elements);
        x_.SetGlobalBuffer((__gm__ From *)x + share.first);
        z_.SetGlobalBuffer((__gm__ To *)z + share.first);
        pipe_.InitBuffer(in_, 2, kTile * sizeof(From));
        pipe_.InitBuffer(out_, 2, kTile * sizeof(To));
        pipe_.InitBuffer(half_, kTile * sizeof(half));
        for (uint64_t at = 0; at < share.count; at += kTile) Tile(at, share.count - at < kTile ? share.count - at : kTile);
    }

private:
    __aicore__ inline void Tile(uint64_t at, uint32_t count) {
        Local<From> x = in_.template AllocTensor<From>();
        Load(x, x_[at], count);
        in_.EnQue(x);
        x = in_.template DeQue<From>();
        Local<To> z = out_.template AllocTensor<To>();
        Work(z, x, count);
        out_.EnQue(z);
        in_.FreeTensor(x);
        z = out_.template DeQue<To>();
        Store(z_[at], z, count);
        out_.FreeTensor(z);
    }

    __aicore__ inline void Work(const Local<To> &z, const Local<From> &x, uint32_t count) {
        if constexpr (std::is_same<From, uint8_t>::value) {  // a bool goes by way of half
            Local<half> between = half_.Get<half>();
            AscendC::Cast(between, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(z, between, AscendC::RoundMode::CAST_NONE, count);
        } else if constexpr (std::is_same<To, bfloat16_t>::value) {
            AscendC::Cast(z, x, AscendC::RoundMode::CAST_RINT, count);
        } else {
            AscendC::Cast(z, x, AscendC::RoundMode::CAST_NONE, count);
        }
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<TPosition::VECIN, 2> in_;
    AscendC::TQue<TPosition::VECOUT, 2> out_;
    AscendC::TBuf<TPosition::VECCALC> half_;
    Global<From> x_;
    Global<To> z_;
};

/* The first `kept` of `columns` elements of each row; several rows share a copy. */
template <typename T>
class Slice {
public:
    __aicore__ inline void Run(GM_ADDR x, GM_ADDR z, uint64_t rows, uint32_t columns, uint32_t kept) {
        const Share share = ShareOf(rows);
        const uint32_t perTile = 8192 * 4 / (kept * sizeof(T));
        x_.SetGlobalBuffer((__gm__ T *)x + share.first * columns);
        z_.SetGlobalBuffer((__gm__ T *)z + share.first * kept);
        pipe_.InitBuffer(rows_, 2, perTile * kept * sizeof(T));
        for (uint64_t at = 0; at < share.count; at += perTile) Tile(at, share.count - at < perTile ? share.count - at : perTile, columns, kept);
    }

private:
    __aicore__ inline void Tile(uint64_t at, uint32_t rows, uint32_t columns, uint32_t kept) {
        Local<T> tile = rows_.template AllocTensor<T>();
        const uint32_t bytes = kept * sizeof(T), gap = (columns - kept) * sizeof(T);
        AscendC::DataCopyPad(tile, x_[at * columns], {static_cast<uint16_t>(rows), bytes, gap, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        rows_.EnQue(tile);
        tile = rows_.template DeQue<T>();
        Store(z_[at * kept], tile, rows * kept);
        rows_.FreeTensor(tile);
    }

    AscendC::TPipe pipe_;
    AscendC::TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> rows_;
    Global<T> x_, z_;
};

}  // namespace measured

#endif
