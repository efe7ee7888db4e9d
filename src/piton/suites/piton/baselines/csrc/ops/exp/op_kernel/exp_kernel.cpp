/* y = e^(factor * x + offset), plain: every step of the formula is one instruction, in float32. */
#include "kernel_operator.h"

#include "../../../common/float_map.h"
#include "exp_launch.h"

class ExpFormula {
public:
    __aicore__ inline void Init(AscendC::TPipe &, float factor, float offset) {
        factor_ = factor;
        offset_ = offset;
    }

    __aicore__ inline void Evaluate(const AscendC::LocalTensor<float> &y, const AscendC::LocalTensor<float> &x, uint32_t count) {
        AscendC::Muls(y, x, factor_, count);
        AscendC::Adds(y, y, offset_, count);
        AscendC::Exp(y, y, count);
    }

private:
    float factor_;
    float offset_;
};

template <typename T>
__global__ __aicore__ void exp_kernel(GM_ADDR x, GM_ADDR y, int64_t elements, float factor, float offset) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    baseline::FloatMap<T, ExpFormula> kernel;
    kernel.Init(x, y, elements, factor, offset);
    kernel.Process();
}

void LaunchExp(baseline::ElementType type, void *x, void *y, int64_t elements, float factor, float offset, void *stream) {
    const uint32_t blocks = baseline::VectorCores();
    if (type == baseline::ElementType::kFloat16) {
        exp_kernel<half><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, factor, offset);
    } else if (type == baseline::ElementType::kBfloat16) {
        exp_kernel<bfloat16_t><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, factor, offset);
    } else {
        exp_kernel<float><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, factor, offset);
    }
}
