/*
 * The table that all channels share: of each point where its voxels lie in the box and the shares of its neighbours. Every core forms a part of it; it lies in
 * the workspace, tile by tile, a tile being `kFields` arrays (one for nearest) of `tile` numbers.
 */
#ifndef REFERENCE_GRID_TABLE_H
#define REFERENCE_GRID_TABLE_H

#include "grid_box.h"

/* Byte offsets of the lower voxel in its plane and in the next one, then the shares of the lower and the upper neighbour of each axis. */
constexpr uint32_t kGridFields = 2 + 2 * kGridAxes;

struct GridTable {
    uint32_t tile;    // points per tile
    uint32_t tiles;   // of one batch
    uint32_t fields;  // arrays per tile
    int64_t points;   // of one batch

    __aicore__ inline uint32_t Count(uint32_t number) const {
        const int64_t left = points - static_cast<int64_t>(number) * tile;
        return left < tile ? left : tile;
    }
    __aicore__ inline int64_t Place(int64_t batch, uint32_t number) const { return (batch * tiles + number) * tile * fields; }

    /* The filled part of each array; only the numbers themselves, as nobody fills the rest. */
    __aicore__ inline AscendC::DataCopyExtParams Copied(uint32_t number, bool isStore) const {
        const uint32_t count = Count(number), bytes = count * sizeof(float), inside = (tile * sizeof(float) - bytes) / 32, outside = (tile - count) * sizeof(float);
        return {static_cast<uint16_t>(fields), bytes, isStore ? inside : outside, isStore ? outside : inside, 0};
    }
};

template <typename T>
class GridTableMaker {
public:
    __aicore__ inline void Make(const GridTensors &tensors, const GridBox &box, const GridTable &table) {
        box_ = box;
        table_ = table;
        depth_ = tensors.depth;
        isNearest_ = tensors.isNearest;
        hasOutside_ = tensors.padding == GridPadding::kZeros;
        points_.Init(pipe_, tensors, table.tile);
        pipe_.InitBuffer(out_, 2, table.fields * table.tile * sizeof(float));
        stored_.SetGlobalBuffer((__gm__ float *)tensors.workspace + kBoxBytes / sizeof(float));
        const auto share = common::ShareOf(tensors.batch * table.tiles);
        for (int64_t item = share.first; item < share.first + share.count; ++item) {
            const int64_t batch = item / table.tiles;
            const uint32_t number = item % table.tiles, count = table.Count(number);
            points_.Compute(batch * tensors.points + static_cast<int64_t>(number) * table.tile, count);
            auto made = out_.template AllocTensor<float>();
            Fill(made, count);
            out_.EnQue(made);
            auto stored = out_.template DeQue<float>();
            AscendC::DataCopyPad(stored_[table.Place(batch, number)], stored, table.Copied(number, true));
            out_.FreeTensor(stored);
        }
        AscendC::SyncAll();
        pipe_.Destroy();
    }

private:
    __aicore__ inline void Fill(const GridFloats &made, uint32_t count) {
        const auto place = made[table_.tile];  // the second offset's array, or what is free for nearest
        const auto spot = isNearest_ ? points_.Spare(1) : place;
        AscendC::Muls(spot, points_.Low(2), static_cast<float>(box_.plane), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Axpy(spot, points_.Low(1), static_cast<float>(box_.row), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(spot, spot, points_.Low(0), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(spot, spot, static_cast<float>(box_.Shift()), count);
        AscendC::PipeBarrier<PIPE_V>();
        if (isNearest_) {
            SetOffset(made, spot, points_.Valid(), count);
            return;
        }
        const auto inside = points_.Spare(0), lower = points_.Spare(1);
        AscendC::Maxs(lower, points_.Low(2), -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(lower, lower, 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(lower, lower, 1.0f, count);  // 0 for the plane before the volume
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(lower, lower, points_.Valid(), count);
        AscendC::PipeBarrier<PIPE_V>();
        SetOffset(made, spot, lower, count);
        AscendC::Adds(spot, spot, static_cast<float>(box_.plane), count);
        AscendC::Muls(inside, points_.Low(2), -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(inside, inside, static_cast<float>(depth_ - 1), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(inside, inside, 1.0f, count);  // 0 for the plane behind the volume
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(inside, inside, points_.Valid(), count);
        AscendC::PipeBarrier<PIPE_V>();
        SetOffset(place, spot, inside, count);
        SetShares(made, count);
    }

    /* Bytes from the buffer's start; the zeros after the lead where `inside` is 0. */
    __aicore__ inline void SetOffset(const GridFloats &made, const GridFloats &spot, const GridFloats &inside, uint32_t count) {
        AscendC::Mul(inside, inside, spot, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(inside, inside, static_cast<float>(box_.lead), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(inside, inside, static_cast<float>(sizeof(T)), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(made.template ReinterpretCast<int32_t>(), inside, AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void SetShares(const GridFloats &made, uint32_t count) {
        for (uint32_t axis = 0; axis < kGridAxes; ++axis) {
            const auto low = made[(2 + 2 * axis) * table_.tile], high = made[(3 + 2 * axis) * table_.tile];
            AscendC::Adds(high, points_.Share(axis), 0.0f, count);
            AscendC::Muls(low, points_.Share(axis), -1.0f, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Adds(low, low, 1.0f, count);
        }
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::GlobalTensor<float> stored_;
    GridPoints<T> points_;
    GridBox box_;
    GridTable table_;
    int64_t depth_;
    bool isNearest_;
    bool hasOutside_;
};

#endif  // REFERENCE_GRID_TABLE_H
