/*
 * The frame of a kernel that turns each row of a matrix into a row of the same length, for rows that fit into the unified buffer.
 *
 * A core takes its share of the rows, several per tile. Two buffers in and two out, and the next tile is loaded before the current one is computed, so that
 * load, compute and store overlap. In the unified buffer rows lie tiling.stride elements apart; what is there between them is computed along and never
 * stored. 16-bit types are widened to float32 and rounded once.
 *
 * Body has: kBytesPerElement, what it keeps per element of a tile (not counting x and y); kBytesPerRow, what it keeps per row of a tile besides; Init(pipe,
 * tiling, arguments...); Prepare(queue), called once before the first tile is loaded; Run(y, x, rows), in which it gives what lies between the rows a value,
 * if that matters. It orders its own instructions; what comes before and behind is ordered here.
 */
#ifndef REFERENCE_ROW_KERNEL_H
#define REFERENCE_ROW_KERNEL_H

#include <type_traits>

#include "kernel_operator.h"

#include "row_tiling.h"
#include "row_vector.h"

namespace common {

template <typename T, typename Body>
class RowKernel {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;

    /* What the tiling has to know; see row_tiling.h. */
    static constexpr RowTraits Traits(int64_t fixedBytesPerColumn, int64_t elementsPerLaunch) {
        const int64_t perElement = 2 * kBuffers * sizeof(T) + (kIsFloat ? 0 : sizeof(float)) + Body::kBytesPerElement;
        return {sizeof(T), perElement, Body::kBytesPerRow, fixedBytesPerColumn, elementsPerLaunch};
    }

    template <typename... Arguments>
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const RowTiling &tiling, Arguments... arguments) {
        const Share share = ShareOf(tiling.rows);
        rows_ = share.count;
        columns_ = tiling.columns;
        stride_ = tiling.stride;
        perTile_ = tiling.rowsPerTile;
        x_.SetGlobalBuffer((__gm__ T *)x + share.first * columns_, rows_ * columns_);
        y_.SetGlobalBuffer((__gm__ T *)y + share.first * columns_, rows_ * columns_);
        x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        pipe_.InitBuffer(in_, kBuffers, perTile_ * stride_ * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, perTile_ * stride_ * sizeof(T));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, perTile_ * stride_ * sizeof(float));
        }
        body_.Init(pipe_, tiling, arguments...);
    }

    __aicore__ inline void Process() {
        body_.Prepare(in_);
        CopyIn(0);
        for (int64_t row = 0; row < rows_; row += perTile_) {
            CopyIn(row + perTile_);
            Compute(RowsAt(row));
            CopyOut(row);
        }
    }

private:
    __aicore__ inline uint32_t RowsAt(int64_t row) const { return rows_ - row < perTile_ ? rows_ - row : perTile_; }

    /* Between two rows the unified buffer has whole blocks that global memory has not. */
    __aicore__ inline AscendC::DataCopyExtParams Copied(int64_t row, bool isStore) const {
        const uint32_t bytes = columns_ * sizeof(T), gap = (stride_ * sizeof(T) - bytes) / 32;
        return {static_cast<uint16_t>(RowsAt(row)), bytes, isStore ? gap : 0, isStore ? 0 : gap, 0};
    }

    __aicore__ inline void CopyIn(int64_t row) {
        if (row >= rows_) {
            return;
        }
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[row * columns_], Copied(row, false), AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t rows) {
        auto x = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        AscendC::PipeBarrier<PIPE_V>();  // what the last tile left in the wide tensor and in the body's has been read
        if constexpr (kIsFloat) {
            body_.Run(y, x, rows);
            in_.FreeTensor(x);
        } else {
            auto wide = wide_.template Get<float>();
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, rows * stride_);
            in_.FreeTensor(x);
            AscendC::PipeBarrier<PIPE_V>();
            body_.Run(wide, wide, rows);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, rows * stride_);
        }
        out_.EnQue(y);
    }

    __aicore__ inline void CopyOut(int64_t row) {
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[row * columns_], y, Copied(row, true));
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    Body body_;
    int64_t rows_;
    int64_t columns_;
    uint32_t stride_;
    uint32_t perTile_;
};

}  // namespace common

#endif  // REFERENCE_ROW_KERNEL_H
