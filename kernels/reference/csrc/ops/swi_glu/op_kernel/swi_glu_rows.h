/*
 * The gate on rows whose halves are long: tiles of several whole rows, or of a piece of one.
 *
 * The two halves of a tile share one buffer and one flag. Two buffers in, two out, the next tile loaded before the current one is computed.
 * Limits: each half of a row is a transfer of its own; see swi_glu_lanes.h for short ones.
 */
#ifndef REFERENCE_SWI_GLU_ROWS_H
#define REFERENCE_SWI_GLU_ROWS_H

#include <type_traits>

#include "../../../common/row_vector.h"
#include "swi_glu_gate.h"
#include "swi_glu_tiling.h"

template <typename T>
class SwiGluRows {
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
            const auto gated = wide_.template Get<float>();
            AscendC::PipeBarrier<PIPE_V>();  // the last tile has been rounded
            GateWidened(y, x, x[tile_], gated, gated[tile_], count);
        }
        in_.FreeTensor(x);
        out_.EnQue(y);
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

#endif  // REFERENCE_SWI_GLU_ROWS_H
