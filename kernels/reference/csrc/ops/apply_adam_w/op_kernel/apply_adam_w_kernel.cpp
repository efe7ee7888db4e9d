/*
 * One step of AdamW for float16, bfloat16 and float32, any number of elements.
 *
 * Problem: four tensors in, one out, some fifteen instructions per element: bound by memory as long as the arithmetic stays short and overlaps.
 * Approach: what does not depend on the element is folded on the host in double (the plugin): step size, sign and the corrections for the moments' start at 0
 * all become factors, so that moments are never corrected on their own. The input tiles serve as work space. The shared frame of elementwise kernels
 * (element_kernel.h) does the rest; 16-bit types are computed in float32 and rounded once. In float32, where parameters and step nearly cancel, the sum is
 * formed before the division (cancellation.h).
 * Limits: the decay is added to var as a product of its own, not as var * (1 - lr * decay), since an infinite var has to become NaN.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/cancellation.h"
#include "../../../common/element_kernel.h"
#include "apply_adam_w_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T>
class AdamW {
public:
    using Inputs = common::Types<T, T, T, T>;
    using Outputs = common::Types<T>;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr int64_t kBytesPerElement = kIsFloat ? 0 : 3 * sizeof(float);
    static constexpr int64_t kFixedBytes = kIsFloat ? common::kSelectBytes : 2 * common::kBankPadBytes;
    static constexpr int64_t kElementsPerLaunch = kIsFloat ? 350 : 500;  // thirty and twenty-two vector cycles per 64 elements

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile, AdamWFactors factors) {
        factors_ = factors;
        if constexpr (!kIsFloat) {
            pipe.InitBuffer(gradient_, perTile * sizeof(float) + common::kBankPadBytes);
            pipe.InitBuffer(first_, perTile * sizeof(float) + common::kBankPadBytes);
            pipe.InitBuffer(second_, perTile * sizeof(float));
        }
    }

    template <typename In, typename Out>
    __aicore__ inline void Run(In &in, Out &out, uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();  // the last tile's wide tensors have been read
        if constexpr (kIsFloat) {
            RunFloats(in, out, count);
        } else {
            RunWidened(in, out, count);
        }
    }

private:
    template <typename In, typename Out>
    __aicore__ inline void RunFloats(In &in, Out &out, uint32_t count) {
        auto y = out.template Make<0>();
        auto gradient = in.template Take<1>();
        auto v = in.template Take<3>();
        Spread(v, y, gradient, count);
        auto m = in.template Take<2>();
        First(m, gradient, count);
        AscendC::Div(y, m, v, count);
        auto var = in.template Take<0>();
        Decay(var, gradient, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(y, y, var, count);
        AscendC::PipeBarrier<PIPE_V>();
        common::ReplaceCancelled(y, var, m, v, gradient, count);
        in.template Free<1>(gradient);
        in.template Free<3>(v);
        in.template Free<2>(m);
        in.template Free<0>(var);
        out.template Put<0>(y);
    }

    template <typename In, typename Out>
    __aicore__ inline void RunWidened(In &in, Out &out, uint32_t count) {
        const auto gradient = gradient_.template Get<float>(), first = first_.template Get<float>(), second = second_.template Get<float>();
        Widen<1>(gradient, in, count);
        Widen<3>(second, in, count);
        Spread(second, first, gradient, count);
        Widen<2>(first, in, count);
        First(first, gradient, count);
        AscendC::Div(first, first, second, count);
        Widen<0>(gradient, in, count);
        Decay(gradient, second, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(first, first, gradient, count);
        auto y = out.template Make<0>();
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(y, first, AscendC::RoundMode::CAST_RINT, count);
        out.template Put<0>(y);
    }

    template <int32_t kIndex, typename In>
    __aicore__ inline void Widen(const FloatTensor &wide, In &in, uint32_t count) {
        auto x = in.template Take<kIndex>();
        AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        in.template Free<kIndex>(x);
    }

    /* v = sqrt(corrected second moment) + epsilon */
    __aicore__ inline void Spread(const FloatTensor &v, const FloatTensor &work, const FloatTensor &gradient, uint32_t count) {
        AscendC::Mul(work, gradient, gradient, count);
        AscendC::Muls(v, v, factors_.secondFromV, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Axpy(v, work, factors_.secondFromGrad, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sqrt(v, v, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(v, v, factors_.epsilon, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* m = corrected first moment, times the signed step size */
    __aicore__ inline void First(const FloatTensor &m, const FloatTensor &gradient, uint32_t count) {
        AscendC::Muls(m, m, factors_.firstFromM, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Axpy(m, gradient, factors_.firstFromGrad, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* var = var + decay * var; work is overwritten */
    __aicore__ inline void Decay(const FloatTensor &var, const FloatTensor &work, uint32_t count) {
        if (factors_.decay == 0.0f) {
            return;
        }
        AscendC::Muls(work, var, factors_.decay, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(var, var, work, count);
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> gradient_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> first_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> second_;
    AdamWFactors factors_;
};

template <typename T>
__global__ __aicore__ void apply_adam_w_kernel(common::ElementTensors<AdamW<T>> tensors, int64_t elements, common::Tiling tiling, AdamWFactors factors) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    common::ElementKernel<AdamW<T>> kernel;
    kernel.Init(tensors, elements, tiling, factors);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(const AdamWAddresses &at, int64_t elements, const AdamWFactors &factors, void *stream) {
    const auto tiling = common::PlanTiling(elements, common::ElementTraits<AdamW<T>>());
    const common::ElementTensors<AdamW<T>> tensors{{(GM_ADDR)at.var, (GM_ADDR)at.grad, (GM_ADDR)at.m, (GM_ADDR)at.v}, {(GM_ADDR)at.y}};
    apply_adam_w_kernel<T><<<tiling.blocks, nullptr, stream>>>(tensors, elements, tiling, factors);
}

void LaunchApplyAdamW(common::ElementType type, const AdamWAddresses &addresses, int64_t elements, const AdamWFactors &factors, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(addresses, elements, factors, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(addresses, elements, factors, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(addresses, elements, factors, stream);
    }
}
