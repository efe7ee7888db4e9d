/* y = 1 / (1 + exp(-x)), plain: every step of the formula is one instruction, in float32. */
#include "kernel_operator.h"

#include "../../../common/float_map.h"
#include "sigmoid_launch.h"

class SigmoidFormula {
public:
    __aicore__ inline void Init(AscendC::TPipe &pipe) { pipe.InitBuffer(one_, baseline::kTileElements * sizeof(float)); }

    __aicore__ inline void Evaluate(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count) {
        auto one = one_.Get<float>();
        AscendC::Duplicate(one, 1.0f, count);
        AscendC::Muls(y, x, -1.0f, count);
        AscendC::Exp(y, y, count);
        AscendC::Adds(y, y, 1.0f, count);
        AscendC::Div(y, one, y, count);
    }

private:
    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
};

template <typename T>
__global__ __aicore__ void sigmoid_kernel(GM_ADDR x, GM_ADDR y, int64_t elements) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    baseline::FloatMap<T, SigmoidFormula> kernel;
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
