/*
 * y = x tanh(ln(1 + exp(x))), plain: every step of the formula is one instruction, in float32.
 *
 * Without logarithm and tangent: x n / (n + 2), n = w (w + 2), w = exp(min(x, 20)); 1 + w loses the digits of a small w, and beyond 20 the quotient is 1.
 */
#include "kernel_operator.h"

#include "../../../common/float_map.h"
#include "mish_launch.h"

class MishFormula {
public:
    __aicore__ inline void Init(AscendC::TPipe &pipe) {
        pipe.InitBuffer(square_, baseline::kTileElements * sizeof(float));
        pipe.InitBuffer(power_, baseline::kTileElements * sizeof(float));
    }

    __aicore__ inline void Evaluate(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count) {
        auto power = power_.Get<float>();
        auto square = square_.Get<float>();
        AscendC::Mins(power, x, 20.0f, count);
        AscendC::Exp(power, power, count);
        AscendC::Adds(square, power, 2.0f, count);
        AscendC::Mul(power, power, square, count);
        AscendC::Adds(square, power, 2.0f, count);
        AscendC::Div(power, power, square, count);
        AscendC::Mul(y, x, power, count);
    }

private:
    AscendC::TBuf<AscendC::TPosition::VECCALC> square_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> power_;
};

template <typename T>
__global__ __aicore__ void mish_kernel(GM_ADDR x, GM_ADDR y, int64_t elements) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    baseline::FloatMap<T, MishFormula> kernel;
    kernel.Init(x, y, elements);
    kernel.Process();
}

void LaunchMish(baseline::ElementType type, void *x, void *y, int64_t elements, void *stream) {
    const uint32_t blocks = baseline::VectorCores();
    if (type == baseline::ElementType::kFloat16) {
        mish_kernel<half><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements);
    } else if (type == baseline::ElementType::kBfloat16) {
        mish_kernel<bfloat16_t><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements);
    } else {
        mish_kernel<float><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements);
    }
}
