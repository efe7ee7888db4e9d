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
        constexpr uint32_t kBlock = 32 / sizeof(T);
        gap_ = (pairs_ + kBlock - 1) / kBlock * kBlock;
        heads_ = tensors.isInterleaved ? 1 : kMostPairs / gap_;
        stride_ = kMostPairs;
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
        const int64_t end = first + perBlock < all ? first + perBlock : all;
        for (int64_t head = first; head < end; head += heads_) {
            now_ = end - head < heads_ ? end - head : heads_;
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

    /* The angles of each head's position, from one block of 32 bytes to another. */
    __aicore__ inline void LoadAngles(int64_t first) {
        const int64_t perBatch = tensors_.positions * tensors_.heads;
        const AscendC::DataCopyExtParams shape{1, static_cast<uint32_t>(pairs_ * sizeof(T)), 0, 0, 0};
        for (int32_t which = 0; which < 2; ++which) {
            auto angle = angle_[which].template AllocTensor<T>();
            for (uint32_t index = 0; index < now_; ++index) {
                const int64_t batch = tensors_.isShared ? 0 : (first + index) / perBatch, rest = (first + index) % perBatch;
                const int64_t position = tensors_.isHeadFirst ? rest % tensors_.positions : rest / tensors_.heads;
                AscendC::DataCopyPad(angle[index * gap_], angles_[which][(batch * tensors_.positions + position) * pairs_], shape,
                                     AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
            }
            angle_[which].EnQue(angle);
            auto loaded = angle_[which].template DeQue<T>();
            Widen(Get(which == 0 ? kCos : kSin), loaded, Count());
            angle_[which].FreeTensor(loaded);
        }
    }

    /* Pairs with what fills up their blocks. */
    __aicore__ inline uint32_t Count() const { return now_ * gap_; }

    __aicore__ inline void Widen(const Floats &to, const AscendC::LocalTensor<T> &x, uint32_t count) {
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(to, x, 0.0f, count);
        } else {
            AscendC::Cast(to, x, AscendC::RoundMode::CAST_NONE, count);
        }
    }

    /* a at the beginning of the first tensor, b behind it. */
    __aicore__ inline void CopyIn(int32_t which, int64_t head) {
        const auto x = Get(kX);
        const auto from = x_[which][head * 2 * pairs_];
        const AscendC::DataCopyPadExtParams<T> noPad{false, 0, 0, 0};
        const uint32_t bytes = pairs_ * sizeof(T);
        auto raw = in_.template AllocTensor<T>();
        if (tensors_.isInterleaved) {
            AscendC::DataCopyPad(raw, from, AscendC::DataCopyExtParams{1, 2 * bytes, 0, 0, 0}, noPad);
        } else {
            const AscendC::DataCopyExtParams halves{static_cast<uint16_t>(now_), bytes, bytes, 0, 0};
            AscendC::DataCopyPad(raw, from, halves, noPad);
            AscendC::DataCopyPad(raw[Count()], from[pairs_], halves, noPad);
        }
        in_.EnQue(raw);
        auto loaded = in_.template DeQue<T>();
        if (tensors_.isInterleaved) {
            const auto apart = buffers_[kApart].template Get<uint32_t>();
            Widen(Get(kResult), loaded, 2 * pairs_);
            AscendC::Gather(x, Get(kResult), apart, 0, pairs_);
            AscendC::Gather(x[stride_], Get(kResult), apart, sizeof(float), pairs_);
        } else {
            Widen(x, loaded, Count());
            Widen(x[stride_], loaded[Count()], Count());
        }
        in_.FreeTensor(loaded);
    }

    __aicore__ inline void Turn() {
        const auto a = Get(kX), b = a[stride_], cos = Get(kCos), sin = Get(kSin), result = Get(kResult), product = Get(kProducts);
        const uint32_t count = tensors_.isInterleaved ? pairs_ : Count();
        AscendC::Mul(result, a, cos, count);
        AscendC::Mul(product, b, sin, count);
        AscendC::Sub(result, result, product, count);
        AscendC::Mul(result[stride_], b, cos, count);
        AscendC::Mul(product, a, sin, count);
        AscendC::Add(result[stride_], result[stride_], product, count);
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
            Narrow(y, Get(kResult), Count());
            Narrow(y[Count()], Get(kResult)[stride_], Count());
        }
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        const auto to = y_[which][head * 2 * pairs_];
        const uint32_t bytes = pairs_ * sizeof(T);
        if (tensors_.isInterleaved) {
            AscendC::DataCopyPad(to, stored, AscendC::DataCopyExtParams{1, 2 * bytes, 0, 0, 0});
        } else {
            const AscendC::DataCopyExtParams halves{static_cast<uint16_t>(now_), bytes, 0, bytes, 0};
            AscendC::DataCopyPad(to, stored, halves);
            AscendC::DataCopyPad(to[pairs_], stored[Count()], halves);
        }
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
    uint32_t gap_;     // from one head's pairs to the next one's: whole 32 bytes
    uint32_t heads_;   // of a tile
    uint32_t now_;     // of the current one
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
