/*
 * y = e^(factor * x + offset) for float16, bfloat16 and float32, any number of elements.
 *
 * The operator is bound by memory: 2 or 4 bytes in and out per element against at most six vector instructions. So the kernel keeps both DMA engines busy
 * (two buffers in, two out, the next load issued before the current tile is computed) and fills the unified buffer with as few, as large tiles as it can.
 * The 16-bit types are computed in float32 and rounded once: exp multiplies the error of its argument by the argument.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "exp_launch.h"

template <typename T>
class ExpKernel {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* Unified buffer per element of a tile: the queues' buffers, and a float32 copy for the 16-bit types. */
    static constexpr int64_t kBytesPerElement = 2 * kBuffers * sizeof(T) + (kIsFloat ? 0 : sizeof(float));
    static constexpr int64_t kElementsPerLaunch = 2000;  // six vector cycles per 64 elements

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int64_t elements, int64_t perBlock, uint32_t perTile, float factor, float offset) {
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        perTile_ = perTile;
        factor_ = factor;
        offset_ = offset;
        x_.SetGlobalBuffer((__gm__ T *)x + start, length_);
        y_.SetGlobalBuffer((__gm__ T *)y + start, length_);
        x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        pipe_.InitBuffer(in_, kBuffers, perTile * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, perTile * sizeof(T));
        if constexpr (!kIsFloat) {
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
        auto y = out_.template AllocTensor<T>();
        if constexpr (kIsFloat) {
            Evaluate(y, x, count);
        } else {
            auto work = work_.template Get<float>();
            AscendC::Cast(work, x, AscendC::RoundMode::CAST_NONE, count);
            Evaluate(work, work, count);
            AscendC::Cast(y, work, AscendC::RoundMode::CAST_RINT, count);
        }
        out_.EnQue(y);
        in_.FreeTensor(x);
    }

    /* y = e^(factor * x + offset); a factor of 1 and an offset of 0 cost nothing. x and y may be the same tensor. */
    __aicore__ inline void Evaluate(const AscendC::LocalTensor<float> &y, AscendC::LocalTensor<float> x, uint32_t count) {
        if (factor_ != 1.0f) {
            AscendC::Muls(y, x, factor_, count);
            x = y;
        }
        if (offset_ != 0.0f) {
            AscendC::Adds(y, x, offset_, count);
            x = y;
        }
        AscendC::Exp(y, x, count);
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
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    int64_t length_;
    uint32_t perTile_;
    float factor_;
    float offset_;
};

template <typename T>
__global__ __aicore__ void exp_kernel(GM_ADDR x, GM_ADDR y, int64_t elements, int64_t perBlock, uint32_t perTile, float factor, float offset) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    ExpKernel<T> kernel;
    kernel.Init(x, y, elements, perBlock, perTile, factor, offset);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t elements, float factor, float offset, void *stream) {
    const auto tiling = common::PlanTiling(elements, {sizeof(T), ExpKernel<T>::kBytesPerElement, 0, ExpKernel<T>::kElementsPerLaunch});
    exp_kernel<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, tiling.perBlock, tiling.perTile, factor, offset);
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
