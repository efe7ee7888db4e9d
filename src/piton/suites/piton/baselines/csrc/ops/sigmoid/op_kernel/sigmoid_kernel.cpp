/* y = 1 / (1 + exp(-x)), plain: every step of the formula is one instruction, in float32. */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "sigmoid_launch.h"

template <typename T>
class SigmoidKernel {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr uint32_t kTile = baseline::kTileElements;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int64_t elements) {
        const int64_t perBlock = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        x_.SetGlobalBuffer((__gm__ T *)x + start);
        y_.SetGlobalBuffer((__gm__ T *)y + start);
        pipe_.InitBuffer(in_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(wideX_, kTile * sizeof(float));
        pipe_.InitBuffer(wideY_, kTile * sizeof(float));
        pipe_.InitBuffer(one_, kTile * sizeof(float));
    }

    __aicore__ inline void Process() {
        for (int64_t start = 0; start < length_; start += kTile) {
            const uint32_t count = length_ - start < kTile ? length_ - start : kTile;
            CopyIn(start, count);
            Compute(count);
            CopyOut(start, count);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t start, uint32_t count) {
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(x, x_[start], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto x = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        if constexpr (std::is_same_v<T, float>) {
            Evaluate(y, x, count);
        } else {
            auto wideX = wideX_.template Get<float>();
            auto wideY = wideY_.template Get<float>();
            AscendC::Cast(wideX, x, AscendC::RoundMode::CAST_NONE, count);
            Evaluate(wideY, wideX, count);
            AscendC::Cast(y, wideY, AscendC::RoundMode::CAST_RINT, count);
        }
        out_.EnQue(y);
        in_.FreeTensor(x);
    }

    __aicore__ inline void Evaluate(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count) {
        auto one = one_.template Get<float>();
        AscendC::Duplicate(one, 1.0f, count);
        AscendC::Muls(y, x, -1.0f, count);
        AscendC::Exp(y, y, count);
        AscendC::Adds(y, y, 1.0f, count);
        AscendC::Div(y, one, y, count);
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[start], y, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideX_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideY_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    int64_t length_;
};

template <typename T>
__global__ __aicore__ void sigmoid_kernel(GM_ADDR x, GM_ADDR y, int64_t elements) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SigmoidKernel<T> kernel;
    kernel.Init(x, y, elements);
    kernel.Process();
}

void LaunchSigmoid(baseline::ElementType type, void *x, void *y, int64_t elements, void *stream) {
    const uint32_t blocks = baseline::VectorCores();
    if (type == baseline::ElementType::kFloat16) {
        sigmoid_kernel<half><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements);
    } else if (type == baseline::ElementType::kBfloat16) {
        sigmoid_kernel<bfloat16_t><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements);
    } else {
        sigmoid_kernel<float><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements);
    }
}
