/*
 * The part of the volumes that points reach, and how it lies in the unified buffer.
 *
 * All cores look through their share of the points, put their extremes into the workspace, and read those of all. In the unified buffer the box has zeros
 * where voxels outside of the volume would be, so that a gather needs no mask: a zero row before each plane and after the last one, and at least one zero
 * behind each row, which is before the next row as well. Two zero rows at the beginning serve voxels of planes outside and points too far outside.
 */
#ifndef REFERENCE_GRID_BOX_H
#define REFERENCE_GRID_BOX_H

#include "../../../common/row_vector.h"
#include "grid_points.h"

constexpr uint32_t kBoxNumbers = 8;  // of a core in the workspace: three minima, three negated maxima, two unused
constexpr uint32_t kMostBoxCores = 64;
constexpr int64_t kBoxBytes = kMostBoxCores * kBoxNumbers * sizeof(float);

/* Voxels first to first + size of each axis, and their places in the unified buffer, in elements. */
struct GridBox {
    int32_t first[kGridAxes];
    int32_t size[kGridAxes];
    uint32_t lead;   // zeros before everything else
    uint32_t row;    // from row to row
    uint32_t plane;  // from plane to plane
    int64_t elements;

    /* Of voxel (w, h, d), less the lead, is w + h * row + d * plane + Shift(). */
    __aicore__ inline int64_t Shift() const {
        return static_cast<int64_t>(row) - first[0] + (1 - first[1]) * static_cast<int64_t>(row) - first[2] * static_cast<int64_t>(plane);
    }
};

__aicore__ inline GridBox BoxOf(const int32_t *first, const int32_t *size, uint32_t elementBytes) {
    GridBox box;
    for (uint32_t axis = 0; axis < kGridAxes; ++axis) {
        box.first[axis] = first[axis];
        box.size[axis] = size[axis];
    }
    box.lead = 32 / elementBytes;
    box.row = (size[0] / box.lead + 1) * box.lead;
    box.plane = (size[1] + 1) * box.row;
    box.elements = box.lead + 2 * static_cast<int64_t>(box.row) + static_cast<int64_t>(size[2]) * box.plane + box.lead;
    return box;
}

template <typename T>
class GridBoxSearch {
public:
    static constexpr uint32_t kTile = 1024;

    __aicore__ inline GridBox Find(const GridTensors &tensors, int64_t mostBytes) {
        const int32_t sizes[kGridAxes] = {static_cast<int32_t>(tensors.width), static_cast<int32_t>(tensors.height), static_cast<int32_t>(tensors.depth)};
        pipe_.InitBuffer(extremes_, (2 * kGridAxes + 1) * kTile * sizeof(float));
        pipe_.InitBuffer(exchange_, kBoxBytes);
        points_.Init(pipe_, tensors, kTile);
        shared_.SetGlobalBuffer((__gm__ float *)tensors.workspace, kMostBoxCores * kBoxNumbers);
        AscendC::Duplicate(Extreme(0), kFar, 2 * kGridAxes * kTile);
        AscendC::PipeBarrier<PIPE_V>();
        const auto share = common::ShareOf(tensors.batch * tensors.points);
        for (int64_t done = 0; done < share.count; done += kTile) {
            Add(share.first + done, share.count - done < kTile ? share.count - done : kTile);
        }
        Publish();
        AscendC::SyncAll();
        const auto box = Read(sizes, tensors.isNearest, mostBytes);
        pipe_.Destroy();
        return box;
    }

private:
    static constexpr float kFar = 1e9f;

    __aicore__ inline GridFloats Extreme(uint32_t number) { return extremes_.template Get<float>()[number * kTile]; }

    __aicore__ inline void Add(int64_t first, uint32_t count) {
        points_.Compute(first, count);
        const auto negative = Extreme(2 * kGridAxes);
        for (uint32_t axis = 0; axis < kGridAxes; ++axis) {
            AscendC::Min(Extreme(axis), Extreme(axis), points_.Low(axis), count);
            AscendC::Muls(negative, points_.Low(axis), -1.0f, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Min(Extreme(kGridAxes + axis), Extreme(kGridAxes + axis), negative, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* This core's extremes: each array halved until 64 numbers are left, these to one. */
    __aicore__ inline void Publish() {
        const auto mine = exchange_.template Get<float>();
        AscendC::Duplicate(mine, kFar, kBoxNumbers);
        for (uint32_t left = kTile / 2; left >= common::kSlice; left /= 2) {
            for (uint32_t number = 0; number < 2 * kGridAxes; ++number) {
                AscendC::Min(Extreme(number), Extreme(number), Extreme(number)[left], left);
            }
            AscendC::PipeBarrier<PIPE_V>();
        }
        AscendC::WholeReduceMin(mine, Extreme(0), common::kSlice, 2 * kGridAxes, 1, 1, kTile / common::kBlockFloats, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
        common::Await<AscendC::HardEvent::V_MTE3>();
        AscendC::DataCopy(shared_[AscendC::GetBlockIdx() * kBoxNumbers], mine, kBoxNumbers);
        common::Await<AscendC::HardEvent::MTE3_V>();
    }

    __aicore__ inline GridBox Read(const int32_t *sizes, bool isNearest, int64_t mostBytes) {
        const auto all = exchange_.template Get<float>();
        const uint32_t cores = AscendC::GetBlockNum();
        AscendC::Duplicate(all, kFar, kMostBoxCores * kBoxNumbers);
        common::Await<AscendC::HardEvent::V_MTE2>();
        AscendC::DataCopy(all, shared_, cores * kBoxNumbers);
        common::Await<AscendC::HardEvent::MTE2_V>();
        for (uint32_t left = kMostBoxCores / 2; left > 0; left /= 2) {
            AscendC::Min(all, all, all[left * kBoxNumbers], left * kBoxNumbers);
            AscendC::PipeBarrier<PIPE_V>();
        }
        common::Await<AscendC::HardEvent::V_S>();
        int32_t first[kGridAxes], size[kGridAxes];
        for (uint32_t axis = 0; axis < kGridAxes; ++axis) {
            const auto least = static_cast<int32_t>(all.GetValue(axis)), most = static_cast<int32_t>(-all.GetValue(kGridAxes + axis)) + (isNearest ? 0 : 1);
            first[axis] = least > 0 ? least : 0;
            size[axis] = (most < sizes[axis] - 1 ? most : sizes[axis] - 1) - first[axis] + 1;
        }
        return Widened(BoxOf(first, size, sizeof(T)), sizes[0], mostBytes);
    }

    /* Rows that lie one after another come in full bursts; parts of rows cost up to a burst each besides. */
    __aicore__ inline GridBox Widened(const GridBox &box, int32_t width, int64_t mostBytes) const {
        constexpr int32_t kBurstElements = 384 / sizeof(T);
        const int32_t first[kGridAxes] = {0, box.first[1], box.first[2]}, size[kGridAxes] = {width, box.size[1], box.size[2]};
        const auto whole = BoxOf(first, size, sizeof(T));
        return box.size[0] + kBurstElements >= width && whole.elements * static_cast<int64_t>(sizeof(T)) <= mostBytes ? whole : box;
    }

    AscendC::TPipe pipe_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> extremes_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> exchange_;
    AscendC::GlobalTensor<float> shared_;
    GridPoints<T> points_;
};

#endif  // REFERENCE_GRID_BOX_H
