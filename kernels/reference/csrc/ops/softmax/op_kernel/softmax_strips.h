/*
 * softmax along an axis that is not the last, and of rows that do not fit into the unified buffer.
 *
 * x is [outer, length, inner] and the axis is the middle one. A strip is some columns of one outer index, all along the axis: lines side by side, so that
 * maximum and sum are vectors with one lane per line and no lane has to look at another. A long row is the same thing: cut into pieces of 64, element i belongs
 * to lane i % 64, and the lanes are combined at the end.
 *
 * A strip is taken in chunks, with a running maximum m and sum s per lane; a chunk that raises m scales s by exp(old m - new m). A strip of one chunk stays in
 * the unified buffer and is read once; others are read twice: once for m and s, once for the results.
 *
 * Of a few very long rows a strip is a piece, one per core: then a first launch stores m and s of every piece, and a second one combines those of its row
 * before it computes the results.
 */
#ifndef REFERENCE_SOFTMAX_STRIPS_H
#define REFERENCE_SOFTMAX_STRIPS_H

#include <type_traits>

#include "../../../common/row_vector.h"
#include "softmax_rows.h"
#include "softmax_tiling.h"

template <typename T, StripPhase kPhase>
class SoftmaxStrips {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* Per element of a chunk: the queues' buffers and a float32 tensor. Per lane: m, s, old m. */
    static constexpr int64_t kBytesPerElement = 2 * kBuffers * sizeof(T) + sizeof(float);
    static constexpr int64_t kBytesPerLane = 3 * sizeof(float);
    static constexpr int64_t kFixedBytes = 64;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR sums, const StripTiling &tiling) {
        tiling_ = tiling;
        share_ = common::ShareOf(tiling.strips);
        chunks_ = (LinesOf(share_.first) + tiling.linesPerChunk - 1) / tiling.linesPerChunk;  // pieces of different length are on different cores
        x_.SetGlobalBuffer((__gm__ T *)x);
        y_.SetGlobalBuffer((__gm__ T *)y);
        mosts_.SetGlobalBuffer((__gm__ float *)sums);
        sums_.SetGlobalBuffer((__gm__ float *)sums + tiling.strips * common::kSlice);
        if (kPhase == StripPhase::kAll && chunks_ == 1) {
            x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        }
        const uint32_t perChunk = tiling.linesPerChunk * tiling.stride;
        pipe_.InitBuffer(in_, kBuffers, perChunk * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, perChunk * sizeof(T));
        pipe_.InitBuffer(work_, perChunk * sizeof(float));
        pipe_.InitBuffer(most_, tiling.stride * sizeof(float));
        pipe_.InitBuffer(sum_, tiling.stride * sizeof(float));
        pipe_.InitBuffer(old_, tiling.stride * sizeof(float));
        pipe_.InitBuffer(number_, kFixedBytes);
    }

    /* A step handles one chunk once; its data was asked for one step earlier. */
    __aicore__ inline void Process() {
        if constexpr (kPhase == StripPhase::kResults) {
            LoadSums();
        }
        const int64_t perStrip = kPhase == StripPhase::kAll && chunks_ > 1 ? 2 * static_cast<int64_t>(chunks_) : chunks_, steps = share_.count * perStrip;
        CopyIn(ChunkOf(0, perStrip));
        for (int64_t step = 0; step < steps; ++step) {
            if (step + 1 < steps) {
                CopyIn(ChunkOf(step + 1, perStrip));
            }
            const uint32_t part = step % perStrip + (kPhase == StripPhase::kResults ? chunks_ : 0);
            Compute(ChunkOf(step, perStrip), part);
        }
    }

private:
    /* A rectangle of x in global memory: `lines` pieces of `lanes` elements; the last piece of a long row may have fewer. */
    struct Chunk {
        int64_t start;
        uint32_t lines;
        uint32_t lanes;
        uint32_t missing;  // elements that the last line lacks
    };

    /* Where a strip begins along the axis. */
    __aicore__ inline int64_t LineOf(int64_t strip) const { return strip % tiling_.pieces * tiling_.perPiece; }

    __aicore__ inline int64_t LinesOf(int64_t strip) const {
        const int64_t left = tiling_.length - LineOf(strip);
        return left < tiling_.perPiece ? left : tiling_.perPiece;
    }

    __aicore__ inline Chunk ChunkOf(int64_t step, int64_t perStrip) const {
        const int64_t strip = share_.first + step / perStrip;
        const int64_t skipped = step % perStrip % chunks_ * tiling_.linesPerChunk, firstLine = LineOf(strip) + skipped;
        const int64_t left = LinesOf(strip) - skipped;
        const uint32_t lines = left < tiling_.linesPerChunk ? left : tiling_.linesPerChunk;
        if (tiling_.isRow) {
            const bool isLast = firstLine + lines == tiling_.length;
            return {strip / tiling_.pieces * tiling_.inner + firstLine * common::kSlice, lines, common::kSlice, isLast ? tiling_.missing : 0};
        }
        const int64_t outer = strip / tiling_.stripsPerOuter, column = strip % tiling_.stripsPerOuter * tiling_.width;
        const uint32_t lanes = tiling_.inner - column < tiling_.width ? tiling_.inner - column : tiling_.width;
        return {(outer * tiling_.length + firstLine) * tiling_.inner + column, lines, lanes, 0};
    }

    /* A row is contiguous; the lines of other strips lie `inner` elements apart. */
    __aicore__ inline AscendC::DataCopyExtParams Copied(const Chunk &chunk, bool isStore) const {
        if (tiling_.isRow) {
            return {1, static_cast<uint32_t>((chunk.lines * chunk.lanes - chunk.missing) * sizeof(T)), 0, 0, 0};
        }
        const uint32_t bytes = chunk.lanes * sizeof(T), apart = (tiling_.inner - chunk.lanes) * sizeof(T);
        const uint32_t unused = (tiling_.stride - chunk.lanes) * sizeof(T) / 32;  // whole blocks between lines in the unified buffer
        return {static_cast<uint16_t>(chunk.lines), bytes, isStore ? unused : apart, isStore ? apart : unused, 0};
    }

    __aicore__ inline void CopyIn(const Chunk &chunk) {
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[chunk.start], Copied(chunk, false), AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(const Chunk &chunk, uint32_t part) {
        AscendC::PipeBarrier<PIPE_V>();  // what the last chunk left in the tensors has been read
        if (part == 0) {
            AscendC::Duplicate(most_.template Get<float>(), kLowest, tiling_.stride);
            AscendC::Duplicate(sum_.template Get<float>(), 0.0f, tiling_.stride);
        }
        auto raw = in_.template DeQue<T>();
        auto work = work_.template Get<float>();
        if constexpr (kIsFloat) {
            Take(work, raw, chunk, part);
            in_.FreeTensor(raw);
        } else {
            AscendC::Cast(work, raw, AscendC::RoundMode::CAST_NONE, chunk.lines * tiling_.stride);
            in_.FreeTensor(raw);
            AscendC::PipeBarrier<PIPE_V>();
            Take(work, work, chunk, part);
        }
        AscendC::PipeBarrier<PIPE_V>();
        if (part + 1 == chunks_) {
            if constexpr (kPhase == StripPhase::kAll) {
                Finish();
            } else {
                StoreSums(share_.first);
            }
            AscendC::PipeBarrier<PIPE_V>();
        }
        if (part >= chunks_ || (kPhase == StripPhase::kAll && chunks_ == 1)) {
            CopyOut(work, chunk);
        }
    }

    /* First time: x into m and s. work = exp(x - m) both times. */
    __aicore__ inline void Take(const common::FloatRows &work, const common::FloatRows &x, const Chunk &chunk, uint32_t part) {
        using namespace common;
        const auto most = most_.template Get<float>(), sum = sum_.template Get<float>(), old = old_.template Get<float>();
        const uint32_t stride = tiling_.stride;
        const bool isFirstTime = part < chunks_;
        if (chunk.missing > 0) {
            FillMissing(x[(chunk.lines - 1) * stride], chunk.missing);
        }
        AscendC::PipeBarrier<PIPE_V>();
        if (isFirstTime) {
            AscendC::Adds(old, most, 0.0f, stride);
            AscendC::PipeBarrier<PIPE_V>();
            Apply<Step::kMax>(OneRow(most), Matrix(x, stride), OneRow(most), chunk.lines, chunk.lanes);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Sub(old, old, most, stride);
        }
        Apply<Step::kSub>(Matrix(work, stride), Matrix(x, stride), OneRow(most), chunk.lines, chunk.lanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(work, work, chunk.lines * stride);
        if (isFirstTime) {
            AscendC::Exp(old, old, stride);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Mul(sum, sum, old, stride);
            AscendC::PipeBarrier<PIPE_V>();
            Apply<Step::kAdd>(OneRow(sum), Matrix(work, stride), OneRow(sum), chunk.lines, chunk.lanes);
        }
    }

    /* The lanes that the last piece of a row lacks become -inf, which changes no maximum and adds 0. */
    __aicore__ inline void FillMissing(const common::FloatRows &line, uint32_t missing) {
        const uint64_t lanes[2] = {~0ULL << (common::kSlice - missing), 0};
        AscendC::Duplicate(line, kNothing, lanes, 1, 1, 8);
    }

    /* s becomes what a result is multiplied by; the lanes of a row are combined first. */
    __aicore__ inline void Finish() {
        const auto most = most_.template Get<float>(), sum = sum_.template Get<float>(), old = old_.template Get<float>();
        if (tiling_.isRow) {
            CombineLanes(most, sum, old);
            AscendC::PipeBarrier<PIPE_V>();
        }
        AscendC::Duplicate(old, 1.0f, tiling_.stride);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Div(sum, old, sum, tiling_.stride);
    }

    /* m and s of all lanes of the core's piece. */
    __aicore__ inline void StoreSums(int64_t piece) {
        constexpr uint32_t kLanes = common::kSlice;
        const AscendC::DataCopyExtParams lanes{1, kLanes * sizeof(float), 0, 0, 0};
        auto pair = out_.template AllocTensor<float>();
        AscendC::Adds(pair, most_.template Get<float>(), 0.0f, kLanes);
        AscendC::Adds(pair[kLanes], sum_.template Get<float>(), 0.0f, kLanes);
        out_.EnQue(pair);
        auto stored = out_.template DeQue<float>();
        AscendC::DataCopyPad(mosts_[piece * kLanes], stored, lanes);
        AscendC::DataCopyPad(sums_[piece * kLanes], stored[kLanes], lanes);
        out_.FreeTensor(stored);
    }

    __aicore__ inline void LoadLanes(const AscendC::GlobalTensor<float> &from) {
        const uint32_t bytes = tiling_.pieces * common::kSlice * sizeof(float);
        auto loading = in_.template AllocTensor<float>();
        AscendC::DataCopyPad(loading, from, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});
        in_.EnQue(loading);
    }

    /* m of the core's row, and what its results are multiplied by, from all pieces of the row. */
    __aicore__ inline void LoadSums() {
        using namespace common;
        const auto most = most_.template Get<float>(), sum = sum_.template Get<float>();
        const int64_t first = share_.first / tiling_.pieces * tiling_.pieces * kSlice;
        const uint32_t pieces = tiling_.pieces;
        LoadLanes(mosts_[first]);
        LoadLanes(sums_[first]);
        auto mosts = in_.template DeQue<float>(), sums = in_.template DeQue<float>();
        AscendC::Duplicate(most, kLowest, kSlice);
        AscendC::Duplicate(sum, 0.0f, kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kMax>(OneRow(most), Matrix(mosts, kSlice), OneRow(most), pieces, kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kSub>(Matrix(mosts, kSlice), Matrix(mosts, kSlice), OneRow(most), pieces, kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(mosts, mosts, pieces * kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(sums, sums, mosts, pieces * kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kAdd>(OneRow(sum), Matrix(sums, kSlice), OneRow(sum), pieces, kSlice);
        in_.FreeTensor(mosts);
        in_.FreeTensor(sums);
        AscendC::PipeBarrier<PIPE_V>();
        Finish();
    }

    __aicore__ inline void CombineLanes(const common::FloatRows &most, const common::FloatRows &sum, const common::FloatRows &old) {
        constexpr uint32_t kLanes = common::kSlice;
        const auto number = number_.template Get<float>();
        AscendC::WholeReduceMax(number, most, kLanes, 1, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
        const float highest = common::FirstOf(number);
        AscendC::Adds(old, most, -highest, kLanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(old, old, kLanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(sum, sum, old, kLanes);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::WholeReduceSum(number, sum, kLanes, 1, 1, 1, 8);
        AscendC::Duplicate(most, highest, kLanes);
        AscendC::Duplicate(sum, common::FirstOf(number), kLanes);
    }

    __aicore__ inline void CopyOut(const common::FloatRows &work, const Chunk &chunk) {
        using namespace common;
        const uint32_t stride = tiling_.stride;
        const auto scale = OneRow(sum_.template Get<float>());
        auto y = out_.template AllocTensor<T>();
        if constexpr (kIsFloat) {
            Apply<Step::kMul>(Matrix(y, stride), Matrix(work, stride), scale, chunk.lines, chunk.lanes);
        } else {
            Apply<Step::kMul>(Matrix(work, stride), Matrix(work, stride), scale, chunk.lines, chunk.lanes);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, work, AscendC::RoundMode::CAST_RINT, chunk.lines * stride);
        }
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[chunk.start], stored, Copied(chunk, true));
        out_.FreeTensor(stored);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> most_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sum_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> old_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<float> mosts_;
    AscendC::GlobalTensor<float> sums_;
    StripTiling tiling_;
    common::Share share_;
    uint32_t chunks_;  // of each of the core's strips
};

#endif  // REFERENCE_SOFTMAX_STRIPS_H
