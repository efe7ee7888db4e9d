/* y = max(x1, x2), broadcast, plain: int8 in half, bfloat16 in float32, int64 number by number. */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/broadcast_kernel.h"
#include "maximum_launch.h"

/* W is the type that Max takes for T. */
template <typename T, typename W>
class MaximumBody {
public:
    __aicore__ inline void Init(AscendC::TPipe &pipe) {
        pipe.InitBuffer(wideA_, baseline::kTileElements * sizeof(W));
        pipe.InitBuffer(wideB_, baseline::kTileElements * sizeof(W));
    }

    __aicore__ inline void Run(const AscendC::LocalTensor<T> &y, const AscendC::LocalTensor<T> &a, const AscendC::LocalTensor<T> &b, uint32_t count) {
        if constexpr (std::is_same_v<T, int64_t>) {
            for (uint32_t i = 0; i < count; ++i) {
                const int64_t first = a.GetValue(i), second = b.GetValue(i);
                y.SetValue(i, first > second ? first : second);
            }
        } else if constexpr (std::is_same_v<T, W>) {
            AscendC::Max(y, a, b, count);
        } else {
            const auto wideA = wideA_.template Get<W>(), wideB = wideB_.template Get<W>();
            AscendC::Cast(wideA, a, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(wideB, b, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Max(wideA, wideA, wideB, count);
            AscendC::Cast(y, wideA, AscendC::RoundMode::CAST_RINT, count);
        }
    }

private:
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideA_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideB_;
};

template <typename T, typename W>
__global__ __aicore__ void maximum_kernel(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, baseline::BroadcastRows rows) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    baseline::BroadcastKernel<T, MaximumBody<T, W>> kernel;
    kernel.Init(x1, x2, y, rows);
    kernel.Process();
}

template <typename T, typename W>
static void LaunchTyped(void *x1, void *x2, void *y, const baseline::BroadcastRows &rows, void *stream) {
    maximum_kernel<T, W><<<baseline::VectorCores(), nullptr, stream>>>((GM_ADDR)x1, (GM_ADDR)x2, (GM_ADDR)y, rows);
}

void LaunchMaximum(baseline::ScalarType type, void *x1, void *x2, void *y, const baseline::BroadcastRows &rows, void *stream) {
    switch (type) {
        case baseline::ScalarType::kFloat16:
            return LaunchTyped<half, half>(x1, x2, y, rows, stream);
        case baseline::ScalarType::kBfloat16:
            return LaunchTyped<bfloat16_t, float>(x1, x2, y, rows, stream);
        case baseline::ScalarType::kFloat32:
            return LaunchTyped<float, float>(x1, x2, y, rows, stream);
        case baseline::ScalarType::kInt8:
            return LaunchTyped<int8_t, half>(x1, x2, y, rows, stream);
        case baseline::ScalarType::kInt32:
            return LaunchTyped<int32_t, int32_t>(x1, x2, y, rows, stream);
        case baseline::ScalarType::kInt64:
            return LaunchTyped<int64_t, int64_t>(x1, x2, y, rows, stream);
        case baseline::ScalarType::kInt16:
            return;
    }
}
