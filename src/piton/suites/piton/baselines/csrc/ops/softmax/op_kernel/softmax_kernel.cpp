/*
 * softmax, plain: three passes (maximum, sum, result), every step of the formula is one instruction, in float32.
 *
 * Rows (the last axis): a row that fits into a tile is loaded once, as many as fit share the tile; a longer one is loaded in each pass. Lines (another axis):
 * 64 columns side by side, as many lines as fit into a tile, loaded in each pass.
 */
#include <limits>
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "softmax_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

constexpr uint32_t kTile = baseline::kTileElements;
constexpr uint32_t kColumns = 64;  // of a strip
constexpr uint32_t kLines = kTile / kColumns;

template <typename T>
class SoftmaxTiles {
public:
    static constexpr int32_t kBufferNum = 1;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y) {
        x_.SetGlobalBuffer((__gm__ T *)x);
        y_.SetGlobalBuffer((__gm__ T *)y);
        pipe_.InitBuffer(in_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(wide_, kTile * sizeof(float));
        pipe_.InitBuffer(reduceWork_, kTile * sizeof(float));
        pipe_.InitBuffer(number_, 32);
        pipe_.InitBuffer(most_, kColumns * sizeof(float));
        pipe_.InitBuffer(sum_, kColumns * sizeof(float));
    }

protected:
    /* `lines` pieces of `count` elements, `apart` elements between them in global memory, into float32 lines of `stride` elements. */
    __aicore__ inline FloatTensor Load(int64_t start, uint32_t lines, uint32_t count, int64_t apart, uint32_t stride) {
        auto x = in_.template AllocTensor<T>();
        const uint32_t bytes = count * sizeof(T), gap = apart * sizeof(T), unused = (stride - count) * sizeof(T) / 32;
        const AscendC::DataCopyExtParams shape{static_cast<uint16_t>(lines), bytes, gap, unused, 0};
        AscendC::DataCopyPad(x, x_[start], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
        auto loaded = in_.template DeQue<T>();
        auto wide = wide_.template Get<float>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(wide, loaded, 0.0f, lines * stride);
        } else {
            AscendC::Cast(wide, loaded, AscendC::RoundMode::CAST_NONE, lines * stride);
        }
        in_.FreeTensor(loaded);
        return wide;
    }

    __aicore__ inline void Store(int64_t start, uint32_t lines, uint32_t count, int64_t apart, uint32_t stride) {
        auto wide = wide_.template Get<float>();
        auto y = out_.template AllocTensor<T>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(y, wide, 0.0f, lines * stride);
        } else {
            AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, lines * stride);
        }
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        const uint32_t bytes = count * sizeof(T), gap = apart * sizeof(T), unused = (stride - count) * sizeof(T) / 32;
        AscendC::DataCopyPad(y_[start], stored, AscendC::DataCopyExtParams{static_cast<uint16_t>(lines), bytes, unused, gap, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline float Max(const FloatTensor &x, uint32_t count) {
        auto number = number_.template Get<float>();
        AscendC::ReduceMax(number, x, reduceWork_.template Get<float>(), count);
        return number.GetValue(0);
    }

    __aicore__ inline float Sum(const FloatTensor &x, uint32_t count) {
        auto number = number_.template Get<float>();
        AscendC::ReduceSum(number, x, reduceWork_.template Get<float>(), count);
        return number.GetValue(0);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> reduceWork_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> most_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sum_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
};

/* The share of this core: items first to last - 1 of `all`. */
struct Range {
    __aicore__ inline explicit Range(int64_t all) {
        const int64_t share = (all + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        first = share * AscendC::GetBlockIdx();
        last = all < first + share ? all : first + share;
    }
    int64_t first;
    int64_t last;
};

template <typename T>
class SoftmaxRows : public SoftmaxTiles<T> {
public:
    __aicore__ inline void Process(int64_t rows, int64_t columns) {
        const Range range(rows);
        if (columns > kTile) {
            for (int64_t row = range.first; row < range.last; ++row) {
                LongRow(row * columns, columns);
            }
            return;
        }
        const uint32_t stride = (columns + 15) / 16 * 16, fitting = kTile / stride;
        for (int64_t row = range.first; row < range.last; row += fitting) {
            const uint32_t count = range.last - row < fitting ? range.last - row : fitting;
            auto x = this->Load(row * columns, count, columns, 0, stride);
            for (uint32_t line = 0; line < count; ++line) {
                ShortRow(x[line * stride], columns);
            }
            this->Store(row * columns, count, columns, 0, stride);
        }
    }

private:
    __aicore__ inline void ShortRow(const FloatTensor &x, uint32_t columns) {
        AscendC::Adds(x, x, -this->Max(x, columns), columns);
        AscendC::Exp(x, x, columns);
        AscendC::Muls(x, x, 1.0f / this->Sum(x, columns), columns);
    }

    __aicore__ inline void LongRow(int64_t start, int64_t columns) {
        float most = -std::numeric_limits<float>::infinity(), sum = 0.0f;
        for (int64_t done = 0; done < columns; done += kTile) {
            const float now = this->Max(LoadPart(start, done, columns), Part(done, columns));
            most = now > most ? now : most;
        }
        for (int64_t done = 0; done < columns; done += kTile) {
            sum += this->Sum(Exponentials(start, done, columns, most), Part(done, columns));
        }
        for (int64_t done = 0; done < columns; done += kTile) {
            const uint32_t count = Part(done, columns);
            auto x = Exponentials(start, done, columns, most);
            AscendC::Muls(x, x, 1.0f / sum, count);
            this->Store(start + done, 1, count, 0, count);
        }
    }

    __aicore__ inline uint32_t Part(int64_t done, int64_t columns) const { return columns - done < kTile ? columns - done : kTile; }

    __aicore__ inline FloatTensor LoadPart(int64_t start, int64_t done, int64_t columns) {
        const uint32_t count = Part(done, columns);
        return this->Load(start + done, 1, count, 0, count);
    }

    __aicore__ inline FloatTensor Exponentials(int64_t start, int64_t done, int64_t columns, float most) {
        auto x = LoadPart(start, done, columns);
        AscendC::Adds(x, x, -most, Part(done, columns));
        AscendC::Exp(x, x, Part(done, columns));
        return x;
    }
};

template <typename T>
class SoftmaxLines : public SoftmaxTiles<T> {
public:
    __aicore__ inline void Process(int64_t outer, int64_t length, int64_t inner) {
        length_ = length;
        inner_ = inner;
        const int64_t perOuter = (inner + kColumns - 1) / kColumns;
        const Range range(outer * perOuter);
        for (int64_t strip = range.first; strip < range.last; ++strip) {
            const int64_t column = strip % perOuter * kColumns;
            start_ = strip / perOuter * length * inner + column;
            count_ = inner - column < kColumns ? inner - column : kColumns;
            Strip();
        }
    }

private:
    __aicore__ inline void Strip() {
        auto most = this->most_.template Get<float>(), sum = this->sum_.template Get<float>();
        AscendC::Duplicate(most, -std::numeric_limits<float>::infinity(), kColumns);
        AscendC::Duplicate(sum, 0.0f, kColumns);
        for (int64_t line = 0; line < length_; line += kLines) {
            auto x = LoadLines(line);
            for (uint32_t at = 0; at < Lines(line); ++at) {
                AscendC::Max(most, most, x[at * kColumns], count_);
            }
        }
        for (int64_t line = 0; line < length_; line += kLines) {
            auto x = Exponentials(line);
            for (uint32_t at = 0; at < Lines(line); ++at) {
                AscendC::Add(sum, sum, x[at * kColumns], count_);
            }
        }
        for (int64_t line = 0; line < length_; line += kLines) {
            auto x = Exponentials(line);
            for (uint32_t at = 0; at < Lines(line); ++at) {
                AscendC::Div(x[at * kColumns], x[at * kColumns], sum, count_);
            }
            this->Store(start_ + line * inner_, Lines(line), count_, inner_ - count_, kColumns);
        }
    }

    __aicore__ inline uint32_t Lines(int64_t line) const { return length_ - line < kLines ? length_ - line : kLines; }

    __aicore__ inline FloatTensor LoadLines(int64_t line) { return this->Load(start_ + line * inner_, Lines(line), count_, inner_ - count_, kColumns); }

    __aicore__ inline FloatTensor Exponentials(int64_t line) {
        auto x = LoadLines(line);
        for (uint32_t at = 0; at < Lines(line); ++at) {
            AscendC::Sub(x[at * kColumns], x[at * kColumns], this->most_.template Get<float>(), count_);
        }
        AscendC::Exp(x, x, Lines(line) * kColumns);
        return x;
    }

    int64_t length_;
    int64_t inner_;
    int64_t start_;
    uint32_t count_;
};

template <typename T>
__global__ __aicore__ void softmax_rows(GM_ADDR x, GM_ADDR y, int64_t rows, int64_t columns) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SoftmaxRows<T> kernel;
    kernel.Init(x, y);
    kernel.Process(rows, columns);
}

template <typename T>
__global__ __aicore__ void softmax_lines(GM_ADDR x, GM_ADDR y, int64_t outer, int64_t length, int64_t inner) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SoftmaxLines<T> kernel;
    kernel.Init(x, y);
    kernel.Process(outer, length, inner);
}

template <typename T>
static void LaunchTyped(void *x, void *y, const SoftmaxShape &shape, void *stream) {
    const uint32_t blocks = baseline::VectorCores();
    if (shape.inner == 1) {
        softmax_rows<T><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, shape.outer, shape.length);
    } else {
        softmax_lines<T><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, shape.outer, shape.length, shape.inner);
    }
}

void LaunchSoftmax(baseline::ElementType type, void *x, void *y, const SoftmaxShape &shape, void *stream) {
    if (type == baseline::ElementType::kFloat16) {
        LaunchTyped<half>(x, y, shape, stream);
    } else if (type == baseline::ElementType::kBfloat16) {
        LaunchTyped<bfloat16_t>(x, y, shape, stream);
    } else {
        LaunchTyped<float>(x, y, shape, stream);
    }
}
