/*
 * Maximum or sum of each row of a float32 tile, for all rows at once and without the scalar unit.
 *
 * Three levels: eight neighbours to one (BlockReduce, one cycle per 64 floats), these to 64 partial results per row, these to one (WholeReduce, seven cycles
 * per row). Partial sums keep the rounding error small. As in row_vector.h, whoever calls puts a barrier before and behind.
 */
#ifndef REFERENCE_ROW_REDUCTION_H
#define REFERENCE_ROW_REDUCTION_H

#include "row_tiling.h"
#include "row_vector.h"

namespace common {

class RowReduction {
public:
    /* 64 partial results, one number eight times, one number, and a 1 to divide by it. */
    static constexpr int64_t kBytesPerRow = (kSlice + kBlockFloats + 2) * sizeof(float);
    static constexpr int64_t kBytesPerElement = 1;  // an eighth of a float, rounded up

    __aicore__ inline void Init(AscendC::TPipe &pipe, const RowTiling &tiling) {
        stride_ = tiling.stride;
        const uint32_t rows = (tiling.rowsPerTile + 7) / 8 * 8;
        pipe.InitBuffer(eighths_, tiling.rowsPerTile * stride_ / 8 * sizeof(float));
        pipe.InitBuffer(partial_, tiling.rowsPerTile * kSlice * sizeof(float));
        pipe.InitBuffer(spread_, rows * kBlockFloats * sizeof(float));
        pipe.InitBuffer(number_, rows * sizeof(float));
        pipe.InitBuffer(one_, rows * sizeof(float));
        AscendC::Duplicate(one_.Get<float>(), 1.0f, rows);
    }

    /* The largest element of each row, at least `lowest`. */
    __aicore__ inline FloatRows Max(const FloatRows &x, float lowest, uint32_t rows) {
        const auto eighths = eighths_.Get<float>(), partial = partial_.Get<float>(), number = number_.Get<float>();
        for (uint32_t done = 0; done < rows * stride_; done += kMostRepeats * kSlice) {
            AscendC::BlockReduceMax(eighths[done / 8], x[done], Repeats(rows, done), kSlice, 1, 1, 8);
        }
        AscendC::Duplicate(partial, lowest, rows * kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kMax>(Partial(partial), Matrix(eighths, stride_ / 8), Partial(partial), rows, stride_ / 8);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::WholeReduceMax(number, partial, kSlice, rows, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
        return number;
    }

    __aicore__ inline FloatRows Sum(const FloatRows &x, uint32_t rows) {
        const auto eighths = eighths_.Get<float>(), partial = partial_.Get<float>(), number = number_.Get<float>();
        for (uint32_t done = 0; done < rows * stride_; done += kMostRepeats * kSlice) {
            AscendC::BlockReduceSum(eighths[done / 8], x[done], Repeats(rows, done), kSlice, 1, 1, 8);
        }
        AscendC::Duplicate(partial, 0.0f, rows * kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kAdd>(Partial(partial), Matrix(eighths, stride_ / 8), Partial(partial), rows, stride_ / 8);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::WholeReduceSum(number, partial, kSlice, rows, 1, 1, 8);
        return number;
    }

    /* 1 / number, in place. */
    __aicore__ inline void Reciprocal(const FloatRows &number, uint32_t rows) { AscendC::Div(number, one_.Get<float>(), number, rows); }

    /* Each number eight times: the form that a vector instruction can repeat over a row (PerRow). */
    __aicore__ inline FloatRows Spread(const FloatRows &number, uint32_t rows) {
        const auto spread = spread_.Get<float>();
        AscendC::Brcb(spread, number, (rows + 7) / 8, AscendC::BrcbRepeatParams(1, 8));
        return spread;
    }

private:
    __aicore__ inline uint32_t Repeats(uint32_t rows, uint32_t done) const {
        const uint32_t left = (rows * stride_ - done) / kSlice;
        return left < kMostRepeats ? left : kMostRepeats;
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> eighths_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> partial_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spread_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
    uint32_t stride_;
};

}  // namespace common

#endif  // REFERENCE_ROW_REDUCTION_H
