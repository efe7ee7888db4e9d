/*
 * rms_norm of rows that fit into the unified buffer, several per tile: y = x * f * gamma with f = 1 / sqrt(mean(x^2) + epsilon), one f per row.
 *
 * gamma is loaded and widened once per core, to an odd multiple of 256 bytes: multiplied by it, rows that start at multiples of 512 have no bank conflict. The
 * factors of all rows of a tile are formed together (RowReduction), without the scalar unit.
 */
#ifndef REFERENCE_RMS_NORM_ROWS_H
#define REFERENCE_RMS_NORM_ROWS_H

#include "../../../common/row_kernel.h"
#include "../../../common/row_reduction.h"

template <typename T>
class RmsNormBody {
public:
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* Squares go where y will be, except for the 16-bit types, whose x is there. */
    static constexpr int64_t kBytesPerElement = common::RowReduction::kBytesPerElement + (kIsFloat ? 0 : sizeof(float));
    static constexpr int64_t kBytesPerRow = common::RowReduction::kBytesPerRow;
    static constexpr int64_t kBytesPerColumn = sizeof(float);  // gamma

    __aicore__ inline void Init(AscendC::TPipe &pipe, const common::RowTiling &tiling, GM_ADDR gamma, float epsilon) {
        columns_ = tiling.columns;
        stride_ = tiling.stride;
        epsilon_ = epsilon;
        source_.SetGlobalBuffer((__gm__ T *)gamma, columns_);
        if (tiling.rowsPerTile * stride_ / common::kSlice % 2 == 0) {
            pipe.InitBuffer(pad_, common::kPadBytes);
        }
        pipe.InitBuffer(gamma_, stride_ * sizeof(float));
        if constexpr (!kIsFloat) {
            pipe.InitBuffer(squares_, tiling.rowsPerTile * stride_ * sizeof(float));
        }
        reduction_.Init(pipe, tiling);
    }

    /* gamma takes the way of a row of x. */
    template <typename Queue>
    __aicore__ inline void Prepare(Queue &in) {
        const uint32_t bytes = columns_ * sizeof(T);
        auto loading = in.template AllocTensor<T>();
        AscendC::DataCopyPad(loading, source_, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in.EnQue(loading);
        auto loaded = in.template DeQue<T>();
        if constexpr (kIsFloat) {
            AscendC::Adds(gamma_.Get<float>(), loaded, 0.0f, columns_);
        } else {
            AscendC::Cast(gamma_.Get<float>(), loaded, AscendC::RoundMode::CAST_NONE, columns_);
        }
        in.FreeTensor(loaded);
    }

    /* y may be x for the 16-bit types. */
    __aicore__ inline void Run(const common::FloatRows &y, const common::FloatRows &x, uint32_t rows) {
        using namespace common;
        auto squares = y;
        if constexpr (!kIsFloat) {
            squares = squares_.template Get<float>();
        }
        FillRowEnds(x, 0.0f, rows, columns_, stride_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(squares, x, x, rows * stride_);
        AscendC::PipeBarrier<PIPE_V>();
        const auto factor = reduction_.Sum(squares, rows);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(factor, factor, 1.0f / columns_, rows);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(factor, factor, epsilon_, rows);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sqrt(factor, factor, rows);
        AscendC::PipeBarrier<PIPE_V>();
        reduction_.Reciprocal(factor, rows);
        AscendC::PipeBarrier<PIPE_V>();
        const auto spread = reduction_.Spread(factor, rows);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kMul>(Matrix(y, stride_), Matrix(x, stride_), PerRow(spread), rows, stride_);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kMul>(Matrix(y, stride_), Matrix(y, stride_), OneRow(gamma_.Get<float>()), rows, columns_);
    }

private:
    common::RowReduction reduction_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> gamma_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> squares_;
    AscendC::GlobalTensor<T> source_;
    uint32_t columns_;
    uint32_t stride_;
    float epsilon_;
};

#endif  // REFERENCE_RMS_NORM_ROWS_H
