/*
 * The gate on rows whose halves are long: tiles of several whole rows, or of a piece of one.
 *
 * The two halves of a tile share one buffer and one flag. Two buffers in, two out, the next tile loaded before the current one is computed.
 * Limits: each half of a row is a transfer of its own; see swi_glu_lanes.h for short ones.
 */
#ifndef REFERENCE_SWI_GLU_ROWS_H
#define REFERENCE_SWI_GLU_ROWS_H

#include <type_traits>

#include "../../../common/shares.h"
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
        columns_ = tiling.columns;
        stride_ = tiling.stride;
        rowsPerTile_ = tiling.rowsPerTile;
        tile_ = (rowsPerTile_ > 0 ? rowsPerTile_ : 1) * stride_;
        const int64_t elements = tiling.rows * columns_;
        start_ = Boundary(tiling.flat, AscendC::GetBlockIdx(), elements);
        end_ = Boundary(tiling.flat, AscendC::GetBlockIdx() + 1, elements);
        x_.SetGlobalBuffer((__gm__ T *)x, 2 * tiling.rows * tiling.columns);
        y_.SetGlobalBuffer((__gm__ T *)y, tiling.rows * tiling.columns);
        if ((columns_ < stride_ ? columns_ : stride_) * sizeof(T) >= kBypassBytes) {
            x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        }
        pipe_.InitBuffer(in_, kBuffers, 2 * tile_ * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, tile_ * sizeof(T));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, 2 * tile_ * sizeof(float));
        }
    }

    __aicore__ inline void Process() {
        CopyIn(TileAt(start_));
        for (int64_t place = start_; place < end_;) {
            const Tile tile = TileAt(place), next = TileAt(place + tile.rows * int64_t{tile.length});
            CopyIn(next);
            Compute(tile.rows > 1 ? tile.rows * stride_ : tile.length);
            CopyOut(tile);
            place = next.place;
        }
    }

private:
    struct Tile {
        int64_t place;    // element of the output
        uint32_t rows;    // 0: none
        uint32_t length;  // columns of each
    };

    /* Where the share of a core begins; where rows go whole, at the next row. */
    __aicore__ inline int64_t Boundary(const common::Tiling &flat, int64_t block, int64_t elements) const {
        const int64_t place = common::StartOf(flat.shares, block) * flat.granule;
        const int64_t whole = rowsPerTile_ > 0 ? (place + columns_ - 1) / columns_ * columns_ : place;
        return whole < elements && block < flat.blocks ? whole : elements;
    }

    __aicore__ inline Tile TileAt(int64_t place) const {
        const int64_t left = end_ - place;
        if (left <= 0) {
            return {place, 0, 0};
        }
        if (rowsPerTile_ > 0) {
            const int64_t rows = left / columns_;
            return {place, static_cast<uint32_t>(rows < rowsPerTile_ ? rows : rowsPerTile_), static_cast<uint32_t>(columns_)};
        }
        const int64_t rest = columns_ - place % columns_, piece = rest < left ? rest : left;
        return {place, 1, static_cast<uint32_t>(piece < stride_ ? piece : stride_)};
    }

    __aicore__ inline void CopyIn(const Tile &tile) {
        if (tile.rows == 0) {
            return;
        }
        auto x = in_.template AllocTensor<T>();
        const int64_t from = tile.place / columns_ * columns_ + tile.place;  // each row before holds both halves
        const uint32_t bytes = tile.length * sizeof(T);
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(tile.rows), bytes, tile.rows > 1 ? bytes : 0, 0, 0};
        const AscendC::DataCopyPadExtParams<T> padding{false, 0, 0, 0};
        AscendC::DataCopyPad(x, x_[from], copied, padding);
        AscendC::DataCopyPad(x[tile_], x_[from + columns_], copied, padding);
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

    __aicore__ inline void CopyOut(const Tile &tile) {
        auto y = out_.template DeQue<T>();
        const uint32_t bytes = tile.length * sizeof(T);
        AscendC::DataCopyPad(y_[tile.place], y, AscendC::DataCopyExtParams{static_cast<uint16_t>(tile.rows), bytes, 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    int64_t columns_;
    int64_t start_;
    int64_t end_;
    uint32_t rowsPerTile_;
    uint32_t stride_;
    uint32_t tile_;
};

#endif  // REFERENCE_SWI_GLU_ROWS_H
