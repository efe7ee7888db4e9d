/*
 * y = x tanh(ln(1 + exp(x))) for float16, bfloat16 and float32, any number of elements.
 *
 * Computed as x n / (n + 2) with n = w (w + 2), w = exp(x): the same without logarithm and tangent, and with positive terms only, so that nothing cancels and
 * negative x keep their relative accuracy. Beyond 20 the quotient is 1 in float32, so the exponential's argument is held there and n never overflows.
 * Infinities and NaN come out as the definition has them (-inf: infinity times 0).
 *
 * The 16-bit types need 13 vector cycles per 64 elements, more than memory needs for them (7 to 8): so no binary instruction may have a bank conflict. y is
 * paired with x and with the work tensor, which therefore both start at multiples of 512 bytes, y half of that off (float_map.h).
 */
#include "kernel_operator.h"

#include "../../../common/float_map.h"
#include "mish_launch.h"

class MishFormula {
public:
    static constexpr bool kKeepsX = true;
    static constexpr int64_t kBytesPerElement = sizeof(float);
    static constexpr int64_t kFixedBytes = common::kBankPadBytes;
    static constexpr int64_t kElementsPerLaunch = 1000;  // 13 vector cycles per 64 elements
    static constexpr float kLargest = 20.0f;             // e^-40 is far below half a unit in the last place of 1

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile) {
        pipe.InitBuffer(pad_, common::kBankPadBytes);
        pipe.InitBuffer(work_, perTile * sizeof(float));
    }

    __aicore__ inline void Evaluate(const common::FloatTensor &y, const common::FloatTensor &x, uint32_t count) {
        const auto work = work_.Get<float>();
        AscendC::Mins(y, x, kLargest, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(y, y, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(work, y, 2.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(y, y, work, count);  // n
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(work, y, 2.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Div(y, y, work, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(y, y, x, count);
    }

private:
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
};

template <typename T>
using MishBody = common::FloatMap<T, MishFormula>;

template <typename T>
__global__ __aicore__ void mish_kernel(common::ElementTensors<MishBody<T>> tensors, int64_t elements, common::Tiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::ElementKernel<MishBody<T>> kernel;
    kernel.Init(tensors, elements, tiling);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t elements, void *stream) {
    const common::ElementTensors<MishBody<T>> tensors{{(GM_ADDR)x}, {(GM_ADDR)y}};
    const auto tiling = common::PlanTiling(elements, common::ElementTraits<MishBody<T>>());
    mish_kernel<T><<<tiling.blocks, nullptr, stream>>>(tensors, elements, tiling);
}

void LaunchMish(common::ElementType type, void *x, void *y, int64_t elements, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(x, y, elements, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(x, y, elements, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(x, y, elements, stream);
    }
}
