/*
 * rms_norm, plain: sum of squares, then x * factor * gamma, every step of the formula is one instruction, in float32.
 *
 * A row that fits into a tile is loaded once, as many as fit share the tile, and gamma stays in the unified buffer; of a longer row x is loaded twice and
 * gamma once per part of a row.
 */
#include <cmath>
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "rms_norm_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T>
class RmsNormKernel {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr uint32_t kTile = baseline::kTileElements;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, int64_t columns, float epsilon) {
        columns_ = columns;
        epsilon_ = epsilon;
        x_.SetGlobalBuffer((__gm__ T *)x);
        gamma_.SetGlobalBuffer((__gm__ T *)gamma);
        y_.SetGlobalBuffer((__gm__ T *)y);
        pipe_.InitBuffer(in_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(wide_, kTile * sizeof(float));
        pipe_.InitBuffer(scale_, kTile * sizeof(float));
        pipe_.InitBuffer(squares_, kTile * sizeof(float));
        pipe_.InitBuffer(reduceWork_, kTile * sizeof(float));
        pipe_.InitBuffer(number_, 32);
    }

    __aicore__ inline void Process(int64_t rows) {
        const int64_t share = (rows + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t first = share * AscendC::GetBlockIdx(), last = rows < first + share ? rows : first + share;
        if (columns_ > kTile) {
            for (int64_t row = first; row < last; ++row) {
                LongRow(row * columns_);
            }
        } else {
            ShortRows(first, last);
        }
    }

private:
    __aicore__ inline void ShortRows(int64_t first, int64_t last) {
        const uint32_t columns = columns_, stride = (columns + 15) / 16 * 16, fitting = kTile / stride;
        const auto scale = Load(scale_.template Get<float>(), gamma_[0], 1, columns, stride);
        for (int64_t row = first; row < last; row += fitting) {
            const uint32_t count = last - row < fitting ? last - row : fitting;
            const auto x = Load(wide_.template Get<float>(), x_[row * columns_], count, columns, stride);
            for (uint32_t line = 0; line < count; ++line) {
                const auto one = x[line * stride];
                AscendC::Muls(one, one, Factor(SquareSum(one, columns)), columns);
                AscendC::Mul(one, one, scale, columns);
            }
            Store(row * columns_, count, columns, stride);
        }
    }

    __aicore__ inline void LongRow(int64_t start) {
        float sum = 0.0f;
        for (int64_t done = 0; done < columns_; done += kTile) {
            const uint32_t count = Part(done);
            sum += SquareSum(Load(wide_.template Get<float>(), x_[start + done], 1, count, count), count);
        }
        const float factor = Factor(sum);
        for (int64_t done = 0; done < columns_; done += kTile) {
            const uint32_t count = Part(done);
            const auto x = Load(wide_.template Get<float>(), x_[start + done], 1, count, count);
            const auto scale = Load(scale_.template Get<float>(), gamma_[done], 1, count, count);
            AscendC::Muls(x, x, factor, count);
            AscendC::Mul(x, x, scale, count);
            Store(start + done, 1, count, count);
        }
    }

    __aicore__ inline uint32_t Part(int64_t done) const { return columns_ - done < kTile ? columns_ - done : kTile; }

    __aicore__ inline float SquareSum(const FloatTensor &x, uint32_t count) {
        auto squares = squares_.template Get<float>(), number = number_.template Get<float>();
        AscendC::Mul(squares, x, x, count);
        AscendC::ReduceSum(number, squares, reduceWork_.template Get<float>(), count);
        return number.GetValue(0);
    }

    __aicore__ inline float Factor(float squareSum) const { return 1.0f / std::sqrt(squareSum / columns_ + epsilon_); }

    /* `lines` rows of `count` elements, one after the other in global memory, into float32 lines of `stride` elements. */
    __aicore__ inline FloatTensor Load(const FloatTensor &wide, const AscendC::GlobalTensor<T> &from, uint32_t lines, uint32_t count, uint32_t stride) {
        auto x = in_.template AllocTensor<T>();
        const uint32_t bytes = count * sizeof(T), unused = (stride - count) * sizeof(T) / 32;
        AscendC::DataCopyPad(x, from, AscendC::DataCopyExtParams{static_cast<uint16_t>(lines), bytes, 0, unused, 0},
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
        auto loaded = in_.template DeQue<T>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(wide, loaded, 0.0f, lines * stride);
        } else {
            AscendC::Cast(wide, loaded, AscendC::RoundMode::CAST_NONE, lines * stride);
        }
        in_.FreeTensor(loaded);
        return wide;
    }

    __aicore__ inline void Store(int64_t start, uint32_t lines, uint32_t count, uint32_t stride) {
        auto wide = wide_.template Get<float>();
        auto y = out_.template AllocTensor<T>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(y, wide, 0.0f, lines * stride);
        } else {
            AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, lines * stride);
        }
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        const uint32_t bytes = count * sizeof(T), unused = (stride - count) * sizeof(T) / 32;
        AscendC::DataCopyPad(y_[start], stored, AscendC::DataCopyExtParams{static_cast<uint16_t>(lines), bytes, unused, 0, 0});
        out_.FreeTensor(stored);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> scale_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> squares_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> reduceWork_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> gamma_;
    AscendC::GlobalTensor<T> y_;
    int64_t columns_;
    float epsilon_;
};

template <typename T>
__global__ __aicore__ void rms_norm_kernel(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, int64_t rows, int64_t columns, float epsilon) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    RmsNormKernel<T> kernel;
    kernel.Init(x, gamma, y, columns, epsilon);
    kernel.Process(rows);
}

template <typename T>
static void LaunchTyped(const RmsNormTensors &tensors, float epsilon, void *stream) {
    const auto x = (GM_ADDR)tensors.x, gamma = (GM_ADDR)tensors.gamma, y = (GM_ADDR)tensors.y;
    rms_norm_kernel<T><<<baseline::VectorCores(), nullptr, stream>>>(x, gamma, y, tensors.rows, tensors.columns, epsilon);
}

void LaunchRmsNorm(baseline::ElementType type, const RmsNormTensors &tensors, float epsilon, void *stream) {
    if (type == baseline::ElementType::kFloat16) {
        LaunchTyped<half>(tensors, epsilon, stream);
    } else if (type == baseline::ElementType::kBfloat16) {
        LaunchTyped<bfloat16_t>(tensors, epsilon, stream);
    } else {
        LaunchTyped<float>(tensors, epsilon, stream);
    }
}
