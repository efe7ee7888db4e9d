/*
 * gelu, plain: every step of the formula is one instruction, in float32, with one polynomial for all types.
 *
 * "none": max(x, 0) - |x| q(|x|), q(a) = Phi(-a) = exp(R(a)) with R a minimax polynomial of degree 6 in b = min(|x| / 2, 4), so that negative x keep their
 * relative accuracy (2.9e-5); x / 2 + |x| / 2 stands for max(x, 0) since it makes NaN of -inf, as the definition does.
 * "tanh": x / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3).
 */
#include "kernel_operator.h"

#include "../../../common/float_map.h"
#include "gelu_launch.h"

class GeluFormula {
public:
    __aicore__ inline void Init(AscendC::TPipe &pipe, bool isTanh) {
        isTanh_ = isTanh;
        pipe.InitBuffer(half_, baseline::kTileElements * sizeof(float));
        pipe.InitBuffer(power_, baseline::kTileElements * sizeof(float));
    }

    __aicore__ inline void Evaluate(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count) {
        if (isTanh_) {
            EvaluateTanh(y, x, count);
        } else {
            EvaluateExact(y, x, count);
        }
    }

private:
    __aicore__ inline void EvaluateExact(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count) {
        constexpr float kTerms[] = {-2.8543524e-05f, -1.5949433f, -1.276805f, -0.28731757f, 0.082374126f, -0.014421544f};
        auto halfX = half_.Get<float>();
        auto power = power_.Get<float>();
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
        auto power = power_.Get<float>();
        AscendC::Mul(power, x, x, count);
        AscendC::Muls(power, power, 0.044715f, count);
        AscendC::Adds(power, power, 1.0f, count);
        AscendC::Mul(power, power, x, count);
        AscendC::Muls(power, power, -1.5957691216f, count);
        AscendC::Exp(power, power, count);
        AscendC::Adds(power, power, 1.0f, count);
        AscendC::Div(y, x, power, count);
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> half_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> power_;
    bool isTanh_;
};

template <typename T>
__global__ __aicore__ void gelu_kernel(GM_ADDR x, GM_ADDR y, int64_t elements, bool isTanh) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    baseline::FloatMap<T, GeluFormula> kernel;
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
