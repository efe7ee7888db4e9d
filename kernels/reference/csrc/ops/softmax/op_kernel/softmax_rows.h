/*
 * softmax of rows that fit into the unified buffer, several per tile: y = exp(x - m) / sum(exp(x - m)), m the row's maximum.
 *
 * Maxima and sums of all rows of a tile are formed together (RowReduction): no result passes through the scalar unit, which would stall the core twice per row.
 */
#ifndef REFERENCE_SOFTMAX_ROWS_H
#define REFERENCE_SOFTMAX_ROWS_H

#include <limits>

#include "../../../common/row_kernel.h"
#include "../../../common/row_reduction.h"

constexpr float kNothing = -std::numeric_limits<float>::infinity();  // raises no maximum, adds nothing to a sum of exponentials
constexpr float kLowest = -3.402823466e+38f;                         // below every finite number, and above -inf: exp(-inf - kLowest) is 0, not NaN

class SoftmaxBody {
public:
    static constexpr int64_t kBytesPerElement = common::RowReduction::kBytesPerElement;
    static constexpr int64_t kBytesPerRow = common::RowReduction::kBytesPerRow;

    __aicore__ inline void Init(AscendC::TPipe &pipe, const common::RowTiling &tiling) {
        columns_ = tiling.columns;
        stride_ = tiling.stride;
        reduction_.Init(pipe, tiling);
    }

    template <typename Queue>
    __aicore__ inline void Prepare(Queue &) {}

    /* y may be x. */
    __aicore__ inline void Run(const common::FloatRows &y, const common::FloatRows &x, uint32_t rows) {
        using namespace common;
        FillRowEnds(x, kNothing, rows, columns_, stride_);
        AscendC::PipeBarrier<PIPE_V>();
        const auto most = reduction_.Max(x, kLowest, rows);
        AscendC::PipeBarrier<PIPE_V>();
        const auto spread = reduction_.Spread(most, rows);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kSub>(Matrix(y, stride_), Matrix(x, stride_), PerRow(spread), rows, stride_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(y, y, rows * stride_);
        AscendC::PipeBarrier<PIPE_V>();
        const auto sum = reduction_.Sum(y, rows);
        AscendC::PipeBarrier<PIPE_V>();
        reduction_.Reciprocal(sum, rows);
        AscendC::PipeBarrier<PIPE_V>();
        reduction_.Spread(sum, rows);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kMul>(Matrix(y, stride_), Matrix(y, stride_), PerRow(spread), rows, stride_);
    }

private:
    common::RowReduction reduction_;
    uint32_t columns_;
    uint32_t stride_;
};

#endif  // REFERENCE_SOFTMAX_ROWS_H
