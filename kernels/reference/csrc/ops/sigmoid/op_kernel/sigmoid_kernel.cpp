/*
 * y = 1 / (1 + exp(-x)) for float16, bfloat16 and float32, any number of elements.
 *
 * All terms of the denominator are positive, so nothing cancels, whatever the sign of x: the relative error is that of the exponential. Where exp(-x) overflows
 * the quotient is 0, and infinities and NaN come out as defined, without a branch. float32 is bound by memory, the 16-bit types by the vector unit: ten cycles
 * per 64 elements, and memory needs seven or eight.
 */
#include "kernel_operator.h"

#include "../../../common/float_map.h"
#include "../../../common/row_vector.h"
#include "sigmoid_launch.h"

class SigmoidFormula {
public:
    static constexpr bool kKeepsX = false;
    static constexpr int64_t kBytesPerElement = 0;
    static constexpr int64_t kFixedBytes = common::kBlockFloats * sizeof(float);
    static constexpr int64_t kElementsPerLaunch = 1300;  // ten vector cycles per 64 elements

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t) {
        pipe.InitBuffer(one_, kFixedBytes);
        AscendC::Duplicate(one_.Get<float>(), 1.0f, common::kBlockFloats);
    }

    __aicore__ inline void Evaluate(const common::FloatTensor &y, const common::FloatTensor &x, uint32_t count) {
        AscendC::Muls(y, x, -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(y, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(y, y, 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        common::Invert(y, one_.Get<float>(), count);
    }

private:
    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
};

template <typename T>
using SigmoidBody = common::FloatMap<T, SigmoidFormula>;

template <typename T>
__global__ __aicore__ void sigmoid_kernel(common::ElementTensors<SigmoidBody<T>> tensors, int64_t elements, common::Tiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::ElementKernel<SigmoidBody<T>> kernel;
    kernel.Init(tensors, elements, tiling);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t elements, void *stream) {
    const common::ElementTensors<SigmoidBody<T>> tensors{{(GM_ADDR)x}, {(GM_ADDR)y}};
    const auto tiling = common::PlanTiling(elements, common::ElementTraits<SigmoidBody<T>>());
    sigmoid_kernel<T><<<tiling.blocks, nullptr, stream>>>(tensors, elements, tiling);
}

void LaunchSigmoid(common::ElementType type, void *x, void *y, int64_t elements, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(x, y, elements, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(x, y, elements, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(x, y, elements, stream);
    }
}
