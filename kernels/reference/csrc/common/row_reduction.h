/*
 * Maximum or sum of each row of a float32 tile, for all rows at once and without the scalar unit.
 *
 * Blocks of eight neighbours become one number each (BlockReduce, one cycle per 64 floats), three times: the first time over the whole tile, the second time
 * eight blocks of every row at a time, and what that leaves of a row, eight numbers per 512 elements, is folded to one block for the third. Very long rows,
 * of which a tile has few, are folded to 64 numbers instead, and these to one (WholeReduce, seven cycles per row). Partial sums keep the rounding error small.
 * As in row_vector.h, whoever calls puts a barrier before and behind.
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
        const uint32_t parts = (stride_ + kBlocksOfBlocks - 1) / kBlocksOfBlocks;
        isFewBlocks_ = rows * parts * kBlockFloats <= tiling.rowsPerTile * kSlice;
        pipe.InitBuffer(eighths_, tiling.rowsPerTile * stride_ / 8 * sizeof(float));
        pipe.InitBuffer(partial_, tiling.rowsPerTile * kSlice * sizeof(float));
        pipe.InitBuffer(spread_, rows * kBlockFloats * sizeof(float));
        pipe.InitBuffer(number_, rows * sizeof(float));
        pipe.InitBuffer(one_, rows * sizeof(float));
        AscendC::Duplicate(one_.Get<float>(), 1.0f, rows);
    }

    /* The largest element of each row, at least `lowest`. */
    __aicore__ inline FloatRows Max(const FloatRows &x, float lowest, uint32_t rows) {
        const auto number = number_.Get<float>();
        MaxInto(number, x, lowest, rows);
        return number;
    }

    __aicore__ inline FloatRows Sum(const FloatRows &x, uint32_t rows) {
        const auto number = number_.Get<float>();
        SumInto(number, x, rows);
        return number;
    }

    /* Into a tensor of the caller's, which has room for whole groups of eight. */
    __aicore__ inline void MaxInto(const FloatRows &number, const FloatRows &x, float lowest, uint32_t rows) { Reduce<Step::kMax>(number, x, lowest, rows); }
    __aicore__ inline void SumInto(const FloatRows &number, const FloatRows &x, uint32_t rows) { Reduce<Step::kAdd>(number, x, 0.0f, rows); }

    /* 1 / number, in place. */
    __aicore__ inline void Reciprocal(const FloatRows &number, uint32_t rows) { AscendC::Div(number, one_.Get<float>(), number, rows); }

    /* Each number eight times: the form that a vector instruction can repeat over a row (PerRow). */
    __aicore__ inline FloatRows Spread(const FloatRows &number, uint32_t rows) {
        const auto spread = spread_.Get<float>();
        AscendC::Brcb(spread, number, (rows + 7) / 8, AscendC::BrcbRepeatParams(1, 8));
        return spread;
    }

private:
    static constexpr uint32_t kBlocksOfBlocks = kSlice * kBlockFloats;  // elements whose blocks become one block: 512

    template <Step step>
    __aicore__ inline void BlockReduce(const FloatRows &dst, const FloatRows &src, uint32_t repeats, uint32_t lanes, uint32_t dstMove, uint32_t srcMove) {
        if constexpr (step == Step::kMax) {
            AscendC::BlockReduceMax(dst, src, repeats, lanes, dstMove, 1, srcMove);
        } else {
            AscendC::BlockReduceSum(dst, src, repeats, lanes, dstMove, 1, srcMove);
        }
    }

    /* number = reduction of each row and `neutral`. */
    template <Step step>
    __aicore__ inline void Reduce(const FloatRows &number, const FloatRows &x, float neutral, uint32_t rows) {
        const auto eighths = eighths_.Get<float>(), partial = partial_.Get<float>();
        for (uint32_t done = 0; done < rows * stride_; done += kMostRepeats * kSlice) {
            BlockReduce<step>(eighths[done / 8], x[done], Repeats(rows, done), kSlice, 1, 8);
        }
        if (isFewBlocks_) {
            ReduceBlocks<step>(number, eighths, partial, neutral, rows);
        } else {
            FoldLong<step>(number, eighths, partial, neutral, rows);
        }
    }

    template <Step step>
    __aicore__ inline void ReduceBlocks(const FloatRows &number, const FloatRows &eighths, const FloatRows &partial, float neutral, uint32_t rows) {
        const uint32_t parts = (stride_ + kBlocksOfBlocks - 1) / kBlocksOfBlocks, groups = (rows + 7) / 8, apart = stride_ / kSlice;
        AscendC::Duplicate(partial, neutral, groups * kSlice * parts);
        AscendC::PipeBarrier<PIPE_V>();
        for (uint32_t part = 0; part < parts; ++part) {
            const uint32_t left = stride_ / 8 - part * kSlice, lanes = left < kSlice ? left : kSlice;
            BlockReduce<step>(partial[part * kBlockFloats], eighths[part * kSlice], rows, lanes, parts, apart);
        }
        AscendC::PipeBarrier<PIPE_V>();
        const uint8_t row = parts, group = 8 * parts;
        for (uint32_t part = 1; part < parts; ++part) {
            Repeat<step>(partial, partial, partial[part * kBlockFloats], kSlice, groups, AscendC::BinaryRepeatParams(row, row, row, group, group, group));
            AscendC::PipeBarrier<PIPE_V>();
        }
        Finish<step>(number, partial, neutral, groups, row, group);
    }

    /* One block per row to one number; the blocks lie `row` apart. */
    template <Step step>
    __aicore__ inline void Finish(const FloatRows &number, const FloatRows &partial, float neutral, uint32_t groups, uint8_t row, uint8_t group) {
        if constexpr (step == Step::kMax) {
            AscendC::BlockReduceMax(number, partial, groups, kSlice, 1, row, group);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Maxs(number, number, neutral, groups * kBlockFloats);
        } else {
            AscendC::BlockReduceSum(number, partial, groups, kSlice, 1, row, group);
        }
    }

    template <Step step>
    __aicore__ inline void FoldLong(const FloatRows &number, const FloatRows &eighths, const FloatRows &partial, float neutral, uint32_t rows) {
        AscendC::Duplicate(partial, neutral, rows * kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<step>(Partial(partial), Matrix(eighths, stride_ / 8), Partial(partial), rows, stride_ / 8);
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (step == Step::kMax) {
            AscendC::WholeReduceMax(number, partial, kSlice, rows, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
        } else {
            AscendC::WholeReduceSum(number, partial, kSlice, rows, 1, 1, 8);
        }
    }

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
    bool isFewBlocks_;  // what ReduceBlocks leaves of all rows fits into `partial_`
};

}  // namespace common

#endif  // REFERENCE_ROW_REDUCTION_H
