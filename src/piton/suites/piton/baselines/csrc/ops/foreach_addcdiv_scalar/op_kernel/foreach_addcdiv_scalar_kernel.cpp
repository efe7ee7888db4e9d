/* y = x1 + x2 / x3 * factor, plain: one tensor per launch, every step of the formula one instruction, in float32. */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "foreach_addcdiv_scalar_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T>
class Addcdiv {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr int32_t kInputs = 3;
    static constexpr uint32_t kTile = baseline::kTileElements;

    __aicore__ inline void Init(GM_ADDR const (&inputs)[kInputs], GM_ADDR y, int64_t elements, float factor) {
        const int64_t perBlock = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        factor_ = factor;
        for (int32_t i = 0; i < kInputs; ++i) {
            x_[i].SetGlobalBuffer((__gm__ T *)inputs[i] + start);
            pipe_.InitBuffer(in_[i], kBufferNum, kTile * sizeof(T));
            pipe_.InitBuffer(wide_[i], kTile * sizeof(float));
        }
        y_.SetGlobalBuffer((__gm__ T *)y + start);
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
    }

    __aicore__ inline void Process() {
        for (int64_t start = 0; start < length_; start += kTile) {
            const uint32_t count = length_ - start < kTile ? length_ - start : kTile;
            for (int32_t i = 0; i < kInputs; ++i) {
                CopyIn(i, start, count);
            }
            Compute(count);
            CopyOut(start, count);
        }
    }

private:
    __aicore__ inline void CopyIn(int32_t input, int64_t start, uint32_t count) {
        auto x = in_[input].template AllocTensor<T>();
        AscendC::DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(x, x_[input][start], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_[input].EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto summand = in_[0].template DeQue<T>();
        auto dividend = in_[1].template DeQue<T>();
        auto divisor = in_[2].template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        if constexpr (std::is_same_v<T, float>) {
            Evaluate(y, summand, dividend, divisor, count);
        } else {
            const auto a = wide_[0].template Get<float>(), b = wide_[1].template Get<float>(), c = wide_[2].template Get<float>();
            AscendC::Cast(a, summand, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(b, dividend, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(c, divisor, AscendC::RoundMode::CAST_NONE, count);
            Evaluate(b, a, b, c, count);
            AscendC::Cast(y, b, AscendC::RoundMode::CAST_RINT, count);
        }
        out_.EnQue(y);
        in_[0].FreeTensor(summand);
        in_[1].FreeTensor(dividend);
        in_[2].FreeTensor(divisor);
    }

    __aicore__ inline void Evaluate(const FloatTensor &y, const FloatTensor &summand, const FloatTensor &dividend, const FloatTensor &divisor, uint32_t count) {
        AscendC::Div(y, dividend, divisor, count);
        AscendC::Muls(y, y, factor_, count);
        AscendC::Add(y, summand, y, count);
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[start], y, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_[kInputs];
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_[kInputs];
    AscendC::GlobalTensor<T> x_[kInputs];
    AscendC::GlobalTensor<T> y_;
    int64_t length_;
    float factor_;
};

template <typename T>
__global__ __aicore__ void addcdiv_scalar_kernel(GM_ADDR summand, GM_ADDR dividend, GM_ADDR divisor, GM_ADDR y, int64_t elements, float factor) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    Addcdiv<T> kernel;
    kernel.Init({summand, dividend, divisor}, y, elements, factor);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(const AddcdivAddresses &at, int64_t elements, float factor, void *stream) {
    addcdiv_scalar_kernel<T>
        <<<baseline::VectorCores(), nullptr, stream>>>((GM_ADDR)at.summand, (GM_ADDR)at.dividend, (GM_ADDR)at.divisor, (GM_ADDR)at.y, elements, factor);
}

void LaunchAddcdivScalar(baseline::ElementType type, const AddcdivAddresses &addresses, int64_t elements, float factor, void *stream) {
    if (type == baseline::ElementType::kFloat16) {
        LaunchTyped<half>(addresses, elements, factor, stream);
    } else if (type == baseline::ElementType::kBfloat16) {
        LaunchTyped<bfloat16_t>(addresses, elements, factor, stream);
    } else {
        LaunchTyped<float>(addresses, elements, factor, stream);
    }
}
