/*
 * gelu, plain: every step of the formula is one instruction, in float32, with one polynomial for all types.
 *
 * "none": max(x, 0) - |x| q(|x|), q(a) = Phi(-a) = exp(R(a)) with R a minimax polynomial of degree 6 in b = min(|x| / 2, 4), so that negative x keep their
 * relative accuracy (2.9e-5); x / 2 + |x| / 2 stands for max(x, 0) since it makes NaN of -inf, as the definition does.
 * "tanh": x / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3).
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "gelu_launch.h"

template <typename T>
class GeluKernel {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr uint32_t kTile = baseline::kTileElements;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int64_t elements, bool isTanh) {
        const int64_t perBlock = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        isTanh_ = isTanh;
        x_.SetGlobalBuffer((__gm__ T *)x + start);
        y_.SetGlobalBuffer((__gm__ T *)y + start);
        pipe_.InitBuffer(in_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(wideX_, kTile * sizeof(float));
        pipe_.InitBuffer(wideY_, kTile * sizeof(float));
        pipe_.InitBuffer(half_, kTile * sizeof(float));
        pipe_.InitBuffer(power_, kTile * sizeof(float));
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
        if (isTanh_) {
            EvaluateTanh(y, x, count);
        } else {
            EvaluateExact(y, x, count);
        }
    }

    __aicore__ inline void EvaluateExact(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count) {
        constexpr float kTerms[] = {-2.8543524e-05f, -1.5949433f, -1.276805f, -0.28731757f, 0.082374126f, -0.014421544f};
        auto halfX = half_.template Get<float>();
        auto power = power_.template Get<float>();
        AscendC::Muls(halfX, x, 0.5f, count);
        AscendC::Abs(power, halfX, count);
        AscendC::Add(y, halfX, power, count);
        AscendC::Mins(halfX, power, 4.0f, count);
        AscendC::Duplicate(power, 0.0011285036f, count);
        for (int32_t term = 5; term >= 0; --term) {
            AscendC::Mul(power, power, halfX, count);
            AscendC::Adds(power, power, kTerms[term], count);
        }
        AscendC::Exp(power, power, count);
        AscendC::Mul(power, power, halfX, count);
        AscendC::Sub(y, y, power, count);
    }

    __aicore__ inline void EvaluateTanh(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count) {
        auto power = power_.template Get<float>();
        AscendC::Mul(power, x, x, count);
        AscendC::Muls(power, power, 0.044715f, count);
        AscendC::Adds(power, power, 1.0f, count);
        AscendC::Mul(power, power, x, count);
        AscendC::Muls(power, power, -1.5957691216f, count);
        AscendC::Exp(power, power, count);
        AscendC::Adds(power, power, 1.0f, count);
        AscendC::Div(y, x, power, count);
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
    AscendC::TBuf<AscendC::TPosition::VECCALC> half_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> power_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    int64_t length_;
    bool isTanh_;
};

template <typename T>
__global__ __aicore__ void gelu_kernel(GM_ADDR x, GM_ADDR y, int64_t elements, bool isTanh) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GeluKernel<T> kernel;
    kernel.Init(x, y, elements, isTanh);
    kernel.Process();
}

void LaunchGelu(baseline::ElementType type, void *x, void *y, int64_t elements, bool isTanh, void *stream) {
    const uint32_t blocks = baseline::VectorCores();
    if (type == baseline::ElementType::kFloat16) {
        gelu_kernel<half><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, isTanh);
    } else if (type == baseline::ElementType::kBfloat16) {
        gelu_kernel<bfloat16_t><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, isTanh);
    } else {
        gelu_kernel<float><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, isTanh);
    }
}
