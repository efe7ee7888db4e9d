/*
 * rms_norm of rows that do not fit into the unified buffer: a core takes one line after the other, in chunks, and reads it twice: once for the sum of squares
 * (64 partial sums, so that the rounding error stays small), once with gamma for the results.
 *
 * A line is a row. Of a few very long rows it is a piece, one per core: then a first launch stores eight partial sums of every piece, and a second one adds up
 * those of its row before it computes the results.
 */
#ifndef REFERENCE_RMS_NORM_LONG_H
#define REFERENCE_RMS_NORM_LONG_H

#include <type_traits>

#include "../../../common/row_tiling.h"
#include "../../../common/row_vector.h"

/* What a launch does with its lines. */
enum class LongPhase { kAll, kSums, kResults };

struct LongRowTiling {
    int64_t columns;
    int64_t lines;
    int64_t perLine;    // elements, of pieces a multiple of 64; the last piece of a row may have fewer
    uint32_t pieces;    // lines of a row
    uint32_t perChunk;  // elements, a multiple of 64
    uint32_t blocks;    // vector cores used
};

/* Chunks of equal size, as few as fit; host code. */
inline LongRowTiling PlanLongRows(int64_t rows, int64_t columns, int64_t bytesPerElement, int64_t fixedBytes) {
    using namespace common;
    constexpr int64_t kGranule = 64;
    const int64_t wanted = PiecesPerRow(rows, columns);
    const int64_t perLine = wanted == 1 ? columns : RoundUp(CeilDiv(columns, wanted), kGranule);
    const int64_t pieces = CeilDiv(columns, perLine), lines = rows * pieces;
    const int64_t most = (UnifiedBufferBytes() - fixedBytes) / bytesPerElement / kGranule * kGranule;
    const int64_t perChunk = RoundUp(CeilDiv(perLine, CeilDiv(perLine, most)), kGranule);
    return {columns, lines, perLine, static_cast<uint32_t>(pieces), static_cast<uint32_t>(perChunk), static_cast<uint32_t>(std::min(lines, VectorCores()))};
}

template <typename T, LongPhase kPhase>
class RmsNormLong {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* x, gamma and y in queues, one float32 tensor, and gamma widened. */
    static constexpr int64_t kBytesPerElement = 3 * kBuffers * sizeof(T) + (kIsFloat ? 1 : 2) * sizeof(float);
    static constexpr uint32_t kSumBytes = common::kBlockFloats * sizeof(float);
    static constexpr int64_t kFixedBytes = (common::kSlice + 2 * common::kBlockFloats) * sizeof(float);

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR sums, const LongRowTiling &tiling, float epsilon) {
        tiling_ = tiling;
        share_ = common::ShareOf(tiling.lines);
        chunks_ = (LengthOf(share_.first) + tiling.perChunk - 1) / tiling.perChunk;  // pieces of different length are on different cores
        epsilon_ = epsilon;
        x_.SetGlobalBuffer((__gm__ T *)x);
        gamma_.SetGlobalBuffer((__gm__ T *)gamma);
        y_.SetGlobalBuffer((__gm__ T *)y);
        sums_.SetGlobalBuffer((__gm__ float *)sums);
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

    /* A step handles one chunk once: of every line first all chunks for the sum, then all for the results. The next one is loaded meanwhile. */
    __aicore__ inline void Process() {
        if constexpr (kPhase == LongPhase::kResults) {
            LoadFactor();
        }
        const int64_t steps = share_.count * StepsPerLine();
        CopyIn(0);
        for (int64_t step = 0; step < steps; ++step) {
            if (step + 1 < steps) {
                CopyIn(step + 1);
            }
            const uint32_t part = PartOf(step);
            if (part < chunks_) {
                AddSquares(LineOf(step), part);
            } else {
                Scale(LineOf(step), part - chunks_);
            }
        }
    }

private:
    __aicore__ inline int64_t StepsPerLine() const { return (kPhase == LongPhase::kAll ? 2 : 1) * static_cast<int64_t>(chunks_); }

    __aicore__ inline int64_t LineOf(int64_t step) const { return share_.first + step / StepsPerLine(); }

    /* Below chunks_: a chunk for the sum; from there on one for the results. */
    __aicore__ inline uint32_t PartOf(int64_t step) const { return step % StepsPerLine() + (kPhase == LongPhase::kResults ? chunks_ : 0); }

    /* Where a line begins in its row. */
    __aicore__ inline int64_t ColumnOf(int64_t line) const { return line % tiling_.pieces * tiling_.perLine; }

    __aicore__ inline int64_t LengthOf(int64_t line) const {
        const int64_t left = tiling_.columns - ColumnOf(line);
        return left < tiling_.perLine ? left : tiling_.perLine;
    }

    /* Where a chunk begins in x and y. */
    __aicore__ inline int64_t StartOf(int64_t line, uint32_t chunk) const {
        return line / tiling_.pieces * tiling_.columns + ColumnOf(line) + static_cast<int64_t>(chunk) * tiling_.perChunk;
    }

    __aicore__ inline uint32_t Length(int64_t line, uint32_t chunk) const {
        const int64_t left = LengthOf(line) - static_cast<int64_t>(chunk) * tiling_.perChunk;
        return left < tiling_.perChunk ? left : tiling_.perChunk;
    }

    template <typename Queue>
    __aicore__ inline void Load(Queue &queue, const AscendC::GlobalTensor<T> &from, uint32_t count) {
        auto tensor = queue.template AllocTensor<T>();
        const uint32_t bytes = count * sizeof(T);
        AscendC::DataCopyPad(tensor, from, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        queue.EnQue(tensor);
    }

    __aicore__ inline void CopyIn(int64_t step) {
        const int64_t line = LineOf(step);
        const uint32_t part = PartOf(step), chunk = part % chunks_, count = Length(line, chunk);
        Load(in_, x_[StartOf(line, chunk)], count);
        if (part >= chunks_) {
            Load(scales_, gamma_[ColumnOf(line) + static_cast<int64_t>(chunk) * tiling_.perChunk], count);
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

    __aicore__ inline void AddSquares(int64_t line, uint32_t chunk) {
        using namespace common;
        const auto partial = partial_.template Get<float>(), work = work_.template Get<float>();
        const uint32_t count = Length(line, chunk), lines = (count + kSlice - 1) / kSlice;
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
        if (chunk + 1 == chunks_) {
            AscendC::PipeBarrier<PIPE_V>();
            Finish(line);
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

    __aicore__ inline void Finish(int64_t line) {
        const auto partial = partial_.template Get<float>();
        if constexpr (kPhase == LongPhase::kAll) {
            factor_ = Factor(partial);
        } else {
            auto sums = out_.template AllocTensor<float>();
            AscendC::BlockReduceSum(sums, partial, 1, common::kSlice, 1, 1, 8);
            out_.EnQue(sums);
            auto stored = out_.template DeQue<float>();
            AscendC::DataCopyPad(sums_[line * common::kBlockFloats], stored, AscendC::DataCopyExtParams{1, kSumBytes, 0, 0, 0});
            out_.FreeTensor(stored);
        }
    }

    /* The factor of the core's row, from the sums of all its pieces. */
    __aicore__ inline void LoadFactor() {
        using namespace common;
        const int64_t firstLine = share_.first / tiling_.pieces * tiling_.pieces;
        const auto partial = partial_.template Get<float>();
        auto loading = in_.template AllocTensor<float>();
        AscendC::DataCopyPad(loading, sums_[firstLine * kBlockFloats], AscendC::DataCopyExtParams{1, tiling_.pieces * kSumBytes, 0, 0, 0},
                             AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});
        in_.EnQue(loading);
        auto loaded = in_.template DeQue<float>();
        AscendC::Duplicate(partial, 0.0f, kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kAdd>(Partial(partial), Matrix(loaded, 0), Partial(partial), 1, tiling_.pieces * kBlockFloats);
        in_.FreeTensor(loaded);
        AscendC::PipeBarrier<PIPE_V>();
        factor_ = Factor(partial);
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

    __aicore__ inline void Scale(int64_t line, uint32_t chunk) {
        const uint32_t count = Length(line, chunk), bytes = count * sizeof(T);
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
        AscendC::DataCopyPad(y_[StartOf(line, chunk)], stored, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
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
    AscendC::GlobalTensor<float> sums_;
    LongRowTiling tiling_;
    common::Share share_;
    uint32_t chunks_;  // of each of the core's lines
    float epsilon_;
    float factor_;
};

#endif  // REFERENCE_RMS_NORM_LONG_H
