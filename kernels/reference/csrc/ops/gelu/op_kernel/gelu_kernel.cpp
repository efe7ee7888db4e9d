/*
 * gelu for float16, bfloat16 and float32, any number of elements, in both of torch's forms.
 *
 * The vector unit is the bound for "none" and for the 16-bit types, so what counts is the number of vector instructions (gelu_math.h) and what each costs:
 * a repeat takes one cycle, or two when both sources lie in the same bank group, that is when their addresses agree modulo 512. Hence the pad of 256 bytes:
 * x starts at a multiple of 512, y and the work tensor at an odd multiple of 256, and every binary instruction pairs x with one of them.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "gelu_launch.h"
#include "gelu_math.h"

template <typename T, bool kIsTanh>
class GeluKernel {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr uint32_t kPadBytes = 256;
    /* float32 tensors besides the queues' buffers: the polynomial's, and for the 16-bit types also x and y. */
    static constexpr int32_t kWorkTensors = (kIsTanh ? 0 : 1) + (kIsFloat ? 0 : 2);
    static constexpr int64_t kBytesPerElement = 2 * kBuffers * sizeof(T) + kWorkTensors * sizeof(float);
    static constexpr int64_t kElementsPerLaunch = kIsTanh ? 850 : 550;  // 15 and 24 vector cycles per 64 elements

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int64_t elements, int64_t perBlock, uint32_t perTile) {
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        perTile_ = perTile;
        x_.SetGlobalBuffer((__gm__ T *)x + start, length_);
        y_.SetGlobalBuffer((__gm__ T *)y + start, length_);
        x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        pipe_.InitBuffer(in_, kBuffers, perTile * sizeof(T));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(out_, kBuffers, perTile * sizeof(T));
            pipe_.InitBuffer(wideX_, perTile * sizeof(float));
        }
        pipe_.InitBuffer(pad_, kPadBytes);
        if constexpr (kIsFloat) {
            pipe_.InitBuffer(out_, kBuffers, perTile * sizeof(T));
        } else {
            pipe_.InitBuffer(wideY_, perTile * sizeof(float));
        }
        if constexpr (!kIsTanh) {
            pipe_.InitBuffer(work_, perTile * sizeof(float));
        }
    }

    __aicore__ inline void Process() {
        CopyIn(0);
        for (int64_t start = 0; start < length_; start += perTile_) {
            CopyIn(start + perTile_);
            Compute(start);
            CopyOut(start);
        }
    }

private:
    __aicore__ inline uint32_t TileLength(int64_t start) const { return length_ - start < perTile_ ? length_ - start : perTile_; }

    __aicore__ inline void CopyIn(int64_t start) {
        if (start >= length_) {
            return;
        }
        const uint32_t bytes = TileLength(start) * sizeof(T);
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[start], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(int64_t start) {
        const uint32_t count = TileLength(start);
        auto x = in_.template DeQue<T>();
        if constexpr (kIsFloat) {
            auto y = out_.template AllocTensor<T>();
            Evaluate(y, x, count);
            out_.EnQue(y);
            in_.FreeTensor(x);
        } else {
            auto wideX = wideX_.template Get<float>();
            auto wideY = wideY_.template Get<float>();
            AscendC::Cast(wideX, x, AscendC::RoundMode::CAST_NONE, count);
            in_.FreeTensor(x);
            Evaluate(wideY, wideX, count);
            auto y = out_.template AllocTensor<T>();
            AscendC::Cast(y, wideY, AscendC::RoundMode::CAST_RINT, count);
            out_.EnQue(y);
        }
    }

    __aicore__ inline void Evaluate(const FloatTensor &y, const FloatTensor &x, uint32_t count) {
        if constexpr (kIsTanh) {
            GeluTanh(y, x, count);
        } else {
            GeluExact<T>(y, x, work_.template Get<float>(), count);
        }
    }

    __aicore__ inline void CopyOut(int64_t start) {
        const uint32_t bytes = TileLength(start) * sizeof(T);
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[start], y, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideX_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideY_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    int64_t length_;
    uint32_t perTile_;
};

template <typename T, bool kIsTanh>
__global__ __aicore__ void gelu_kernel(GM_ADDR x, GM_ADDR y, int64_t elements, int64_t perBlock, uint32_t perTile) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GeluKernel<T, kIsTanh> kernel;
    kernel.Init(x, y, elements, perBlock, perTile);
    kernel.Process();
}

template <typename T, bool kIsTanh>
static void LaunchForm(void *x, void *y, int64_t elements, void *stream) {
    using Kernel = GeluKernel<T, kIsTanh>;
    const auto tiling = common::PlanTiling(elements, {sizeof(T), Kernel::kBytesPerElement, Kernel::kPadBytes, Kernel::kElementsPerLaunch});
    gelu_kernel<T, kIsTanh><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, tiling.perBlock, tiling.perTile);
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t elements, bool isTanh, void *stream) {
    if (isTanh) {
        LaunchForm<T, true>(x, y, elements, stream);
    } else {
        LaunchForm<T, false>(x, y, elements, stream);
    }
}

void LaunchGelu(common::ElementType type, void *x, void *y, int64_t elements, bool isTanh, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(x, y, elements, isTanh, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(x, y, elements, isTanh, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(x, y, elements, isTanh, stream);
    }
}
