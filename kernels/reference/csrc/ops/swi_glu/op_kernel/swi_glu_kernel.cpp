/*
 * y = a * sigmoid(a) * b for the halves a and b of an axis, for float16, bfloat16 and float32.
 *
 * Problem: bound by memory, but the halves of a row lie apart, and short rows make many short transfers.
 * Approach: the input is rows of a and b, whatever the axis (the plugin folds the axes before it into rows, those behind it into the halves). A tile is
 * either several whole rows or a piece of one; see swi_glu_tiling.h. The two halves of a tile share one buffer and one flag. Two buffers in, two out, the
 * next tile loaded before the current one is computed; 16-bit types in float32, rounded once.
 * a / (1 + exp(-a)) needs no care for large numbers: exp(-a) = inf makes it 0 with the sign of a, a = -inf gives NaN as the definition does.
 * Limits: rows shorter than a block of 32 bytes still take one in the unified buffer, and a transfer of their own.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "swi_glu_launch.h"
#include "swi_glu_tiling.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T>
class SwiGlu {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* Unified buffer per element of the output: a, b and y in two buffers each, and two float32 numbers for the 16-bit types. */
    static constexpr int64_t kBytesPerElement = 3 * kBuffers * sizeof(T) + (kIsFloat ? 0 : 2 * sizeof(float));
    static constexpr int64_t kElementsPerLaunch = 1300;  // ten vector cycles per 64 elements
    static constexpr int64_t kBypassBytes = 4096;        // of a piece; shorter ones share bursts with their neighbours, which L2 has to keep

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SwiGluTiling &tiling) {
        tiling_ = tiling;
        tile_ = tiling.perTile * tiling.stride;
        x_.SetGlobalBuffer((__gm__ T *)x, 2 * tiling.rows * tiling.columns);
        y_.SetGlobalBuffer((__gm__ T *)y, tiling.rows * tiling.columns);
        if (tiling.piece * sizeof(T) >= kBypassBytes) {
            x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        }
        pipe_.InitBuffer(in_, kBuffers, 2 * tile_ * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, tile_ * sizeof(T));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, 2 * tile_ * sizeof(float));
        }
    }

    __aicore__ inline void Process() {
        const common::Share share = common::ShareOf(tiling_.rows * tiling_.pieces);
        const int64_t end = share.first + share.count;
        CopyIn(share.first, end);
        for (int64_t piece = share.first; piece < end; piece += tiling_.perTile) {
            CopyIn(piece + tiling_.perTile, end);
            const uint32_t pieces = PiecesAt(piece, end);
            Compute(tiling_.pieces > 1 ? LengthOf(piece) : pieces * tiling_.stride);
            CopyOut(piece, pieces);
        }
    }

private:
    __aicore__ inline uint32_t PiecesAt(int64_t piece, int64_t end) const { return end - piece < tiling_.perTile ? end - piece : tiling_.perTile; }

    __aicore__ inline int64_t ColumnOf(int64_t piece) const { return piece % tiling_.pieces * tiling_.piece; }

    __aicore__ inline uint32_t LengthOf(int64_t piece) const {
        const int64_t rest = tiling_.columns - ColumnOf(piece);
        return rest < tiling_.piece ? rest : tiling_.piece;
    }

    __aicore__ inline void CopyIn(int64_t piece, int64_t end) {
        if (piece >= end) {
            return;
        }
        auto x = in_.template AllocTensor<T>();
        const int64_t from = piece / tiling_.pieces * 2 * tiling_.columns + ColumnOf(piece);
        const uint32_t bytes = LengthOf(piece) * sizeof(T);
        const uint32_t gap = tiling_.columns * sizeof(T);  // only used between rows that are whole
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(PiecesAt(piece, end)), bytes, tiling_.perTile > 1 ? gap : 0, 0, 0};
        const AscendC::DataCopyPadExtParams<T> padding{false, 0, 0, 0};
        AscendC::DataCopyPad(x, x_[from], copied, padding);
        AscendC::DataCopyPad(x[tile_], x_[from + tiling_.columns], copied, padding);
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto x = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        if constexpr (kIsFloat) {
            Gate(y, x, count);
            AscendC::Mul(y, y, x[tile_], count);
        } else {
            const auto gated = wide_.template Get<float>(), wide = gated[tile_];
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            Gate(gated, wide, count);
            AscendC::Cast(wide, x[tile_], AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Mul(gated, gated, wide, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, gated, AscendC::RoundMode::CAST_RINT, count);
        }
        in_.FreeTensor(x);
        out_.EnQue(y);
    }

    /* gated = a / (1 + exp(-a)), another tensor than a. */
    __aicore__ inline void Gate(const FloatTensor &gated, const FloatTensor &a, uint32_t count) {
        AscendC::Muls(gated, a, -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(gated, gated, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(gated, gated, 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Div(gated, a, gated, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void CopyOut(int64_t piece, uint32_t pieces) {
        auto y = out_.template DeQue<T>();
        const uint32_t bytes = LengthOf(piece) * sizeof(T);
        const int64_t to = piece / tiling_.pieces * tiling_.columns + ColumnOf(piece);
        AscendC::DataCopyPad(y_[to], y, AscendC::DataCopyExtParams{static_cast<uint16_t>(pieces), bytes, 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    SwiGluTiling tiling_;
    uint32_t tile_;
};

template <typename T>
__global__ __aicore__ void swi_glu_kernel(GM_ADDR x, GM_ADDR y, SwiGluTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SwiGlu<T> kernel;
    kernel.Init(x, y, tiling);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t rows, int64_t columns, void *stream) {
    const auto tiling = PlanSwiGlu(rows, columns, {sizeof(T), SwiGlu<T>::kBytesPerElement, 0, SwiGlu<T>::kElementsPerLaunch});
    swi_glu_kernel<T><<<tiling.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, tiling);
}

void LaunchSwiGlu(common::ElementType type, void *x, void *y, int64_t rows, int64_t columns, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(x, y, rows, columns, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(x, y, rows, columns, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(x, y, rows, columns, stream);
    }
}
