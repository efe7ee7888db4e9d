/*
 * y = e^(factor * x + offset) for float16, bfloat16 and float32, any number of elements.
 *
 * The operator is bound by memory: 2 or 4 bytes in and out per element against at most six vector instructions. So all that counts is that both DMA engines are
 * kept busy (element_kernel.h). The 16-bit types are computed in float32 and rounded once (float_map.h): exp multiplies the error of its argument by the
 * argument.
 */
#include "kernel_operator.h"

#include "../../../common/float_map.h"
#include "exp_launch.h"

/* A factor of 1 and an offset of 0 cost nothing. */
class ExpFormula {
public:
    static constexpr bool kKeepsX = false;
    static constexpr int64_t kBytesPerElement = 0;
    static constexpr int64_t kFixedBytes = 0;
    static constexpr int64_t kElementsPerLaunch = 2000;  // six vector cycles per 64 elements

    __aicore__ inline void Init(AscendC::TPipe &, uint32_t, float factor, float offset) {
        factor_ = factor;
        offset_ = offset;
    }

    __aicore__ inline void Evaluate(const common::FloatTensor &y, common::FloatTensor x, uint32_t count) {
        if (factor_ != 1.0f) {
            AscendC::Muls(y, x, factor_, count);
            AscendC::PipeBarrier<PIPE_V>();
            x = y;
        }
        if (offset_ != 0.0f) {
            AscendC::Adds(y, x, offset_, count);
            AscendC::PipeBarrier<PIPE_V>();
            x = y;
        }
        AscendC::Exp(y, x, count);
    }

private:
    float factor_;
    float offset_;
};

template <typename T>
using ExpBody = common::FloatMap<T, ExpFormula>;

template <typename T>
__global__ __aicore__ void exp_kernel(common::ElementTensors<ExpBody<T>> tensors, int64_t elements, common::Tiling tiling, float factor, float offset) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::ElementKernel<ExpBody<T>> kernel;
    kernel.Init(tensors, elements, tiling, factor, offset);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t elements, float factor, float offset, void *stream) {
    const common::ElementTensors<ExpBody<T>> tensors{{(GM_ADDR)x}, {(GM_ADDR)y}};
    const auto tiling = common::PlanTiling(elements, common::ElementTraits<ExpBody<T>>());
    exp_kernel<T><<<tiling.blocks, nullptr, stream>>>(tensors, elements, tiling, factor, offset);
}

void LaunchExp(common::ElementType type, void *x, void *y, int64_t elements, float factor, float offset, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(x, y, elements, factor, offset, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(x, y, elements, factor, offset, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(x, y, elements, factor, offset, stream);
    }
}
