/*
 * rms_norm of rows that do not fit into the unified buffer: a core takes one row after the other, in chunks, and reads it twice: once for the sum of squares
 * (64 partial sums, so that the rounding error stays small), once with gamma for the results.
 */
#ifndef REFERENCE_RMS_NORM_LONG_H
#define REFERENCE_RMS_NORM_LONG_H

#include <type_traits>

#include "../../../common/row_tiling.h"
#include "../../../common/row_vector.h"

struct LongRowTiling {
    int64_t rows;
    int64_t columns;
    uint32_t perChunk;  // elements, a multiple of 64
    uint32_t chunks;    // per row
    uint32_t blocks;    // vector cores used
};

/* Chunks of equal size, as few as fit; host code. */
inline LongRowTiling PlanLongRows(int64_t rows, int64_t columns, int64_t bytesPerElement, int64_t fixedBytes) {
    constexpr int64_t kGranule = 64;
    const int64_t most = (common::UnifiedBufferBytes() - fixedBytes) / bytesPerElement / kGranule * kGranule;
    const int64_t perChunk = common::RoundUp(common::CeilDiv(columns, common::CeilDiv(columns, most)), kGranule);
    return {rows, columns, static_cast<uint32_t>(perChunk), static_cast<uint32_t>(common::CeilDiv(columns, perChunk)),
            static_cast<uint32_t>(std::min(rows, common::VectorCores()))};
}

template <typename T>
class RmsNormLong {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* x, gamma and y in queues, one float32 tensor, and gamma widened. */
    static constexpr int64_t kBytesPerElement = 3 * kBuffers * sizeof(T) + (kIsFloat ? 1 : 2) * sizeof(float);
    static constexpr int64_t kFixedBytes = (common::kSlice + 2 * common::kBlockFloats) * sizeof(float);

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, const LongRowTiling &tiling, float epsilon) {
        tiling_ = tiling;
        share_ = common::ShareOf(tiling.rows);
        epsilon_ = epsilon;
        x_.SetGlobalBuffer((__gm__ T *)x);
        gamma_.SetGlobalBuffer((__gm__ T *)gamma);
        y_.SetGlobalBuffer((__gm__ T *)y);
        pipe_.InitBuffer(in_, kBuffers, tiling.perChunk * sizeof(T));
        pipe_.InitBuffer(scales_, kBuffers, tiling.perChunk * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, tiling.perChunk * sizeof(T));
        pipe_.InitBuffer(work_, tiling.perChunk * sizeof(float));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, tiling.perChunk * sizeof(float));
        }
        pipe_.InitBuffer(partial_, common::kSlice * sizeof(float));
        pipe_.InitBuffer(number_, common::kBlockFloats * sizeof(float));
        pipe_.InitBuffer(one_, common::kBlockFloats * sizeof(float));
        AscendC::Duplicate(one_.template Get<float>(), 1.0f, common::kBlockFloats);
    }

    /* A step handles one chunk once: of every row first all chunks for the sum, then all for the results. The next one is loaded meanwhile. */
    __aicore__ inline void Process() {
        const int64_t perRow = 2 * static_cast<int64_t>(tiling_.chunks), steps = share_.count * perRow;
        CopyIn(0, perRow);
        for (int64_t step = 0; step < steps; ++step) {
            if (step + 1 < steps) {
                CopyIn(step + 1, perRow);
            }
            const int64_t row = share_.first + step / perRow;
            const uint32_t part = step % perRow;
            if (part < tiling_.chunks) {
                AddSquares(part);
            } else {
                Scale(row, part - tiling_.chunks);
            }
        }
    }

private:
    __aicore__ inline uint32_t Length(uint32_t chunk) const {
        const int64_t left = tiling_.columns - static_cast<int64_t>(chunk) * tiling_.perChunk;
        return left < tiling_.perChunk ? left : tiling_.perChunk;
    }

    template <typename Queue>
    __aicore__ inline void Load(Queue &queue, const AscendC::GlobalTensor<T> &from, uint32_t count) {
        auto tensor = queue.template AllocTensor<T>();
        const uint32_t bytes = count * sizeof(T);
        AscendC::DataCopyPad(tensor, from, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        queue.EnQue(tensor);
    }

    __aicore__ inline void CopyIn(int64_t step, int64_t perRow) {
        const int64_t row = share_.first + step / perRow;
        const uint32_t part = step % perRow, chunk = part % tiling_.chunks;
        const int64_t start = static_cast<int64_t>(chunk) * tiling_.perChunk;
        Load(in_, x_[row * tiling_.columns + start], Length(chunk));
        if (part >= tiling_.chunks) {
            Load(scales_, gamma_[start], Length(chunk));
        }
    }

    /* The chunk in float32: itself, or widened into `wide`. */
    __aicore__ inline common::FloatRows Widen(const AscendC::LocalTensor<T> &x, const common::FloatRows &wide, uint32_t count) {
        if constexpr (kIsFloat) {
            return x;
        } else {
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            return wide;
        }
    }

    __aicore__ inline void AddSquares(uint32_t chunk) {
        using namespace common;
        const auto partial = partial_.template Get<float>(), work = work_.template Get<float>();
        const uint32_t count = Length(chunk), lines = (count + kSlice - 1) / kSlice;
        AscendC::PipeBarrier<PIPE_V>();  // what the last chunk left in the tensors has been read
        if (chunk == 0) {
            AscendC::Duplicate(partial, 0.0f, kSlice);
        }
        auto raw = in_.template DeQue<T>();
        if constexpr (kIsFloat) {
            Square(work, raw, count);
        } else {
            Square(work, Widen(raw, wide_.template Get<float>(), count), count);
        }
        in_.FreeTensor(raw);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kAdd>(OneRow(partial), Matrix(work, kSlice), OneRow(partial), lines, kSlice);
        if (chunk + 1 == tiling_.chunks) {
            AscendC::PipeBarrier<PIPE_V>();
            factor_ = Factor(partial);
        }
    }

    /* Zeros in what the last 64 elements lack. */
    __aicore__ inline void Square(const common::FloatRows &work, const common::FloatRows &x, uint32_t count) {
        if (count % common::kSlice != 0) {
            AscendC::Duplicate(work[count / common::kSlice * common::kSlice], 0.0f, common::kSlice);
            AscendC::PipeBarrier<PIPE_V>();
        }
        AscendC::Mul(work, x, x, count);
    }

    /* 1 / sqrt(mean + epsilon), once per row through the scalar unit. */
    __aicore__ inline float Factor(const common::FloatRows &partial) {
        const auto number = number_.template Get<float>();
        AscendC::WholeReduceSum(number, partial, common::kSlice, 1, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(number, number, 1.0f / tiling_.columns, 1);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(number, number, epsilon_, 1);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sqrt(number, number, 1);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Div(number, one_.template Get<float>(), number, 1);
        return common::FirstOf(number);
    }

    __aicore__ inline void Scale(int64_t row, uint32_t chunk) {
        const uint32_t count = Length(chunk), bytes = count * sizeof(T);
        const auto work = work_.template Get<float>();
        auto x = in_.template DeQue<T>();
        AscendC::PipeBarrier<PIPE_V>();  // as in AddSquares
        AscendC::Muls(work, Widen(x, work, count), factor_, count);
        in_.FreeTensor(x);
        auto scales = scales_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (kIsFloat) {
            AscendC::Mul(y, work, scales, count);
        } else {
            AscendC::Mul(work, work, Widen(scales, wide_.template Get<float>(), count), count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, work, AscendC::RoundMode::CAST_RINT, count);
        }
        scales_.FreeTensor(scales);
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[row * tiling_.columns + static_cast<int64_t>(chunk) * tiling_.perChunk], stored, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        out_.FreeTensor(stored);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> scales_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> partial_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> gamma_;
    AscendC::GlobalTensor<T> y_;
    LongRowTiling tiling_;
    common::Share share_;
    float epsilon_;
    float factor_;
};

#endif  // REFERENCE_RMS_NORM_LONG_H
