/* One step of AdamW, plain: the formula as it is written, one instruction per operation, in float32. */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "apply_adam_w_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T>
class AdamW {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr int32_t kInputs = 4;
    static constexpr uint32_t kTile = baseline::kTileElements;

    __aicore__ inline void Init(GM_ADDR const (&inputs)[kInputs], GM_ADDR y, int64_t elements, const AdamWParameters &parameters) {
        const int64_t perBlock = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        parameters_ = parameters;
        for (int32_t i = 0; i < kInputs; ++i) {
            x_[i].SetGlobalBuffer((__gm__ T *)inputs[i] + start);
            pipe_.InitBuffer(in_[i], kBufferNum, kTile * sizeof(T));
            pipe_.InitBuffer(wide_[i], kTile * sizeof(float));
        }
        y_.SetGlobalBuffer((__gm__ T *)y + start);
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(work_, kTile * sizeof(float));
    }

    __aicore__ inline void Process() {
        for (int64_t start = 0; start < length_; start += kTile) {
            const uint32_t count = length_ - start < kTile ? length_ - start : kTile;
            for (int32_t i = 0; i < kInputs; ++i) {
                CopyIn(i, start, count);
            }
            Compute(count);
            CopyOut(start, count);
        }
    }

private:
    __aicore__ inline void CopyIn(int32_t input, int64_t start, uint32_t count) {
        auto x = in_[input].template AllocTensor<T>();
        AscendC::DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(x, x_[input][start], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_[input].EnQue(x);
    }

    /* The input in float32, in a tensor that may be overwritten. */
    __aicore__ inline FloatTensor Widened(int32_t input, uint32_t count) {
        auto x = in_[input].template DeQue<T>();
        auto wide = wide_[input].template Get<float>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(wide, x, 0.0f, count);
        } else {
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, count);
        }
        in_[input].FreeTensor(x);
        return wide;
    }

    __aicore__ inline void Compute(uint32_t count) {
        const auto var = Widened(0, count), grad = Widened(1, count), m = Widened(2, count), v = Widened(3, count);
        const auto work = work_.template Get<float>();
        AscendC::Muls(m, m, parameters_.beta1, count);
        AscendC::Muls(work, grad, parameters_.oneLessBeta1, count);
        AscendC::Add(m, m, work, count);
        AscendC::Muls(m, m, parameters_.correction1, count);
        AscendC::Muls(v, v, parameters_.beta2, count);
        AscendC::Mul(work, grad, grad, count);
        AscendC::Muls(work, work, parameters_.oneLessBeta2, count);
        AscendC::Add(v, v, work, count);
        AscendC::Muls(v, v, parameters_.correction2, count);
        AscendC::Sqrt(v, v, count);
        AscendC::Adds(v, v, parameters_.epsilon, count);
        AscendC::Div(m, m, v, count);
        if (parameters_.decay != 0.0f) {
            AscendC::Muls(work, var, parameters_.decay, count);
            AscendC::Add(m, m, work, count);
        }
        AscendC::Muls(m, m, parameters_.rate, count);
        auto y = out_.template AllocTensor<T>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Add(y, var, m, count);
        } else {
            AscendC::Add(m, var, m, count);
            AscendC::Cast(y, m, AscendC::RoundMode::CAST_RINT, count);
        }
        out_.EnQue(y);
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[start], y, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_[kInputs];
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_[kInputs];
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::GlobalTensor<T> x_[kInputs];
    AscendC::GlobalTensor<T> y_;
    int64_t length_;
    AdamWParameters parameters_;
};

template <typename T>
__global__ __aicore__ void apply_adam_w_kernel(GM_ADDR var, GM_ADDR grad, GM_ADDR m, GM_ADDR v, GM_ADDR y, int64_t elements, AdamWParameters parameters) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    AdamW<T> kernel;
    kernel.Init({var, grad, m, v}, y, elements, parameters);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(const AdamWAddresses &at, int64_t elements, const AdamWParameters &parameters, void *stream) {
    apply_adam_w_kernel<T>
        <<<baseline::VectorCores(), nullptr, stream>>>((GM_ADDR)at.var, (GM_ADDR)at.grad, (GM_ADDR)at.m, (GM_ADDR)at.v, (GM_ADDR)at.y, elements, parameters);
}

void LaunchApplyAdamW(baseline::ElementType type, const AdamWAddresses &addresses, int64_t elements, const AdamWParameters &parameters, void *stream) {
    if (type == baseline::ElementType::kFloat16) {
        LaunchTyped<half>(addresses, elements, parameters, stream);
    } else if (type == baseline::ElementType::kBfloat16) {
        LaunchTyped<bfloat16_t>(addresses, elements, parameters, stream);
    } else {
        LaunchTyped<float>(addresses, elements, parameters, stream);
    }
}
