/* y = x * mask * scale, plain: both factors are widened to float32 whatever their types, in fixed tiles. */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "masked_scale_launch.h"

template <typename T, typename Mask>
class MaskedScale {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr uint32_t kTile = baseline::kTileElements;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR mask, GM_ADDR y, int64_t elements, float scale) {
        const int64_t perBlock = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        scale_ = scale;
        x_.SetGlobalBuffer((__gm__ T *)x + start);
        mask_.SetGlobalBuffer((__gm__ Mask *)mask + start);
        y_.SetGlobalBuffer((__gm__ T *)y + start);
        pipe_.InitBuffer(inX_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(inMask_, kBufferNum, kTile * sizeof(Mask));
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(halfMask_, kTile * sizeof(half));
        pipe_.InitBuffer(wideMask_, kTile * sizeof(float));
        pipe_.InitBuffer(wideX_, kTile * sizeof(float));
    }

    __aicore__ inline void Process() {
        for (int64_t start = 0; start < length_; start += kTile) {
            const uint32_t count = length_ - start < kTile ? length_ - start : kTile;
            CopyIn(start, count);
            Compute(count);
            CopyOut(start, count);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t start, uint32_t count) {
        auto x = inX_.template AllocTensor<T>();
        auto mask = inMask_.template AllocTensor<Mask>();
        AscendC::DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::DataCopyExtParams maskShape{1, static_cast<uint32_t>(count * sizeof(Mask)), 0, 0, 0};
        AscendC::DataCopyPad(x, x_[start], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        AscendC::DataCopyPad(mask, mask_[start], maskShape, AscendC::DataCopyPadExtParams<Mask>{false, 0, 0, 0});
        inX_.EnQue(x);
        inMask_.EnQue(mask);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto x = inX_.template DeQue<T>();
        auto mask = inMask_.template DeQue<Mask>();
        auto y = out_.template AllocTensor<T>();
        auto wideMask = Widened(mask, count);
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Mul(y, x, wideMask, count);
            AscendC::Muls(y, y, scale_, count);
        } else {
            auto wideX = wideX_.template Get<float>();
            AscendC::Cast(wideX, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Mul(wideX, wideX, wideMask, count);
            AscendC::Muls(wideX, wideX, scale_, count);
            AscendC::Cast(y, wideX, AscendC::RoundMode::CAST_RINT, count);
        }
        out_.EnQue(y);
        inX_.FreeTensor(x);
        inMask_.FreeTensor(mask);
    }

    /* 8-bit masks reach float32 by way of half. */
    __aicore__ inline AscendC::LocalTensor<float> Widened(const AscendC::LocalTensor<Mask> &mask, uint32_t count) {
        if constexpr (std::is_same_v<Mask, float>) {
            return mask;
        } else {
            auto wide = wideMask_.template Get<float>();
            if constexpr (sizeof(Mask) == 1) {
                auto halves = halfMask_.template Get<half>();
                AscendC::Cast(halves, mask, AscendC::RoundMode::CAST_NONE, count);
                AscendC::Cast(wide, halves, AscendC::RoundMode::CAST_NONE, count);
            } else {
                AscendC::Cast(wide, mask, AscendC::RoundMode::CAST_NONE, count);
            }
            return wide;
        }
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[start], y, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> inX_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> inMask_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> halfMask_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideMask_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideX_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<Mask> mask_;
    AscendC::GlobalTensor<T> y_;
    int64_t length_;
    float scale_;
};

template <typename T, typename Mask>
__global__ __aicore__ void masked_scale_kernel(GM_ADDR x, GM_ADDR mask, GM_ADDR y, int64_t elements, float scale) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    MaskedScale<T, Mask> kernel;
    kernel.Init(x, mask, y, elements, scale);
    kernel.Process();
}

template <typename T, typename Mask>
static void LaunchTyped(void *x, void *mask, void *y, int64_t elements, float scale, void *stream) {
    masked_scale_kernel<T, Mask><<<baseline::VectorCores(), nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)mask, (GM_ADDR)y, elements, scale);
}

template <typename T>
static void LaunchMasked(MaskType maskType, void *x, void *mask, void *y, int64_t elements, float scale, void *stream) {
    if (maskType == MaskType::kInt8) {
        LaunchTyped<T, int8_t>(x, mask, y, elements, scale, stream);
    } else if (maskType == MaskType::kUint8) {
        LaunchTyped<T, uint8_t>(x, mask, y, elements, scale, stream);
    } else if (maskType == MaskType::kFloat16) {
        LaunchTyped<T, half>(x, mask, y, elements, scale, stream);
    } else if (maskType == MaskType::kBfloat16) {
        LaunchTyped<T, bfloat16_t>(x, mask, y, elements, scale, stream);
    } else {
        LaunchTyped<T, float>(x, mask, y, elements, scale, stream);
    }
}

void LaunchMaskedScale(baseline::ElementType type, MaskType maskType, void *x, void *mask, void *y, int64_t elements, float scale, void *stream) {
    if (type == baseline::ElementType::kFloat16) {
        LaunchMasked<half>(maskType, x, mask, y, elements, scale, stream);
    } else if (type == baseline::ElementType::kBfloat16) {
        LaunchMasked<bfloat16_t>(maskType, x, mask, y, elements, scale, stream);
    } else {
        LaunchMasked<float>(maskType, x, mask, y, elements, scale, stream);
    }
}
