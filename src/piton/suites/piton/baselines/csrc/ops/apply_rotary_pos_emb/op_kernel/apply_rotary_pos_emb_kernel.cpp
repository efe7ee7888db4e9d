/*
 * Rotary position embedding, plain: head by head. The two elements of pairs lie in two float32 tensors a and b: halves are loaded apart, neighbours are
 * gathered apart after the load and gathered together before the store.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "apply_rotary_pos_emb_launch.h"

template <typename T>
class RotaryKernel {
public:
    static constexpr uint32_t kMostPairs = baseline::kTileElements / 2;
    using Floats = AscendC::LocalTensor<float>;
    using Queue = AscendC::TQue<AscendC::TPosition::VECIN, 1>;

    __aicore__ inline void Init(const RotaryTensors &tensors) {
        tensors_ = tensors;
        pairs_ = tensors.pairs;
        stride_ = (pairs_ + 63) / 64 * 64;
        for (int32_t which = 0; which < 2; ++which) {
            x_[which].SetGlobalBuffer((__gm__ T *)tensors.x[which]);
            y_[which].SetGlobalBuffer((__gm__ T *)tensors.y[which]);
            angles_[which].SetGlobalBuffer((__gm__ T *)(which == 0 ? tensors.cos : tensors.sin));
            pipe_.InitBuffer(angle_[which], 1, kMostPairs * sizeof(T));
        }
        pipe_.InitBuffer(in_, 1, 2 * kMostPairs * sizeof(T) + 64);
        pipe_.InitBuffer(out_, 1, 2 * kMostPairs * sizeof(T) + 64);
        for (auto &buffer : buffers_) {
            pipe_.InitBuffer(buffer, 2 * (kMostPairs + 64) * sizeof(float));
        }
        FillOffsets();
    }

    __aicore__ inline void Process() {
        const int64_t all = tensors_.batches * tensors_.positions * tensors_.heads;
        const int64_t perBlock = (all + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum(), first = perBlock * AscendC::GetBlockIdx();
        for (int64_t head = first; head < first + perBlock && head < all; ++head) {
            LoadAngles(head);
            for (int32_t which = 0; which < 2; ++which) {
                CopyIn(which, head);
                Turn();
                CopyOut(which, head);
            }
        }
    }

private:
    enum Buffer { kX, kCos, kSin, kProducts, kResult, kApart, kTogether };

    __aicore__ inline Floats Get(Buffer buffer) { return buffers_[buffer].template Get<float>(); }

    /* Byte offsets of the first of each pair; and of place i in tensors a and b one behind the other. */
    __aicore__ inline void FillOffsets() {
        const auto apart = buffers_[kApart].template Get<int32_t>(), together = buffers_[kTogether].template Get<int32_t>();
        const auto half = buffers_[kX].template Get<int32_t>();
        AscendC::CreateVecIndex(apart, 0, pairs_);
        AscendC::Muls(apart, apart, static_cast<int32_t>(2 * sizeof(float)), pairs_);
        AscendC::CreateVecIndex(together, 0, 2 * pairs_);
        AscendC::ShiftRight(half, together, 1, 2 * pairs_);
        // 4 * half + (place - 2 * half) * bytes of a
        const int32_t bytes = stride_ * sizeof(float);
        AscendC::Muls(together, together, bytes, 2 * pairs_);
        AscendC::Muls(half, half, static_cast<int32_t>(sizeof(float)) - 2 * bytes, 2 * pairs_);
        AscendC::Add(together, together, half, 2 * pairs_);
    }

    __aicore__ inline void Load(Queue &queue, const AscendC::GlobalTensor<T> &from, uint32_t blocks, uint32_t count) {
        auto x = queue.template AllocTensor<T>();
        const AscendC::DataCopyExtParams shape{static_cast<uint16_t>(blocks), static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(x, from, shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        queue.EnQue(x);
    }

    __aicore__ inline void LoadAngles(int64_t head) {
        const int64_t rows = tensors_.positions * tensors_.heads, batch = head / rows, rest = head % rows;
        const int64_t position = tensors_.isHeadFirst ? rest % tensors_.positions : rest / tensors_.heads;
        for (int32_t which = 0; which < 2; ++which) {
            Load(angle_[which], angles_[which][((tensors_.isShared ? 0 : batch) * tensors_.positions + position) * pairs_], 1, pairs_);
            auto angle = angle_[which].template DeQue<T>();
            Widen(Get(which == 0 ? kCos : kSin), angle, pairs_);
            angle_[which].FreeTensor(angle);
        }
    }

    __aicore__ inline void Widen(const Floats &to, const AscendC::LocalTensor<T> &x, uint32_t count) {
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(to, x, 0.0f, count);
        } else {
            AscendC::Cast(to, x, AscendC::RoundMode::CAST_NONE, count);
        }
    }

    /* Elements from half to half of a load of two halves: each fills whole 32 bytes. */
    __aicore__ inline uint32_t Gap() const {
        constexpr uint32_t kBlock = 32 / sizeof(T);
        return (pairs_ + kBlock - 1) / kBlock * kBlock;
    }

    /* a at the beginning of the first tensor, b behind it. */
    __aicore__ inline void CopyIn(int32_t which, int64_t head) {
        const auto x = Get(kX);
        Load(in_, x_[which][head * 2 * pairs_], tensors_.isInterleaved ? 1 : 2, tensors_.isInterleaved ? 2 * pairs_ : pairs_);
        auto raw = in_.template DeQue<T>();
        if (tensors_.isInterleaved) {
            const auto apart = buffers_[kApart].template Get<uint32_t>();
            Widen(Get(kResult), raw, 2 * pairs_);
            AscendC::Gather(x, Get(kResult), apart, 0, pairs_);
            AscendC::Gather(x[stride_], Get(kResult), apart, sizeof(float), pairs_);
        } else {
            Widen(x, raw, pairs_);
            Widen(x[stride_], raw[Gap()], pairs_);
        }
        in_.FreeTensor(raw);
    }

    __aicore__ inline void Turn() {
        const auto a = Get(kX), b = a[stride_], cos = Get(kCos), sin = Get(kSin), result = Get(kResult), product = Get(kProducts);
        AscendC::Mul(result, a, cos, pairs_);
        AscendC::Mul(product, b, sin, pairs_);
        AscendC::Sub(result, result, product, pairs_);
        AscendC::Mul(result[stride_], b, cos, pairs_);
        AscendC::Mul(product, a, sin, pairs_);
        AscendC::Add(result[stride_], result[stride_], product, pairs_);
    }

    __aicore__ inline void Narrow(const AscendC::LocalTensor<T> &to, const Floats &x, uint32_t count) {
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(to, x, 0.0f, count);
        } else {
            AscendC::Cast(to, x, AscendC::RoundMode::CAST_RINT, count);
        }
    }

    __aicore__ inline void CopyOut(int32_t which, int64_t head) {
        auto y = out_.template AllocTensor<T>();
        if (tensors_.isInterleaved) {
            AscendC::Gather(Get(kX), Get(kResult), buffers_[kTogether].template Get<uint32_t>(), 0, 2 * pairs_);
            Narrow(y, Get(kX), 2 * pairs_);
        } else {
            Narrow(y, Get(kResult), pairs_);
            Narrow(y[Gap()], Get(kResult)[stride_], pairs_);
        }
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        const uint16_t blocks = tensors_.isInterleaved ? 1 : 2;
        AscendC::DataCopyPad(y_[which][head * 2 * pairs_], stored,
                             AscendC::DataCopyExtParams{blocks, static_cast<uint32_t>(2 * pairs_ / blocks * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(stored);
    }

    AscendC::TPipe pipe_;
    Queue in_;
    Queue angle_[2];
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffers_[7];
    AscendC::GlobalTensor<T> x_[2];
    AscendC::GlobalTensor<T> y_[2];
    AscendC::GlobalTensor<T> angles_[2];
    RotaryTensors tensors_;
    uint32_t pairs_;
    uint32_t stride_;  // floats from a to b
};

template <typename T>
__global__ __aicore__ void apply_rotary_pos_emb_kernel(RotaryTensors tensors) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    RotaryKernel<T> kernel;
    kernel.Init(tensors);
    kernel.Process();
}

void LaunchApplyRotaryPosEmb(baseline::ElementType type, const RotaryTensors &tensors, void *stream) {
    const uint32_t blocks = baseline::VectorCores();
    if (type == baseline::ElementType::kFloat16) {
        apply_rotary_pos_emb_kernel<half><<<blocks, nullptr, stream>>>(tensors);
    } else if (type == baseline::ElementType::kBfloat16) {
        apply_rotary_pos_emb_kernel<bfloat16_t><<<blocks, nullptr, stream>>>(tensors);
    } else {
        apply_rotary_pos_emb_kernel<float><<<blocks, nullptr, stream>>>(tensors);
    }
}
