/*
 * The table that all channels share: of each point the shares of its neighbours and, for each slab of the box, where its voxels lie in it. Every core forms a
 * part of it; it lies in the workspace, tile by tile, a tile being some arrays of `tile` numbers.
 *
 * A box that does not fit into the unified buffer is cut into slabs along d that do. Neighbouring ones have a plane in common, so that both planes of a point
 * lie in one slab; in the others it is at the zeros.
 */
#ifndef REFERENCE_GRID_TABLE_H
#define REFERENCE_GRID_TABLE_H

#include "grid_box.h"

/* Shares of the lower and the upper neighbour of each axis, then, for each slab, byte offsets of the lower voxel in its plane and in the next one. */
constexpr uint32_t kGridShares = 2 * kGridAxes, kGridOffsets = 2;

struct GridTable {
    uint32_t tile;     // points per tile
    uint32_t tiles;    // of one batch
    uint32_t shares;   // arrays of shares; none for nearest
    uint32_t offsets;  // arrays of offsets per slab
    uint32_t slabs;
    uint32_t depth;  // planes from slab to slab
    int64_t points;  // of one batch

    __aicore__ inline uint32_t Count(uint32_t number) const {
        const int64_t left = points - static_cast<int64_t>(number) * tile;
        return left < tile ? left : tile;
    }
    __aicore__ inline int64_t Place(int64_t batch, uint32_t number) const { return (batch * tiles + number) * tile * (shares + slabs * offsets); }
    __aicore__ inline int64_t Place(int64_t batch, uint32_t number, uint32_t slab) const { return Place(batch, number) + (shares + slab * offsets) * tile; }

    /* The filled part of each array; only the numbers themselves, as nobody fills the rest. */
    __aicore__ inline AscendC::DataCopyExtParams Copied(uint32_t number, uint32_t arrays, bool isStore) const {
        const uint32_t count = Count(number), bytes = count * sizeof(float), inside = (tile * sizeof(float) - bytes) / 32,
                       outside = (tile - count) * sizeof(float);
        return {static_cast<uint16_t>(arrays), bytes, isStore ? inside : outside, isStore ? outside : inside, 0};
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
        points_.Init(pipe_, tensors, table.tile);
        pipe_.InitBuffer(out_, 2, (kGridShares > kGridOffsets ? kGridShares : kGridOffsets) * table.tile * sizeof(float));
        pipe_.InitBuffer(work_, 3 * table.tile * sizeof(float));
        stored_.SetGlobalBuffer((__gm__ float *)tensors.workspace + kBoxBytes / sizeof(float));
        const auto share = common::ShareOf(tensors.batch * table.tiles);
        for (int64_t item = share.first; item < share.first + share.count; ++item) {
            const int64_t batch = item / table.tiles;
            const uint32_t number = item % table.tiles, count = table.Count(number);
            points_.Compute(batch * tensors.points + static_cast<int64_t>(number) * table.tile, count);
            if (table.shares > 0) {
                auto shares = out_.template AllocTensor<float>();
                SetShares(shares, count);
                Store(shares, table.Place(batch, number), number, table.shares);
            }
            for (uint32_t slab = 0; slab < table.slabs; ++slab) {
                auto offsets = out_.template AllocTensor<float>();
                SetOffsets(offsets, slab, count);
                Store(offsets, table.Place(batch, number, slab), number, table.offsets);
            }
        }
        AscendC::SyncAll();
        pipe_.Destroy();
    }

private:
    __aicore__ inline void Store(AscendC::LocalTensor<float> &made, int64_t place, uint32_t number, uint32_t arrays) {
        out_.EnQue(made);
        auto stored = out_.template DeQue<float>();
        AscendC::DataCopyPad(stored_[place], stored, table_.Copied(number, arrays, true));
        out_.FreeTensor(stored);
    }

    __aicore__ inline GridFloats Work(uint32_t number) { return work_.template Get<float>()[number * table_.tile]; }

    /* x = least(most(x + added, 0), 1) for whole x: 1 from 1 - added on. */
    __aicore__ inline void Step(const GridFloats &to, const GridFloats &x, float added, uint32_t count) {
        AscendC::Adds(to, x, added, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Maxs(to, to, 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(to, to, 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void SetOffsets(const GridFloats &made, uint32_t slab, uint32_t count) {
        const auto spot = Work(0), inside = Work(1), plane = Work(2);
        const float first = static_cast<float>(box_.first[2] + static_cast<int32_t>(slab * table_.depth));
        // Whether the slab is the point's: the one that its lower voxel is in; the first one for a point below the volume.
        AscendC::Maxs(plane, points_.Low(2), static_cast<float>(box_.first[2]), count);
        AscendC::PipeBarrier<PIPE_V>();
        Step(inside, plane, 1.0f - first, count);
        AscendC::Mul(inside, inside, points_.Valid(), count);
        AscendC::Muls(plane, plane, -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        Step(plane, plane, first + static_cast<float>(table_.depth), count);
        AscendC::Mul(inside, inside, plane, count);
        AscendC::Muls(spot, points_.Low(2), static_cast<float>(box_.plane), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Axpy(spot, points_.Low(1), static_cast<float>(box_.row), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(spot, spot, points_.Low(0), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(spot, spot, static_cast<float>(box_.Shift() - static_cast<int64_t>(slab * table_.depth) * box_.plane), count);
        AscendC::PipeBarrier<PIPE_V>();
        if (isNearest_) {
            SetOffset(made, spot, inside, count);
            return;
        }
        Step(plane, points_.Low(2), 1.0f, count);  // 0 for the plane before the volume
        AscendC::Mul(plane, plane, inside, count);
        AscendC::PipeBarrier<PIPE_V>();
        SetOffset(made, spot, plane, count);
        AscendC::Adds(spot, spot, static_cast<float>(box_.plane), count);
        AscendC::Muls(plane, points_.Low(2), -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        Step(plane, plane, static_cast<float>(depth_ - 1), count);  // 0 for the plane behind the volume
        AscendC::Mul(plane, plane, inside, count);
        AscendC::PipeBarrier<PIPE_V>();
        SetOffset(made[table_.tile], spot, plane, count);
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
            const auto low = made[2 * axis * table_.tile], high = made[(2 * axis + 1) * table_.tile];
            AscendC::Adds(high, points_.Share(axis), 0.0f, count);
            AscendC::Muls(low, points_.Share(axis), -1.0f, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Adds(low, low, 1.0f, count);
        }
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::GlobalTensor<float> stored_;
    GridPoints<T> points_;
    GridBox box_;
    GridTable table_;
    int64_t depth_;
    bool isNearest_;
};

#endif  // REFERENCE_GRID_TABLE_H
