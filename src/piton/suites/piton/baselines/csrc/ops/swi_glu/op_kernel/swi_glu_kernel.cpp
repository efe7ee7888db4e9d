/* y = a * sigmoid(a) * b for the halves a and b of each row, plain: a tile never goes past the end of its row, in float32. */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "swi_glu_launch.h"

template <typename T>
class SwiGlu {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr uint32_t kTile = baseline::kTileElements;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int64_t rows, int64_t columns) {
        const int64_t elements = rows * columns;
        const int64_t perBlock = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        start_ = perBlock * AscendC::GetBlockIdx();
        end_ = elements - start_ < perBlock ? elements : start_ + perBlock;
        columns_ = columns;
        x_.SetGlobalBuffer((__gm__ T *)x);
        y_.SetGlobalBuffer((__gm__ T *)y);
        pipe_.InitBuffer(inA_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(inB_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(wideA_, kTile * sizeof(float));
        pipe_.InitBuffer(wideB_, kTile * sizeof(float));
        pipe_.InitBuffer(gated_, kTile * sizeof(float));
    }

    __aicore__ inline void Process() {
        for (int64_t start = start_; start < end_;) {
            const int64_t row = start / columns_, column = start % columns_;
            const int64_t rest = columns_ - column < end_ - start ? columns_ - column : end_ - start;
            const uint32_t count = rest < kTile ? rest : kTile;
            CopyIn(row * 2 * columns_ + column, count);
            Compute(count);
            CopyOut(start, count);
            start += count;
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t from, uint32_t count) {
        auto a = inA_.template AllocTensor<T>();
        auto b = inB_.template AllocTensor<T>();
        AscendC::DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(a, x_[from], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        AscendC::DataCopyPad(b, x_[from + columns_], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        inA_.EnQue(a);
        inB_.EnQue(b);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto a = inA_.template DeQue<T>();
        auto b = inB_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        auto gated = gated_.template Get<float>();
        if constexpr (std::is_same_v<T, float>) {
            Gate(gated, a, count);
            AscendC::Mul(y, gated, b, count);
        } else {
            auto wideA = wideA_.template Get<float>();
            auto wideB = wideB_.template Get<float>();
            AscendC::Cast(wideA, a, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(wideB, b, AscendC::RoundMode::CAST_NONE, count);
            Gate(gated, wideA, count);
            AscendC::Mul(gated, gated, wideB, count);
            AscendC::Cast(y, gated, AscendC::RoundMode::CAST_RINT, count);
        }
        out_.EnQue(y);
        inA_.FreeTensor(a);
        inB_.FreeTensor(b);
    }

    /* gated = a / (1 + exp(-a)) */
    __aicore__ inline void Gate(const AscendC::LocalTensor<float> &gated, const AscendC::LocalTensor<float> &a, uint32_t count) {
        AscendC::Muls(gated, a, -1.0f, count);
        AscendC::Exp(gated, gated, count);
        AscendC::Adds(gated, gated, 1.0f, count);
        AscendC::Div(gated, a, gated, count);
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[start], y, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> inA_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> inB_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideA_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideB_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> gated_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    int64_t start_;
    int64_t end_;
    int64_t columns_;
};

template <typename T>
__global__ __aicore__ void swi_glu_kernel(GM_ADDR x, GM_ADDR y, int64_t rows, int64_t columns) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SwiGlu<T> kernel;
    kernel.Init(x, y, rows, columns);
    kernel.Process();
}

void LaunchSwiGlu(baseline::ElementType type, void *x, void *y, int64_t rows, int64_t columns, void *stream) {
    const uint32_t blocks = baseline::VectorCores();
    if (type == baseline::ElementType::kFloat16) {
        swi_glu_kernel<half><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, rows, columns);
    } else if (type == baseline::ElementType::kBfloat16) {
        swi_glu_kernel<bfloat16_t><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, rows, columns);
    } else {
        swi_glu_kernel<float><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, rows, columns);
    }
}
