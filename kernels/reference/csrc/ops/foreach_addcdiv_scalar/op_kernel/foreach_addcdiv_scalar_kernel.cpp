/*
 * y[i] = x1[i] + x2[i] / x3[i] * factor for every tensor i of a list, for float16, bfloat16 and float32.
 *
 * Problem: bound by memory (three tensors in, one out), and lists hold small tensors as well as large ones.
 * Approach: one launch for the whole list. Each core takes an equal piece of it, see list_tiles.h, and the tiles of all its tensors follow each other in
 * one pipeline: the next tile, also one of the next tensor, is loaded before the current one is computed. The three operands of a tile share one buffer and
 * one flag. 16-bit types in float32, rounded once: a quotient rounded to 16 bits before the sum would be too far off where the terms cancel. In float32,
 * where they nearly do, the sum is formed before the division (cancellation.h).
 * Limits: 32 tensors per launch.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/cancellation.h"
#include "../../../common/list_tiles.h"
#include "foreach_addcdiv_scalar_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T>
class ForeachAddcdiv {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr int32_t kOperands = 3;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr int64_t kWideTensors = kIsFloat ? 1 : 2;
    /* Unified buffer per element of a tile: the queues' buffers, and float32 numbers on the way. */
    static constexpr int64_t kBytesPerElement = kBuffers * (kOperands + 1) * sizeof(T) + kWideTensors * sizeof(float);
    /* Operands lie 256 bytes off from those before: sources of one instruction whose addresses agree modulo 512 take twice as long. */
    static constexpr uint32_t kPadBytes = 256;
    static constexpr int64_t kFixedBytes = (kBuffers * kOperands + kWideTensors) * kPadBytes + (kIsFloat ? common::kSelectBytes : 0);
    static constexpr int64_t kElementsPerLaunch = kIsFloat ? 600 : 1200;  // twenty and ten vector cycles per 64 elements

    __aicore__ inline ForeachAddcdiv(const AddcdivList &list, float factor) : list_(list), factor_(factor) {
        stride_ = list.perTile + kPadBytes / sizeof(T);
        pipe_.InitBuffer(in_, kBuffers, kOperands * stride_ * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, list.perTile * sizeof(T));
        pipe_.InitBuffer(wide_, kWideTensors * (list.perTile * sizeof(float) + kPadBytes));
    }

    __aicore__ inline void Process() {
        common::ListTiles<AddcdivList> tiles(list_);
        common::ListTile tile, next;
        bool isLeft = tiles.Next(tile);
        if (isLeft) {
            CopyIn(tile);
        }
        while (isLeft) {
            isLeft = tiles.Next(next);
            if (isLeft) {
                CopyIn(next);
            }
            Compute(tile.count);
            CopyOut(tile);
            tile = next;
        }
    }

private:
    __aicore__ inline AscendC::GlobalTensor<T> Operand(const common::ListTile &tile, int32_t index) const {
        AscendC::GlobalTensor<T> operand;
        operand.SetGlobalBuffer((__gm__ T *)list_.addresses[tile.tensor][index] + tile.first, tile.count);
        return operand;
    }

    __aicore__ inline void CopyIn(const common::ListTile &tile) {
        const uint32_t bytes = tile.count * sizeof(T);
        auto x = in_.template AllocTensor<T>();
        for (int32_t index = 0; index < kOperands; ++index) {
            auto source = Operand(tile, index);
            source.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
            AscendC::DataCopyPad(x[index * stride_], source, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        }
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto x = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        const auto wide = wide_.template Get<float>();
        AscendC::PipeBarrier<PIPE_V>();  // what the last tile left in the wide tensors has been read
        if constexpr (kIsFloat) {
            AscendC::Div(y, x[stride_], x[2 * stride_], count);
            AscendC::PipeBarrier<PIPE_V>();
            Finish(y, x, count);
            AscendC::Muls(x[stride_], x[stride_], factor_, count);
            AscendC::PipeBarrier<PIPE_V>();
            common::ReplaceCancelled(y, x, x[stride_], x[2 * stride_], wide, count);
        } else {
            const auto quotient = wide, other = wide[list_.perTile + kPadBytes / sizeof(float)];
            AscendC::Cast(quotient, x[stride_], AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(other, x[2 * stride_], AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Div(quotient, quotient, other, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(other, x, AscendC::RoundMode::CAST_NONE, count);
            Finish(quotient, other, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, quotient, AscendC::RoundMode::CAST_RINT, count);
        }
        in_.FreeTensor(x);
        out_.EnQue(y);
    }

    /* y = y * factor + summand */
    __aicore__ inline void Finish(const FloatTensor &y, const FloatTensor &summand, uint32_t count) {
        AscendC::Muls(y, y, factor_, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(y, y, summand, count);
    }

    __aicore__ inline void CopyOut(const common::ListTile &tile) {
        const uint32_t bytes = tile.count * sizeof(T);
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(Operand(tile, kOperands), y, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        out_.FreeTensor(y);
    }

    const AddcdivList &list_;
    float factor_;
    uint32_t stride_;
    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
};

template <typename T>
__global__ __aicore__ void foreach_addcdiv_scalar_kernel(AddcdivList list, float factor) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    ForeachAddcdiv<T> kernel(list, factor);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(AddcdivList list, float factor, void *stream) {
    using Kernel = ForeachAddcdiv<T>;
    const uint32_t blocks = common::PlanList(list, {sizeof(T), Kernel::kBytesPerElement, Kernel::kFixedBytes, Kernel::kElementsPerLaunch});
    foreach_addcdiv_scalar_kernel<T><<<blocks, nullptr, stream>>>(list, factor);
}

void LaunchForeachAddcdivScalar(common::ElementType type, AddcdivList list, float factor, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(list, factor, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(list, factor, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(list, factor, stream);
    }
}
