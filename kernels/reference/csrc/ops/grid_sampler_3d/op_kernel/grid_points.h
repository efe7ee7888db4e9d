/*
 * Points of a grid as positions in voxels: for each axis the lower voxel (the nearest one) and the share of the upper one, in float32, 64 points at a time.
 *
 * With zeros outside, the weight of the last voxel of an axis goes to 0 half a voxel (one voxel with aligned corners) beyond it, and the result with it: there
 * a position among hundreds of voxels, rounded to float32, would leave few right digits. So the way from the nearer end of the axis is formed first, which is
 * exact but for one rounding of its own size, and the share is made of it and not of the position.
 *
 * Lower voxels are whole numbers in float32, exact below 2^24. For zeros outside, `valid` is 0 for a point none of whose voxels lies in the volume, else 1, and
 * its lower voxels are moved next to the volume, so that all numbers stay small. Axes are w, h, d, as in the grid.
 */
#ifndef REFERENCE_GRID_POINTS_H
#define REFERENCE_GRID_POINTS_H

#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/await.h"
#include "grid_sampler_3d_launch.h"

using GridFloats = AscendC::LocalTensor<float>;

constexpr uint32_t kGridAxes = 3;

template <typename T>
class GridPoints {
public:
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr int64_t kBytesPerPoint = kGridAxes * sizeof(T) + (2 * kGridAxes + 5) * sizeof(float) + (kIsFloat ? 0 : sizeof(T));

    __aicore__ inline void Init(AscendC::TPipe &pipe, const GridTensors &tensors, uint32_t most) {
        most_ = most;
        padding_ = tensors.padding;
        isNearest_ = tensors.isNearest;
        isAligned_ = tensors.isAligned;
        sizes_[0] = tensors.width;
        sizes_[1] = tensors.height;
        sizes_[2] = tensors.depth;
        grid_.SetGlobalBuffer((__gm__ T *)tensors.grid, tensors.batch * tensors.points * kGridAxes);
        pipe.InitBuffer(raw_, 1, most * kGridAxes * sizeof(T));
        pipe.InitBuffer(kept_, (2 * kGridAxes + 5) * most * sizeof(float));
        if constexpr (!kIsFloat) {
            pipe.InitBuffer(narrow_, most * sizeof(T));
        }
        const auto places = Kept(2 * kGridAxes).template ReinterpretCast<int32_t>();
        AscendC::CreateVecIndex(places, 0, most);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(places, places, static_cast<int32_t>(kGridAxes * sizeof(T)), most);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline GridFloats Low(uint32_t axis) { return Kept(axis); }
    __aicore__ inline GridFloats Share(uint32_t axis) { return Kept(kGridAxes + axis); }
    __aicore__ inline GridFloats Valid() { return Kept(2 * kGridAxes + 1); }
    __aicore__ inline GridFloats Spare(uint32_t number) { return Kept(2 * kGridAxes + 3 + number); }  // two, free after Compute

    /* Positions of `count` points from `first` on, counted over all batches. */
    __aicore__ inline void Compute(int64_t first, uint32_t count) {
        const uint32_t bytes = count * kGridAxes * sizeof(T);
        auto loading = raw_.template AllocTensor<T>();
        AscendC::DataCopyPad(loading, grid_[first * kGridAxes], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0},
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        raw_.EnQue(loading);
        auto raw = raw_.template DeQue<T>();
        AscendC::Duplicate(Valid(), 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        for (uint32_t axis = 0; axis < kGridAxes; ++axis) {
            Pick(raw, axis, count);
            Place(axis, count);
            Pad(axis, count);
            Split(axis, count);
        }
        raw_.FreeTensor(raw);
        // So far the voxels by which points lie too far outside.
        AscendC::Mins(Valid(), Valid(), 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(Valid(), Valid(), -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(Valid(), Valid(), 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    __aicore__ inline GridFloats Kept(uint32_t number) { return kept_.template Get<float>()[number * most_]; }
    __aicore__ inline GridFloats Position() { return Kept(2 * kGridAxes + 2); }

    /* One coordinate of all points, in float32. */
    __aicore__ inline void Pick(const AscendC::LocalTensor<T> &raw, uint32_t axis, uint32_t count) {
        const auto places = Kept(2 * kGridAxes).template ReinterpretCast<uint32_t>();
        if constexpr (kIsFloat) {
            AscendC::Gather(Position(), raw, places, axis * sizeof(T), count);
        } else {
            const auto narrow = narrow_.template Get<T>();
            AscendC::Gather(narrow, raw, places, axis * sizeof(T), count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(Position(), narrow, AscendC::RoundMode::CAST_NONE, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Is the share made of the way from the nearer end? float16 coordinates and results are coarser than any position. */
    __aicore__ inline bool IsFine() { return kIsFloat && padding_ == GridPadding::kZeros && !isNearest_; }

    /* Position = End + Way, both rounded once: the end is the one on the coordinate's side of 0. */
    __aicore__ inline void PlaceFromEnd(uint32_t axis, uint32_t count) {
        const auto position = Position(), way = Spare(0), end = Spare(1);
        const float size = sizes_[axis], span = isAligned_ ? size - 1.0f : size, first = isAligned_ ? 0.0f : -0.5f;
        AscendC::Cast(end, position, AscendC::RoundMode::CAST_FLOOR, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(end, end, 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Maxs(end, end, 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(end, end, 1.0f, count);  // 0 for the end at -1, 1 for that at 1
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(way, end, -2.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(end, end, span, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(way, way, 1.0f, count);
        AscendC::Adds(end, end, first, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(way, position, way, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(way, way, 0.5f * span, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(position, end, way, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* -1 and 1 are the centres of the outermost voxels, or their outer edges. */
    __aicore__ inline void Place(uint32_t axis, uint32_t count) {
        if (IsFine()) {
            PlaceFromEnd(axis, count);
            return;
        }
        const auto position = Position();
        const float size = sizes_[axis];
        AscendC::Adds(position, position, 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(position, position, 0.5f * (isAligned_ ? size - 1.0f : size), count);
        AscendC::PipeBarrier<PIPE_V>();
        if (!isAligned_) {
            AscendC::Adds(position, position, -0.5f, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void Pad(uint32_t axis, uint32_t count) {
        if (padding_ == GridPadding::kZeros) {
            return;
        }
        if (padding_ == GridPadding::kReflection) {
            Reflect(axis, count);
        }
        AscendC::Maxs(Position(), Position(), 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(Position(), Position(), static_cast<float>(sizes_[axis] - 1), count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Up and down between the two ends, with a period of twice their distance: the distance from the middle of the period. */
    __aicore__ inline void Reflect(uint32_t axis, uint32_t count) {
        const auto position = Position(), turns = Spare(0);
        const float edge = isAligned_ ? 0.0f : -0.5f, span = isAligned_ ? sizes_[axis] - 1 : sizes_[axis];
        AscendC::Adds(position, position, -edge, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Abs(position, position, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(turns, position, span > 0.0f ? 0.5f / span : 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(turns, turns, AscendC::RoundMode::CAST_FLOOR, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Axpy(position, turns, -2.0f * span, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(position, position, -span, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Abs(position, position, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(position, position, -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(position, position, span + edge, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* The lower voxel and the share of the upper one, or the nearest voxel; how far outside goes to Valid. */
    __aicore__ inline void Split(uint32_t axis, uint32_t count) {
        const auto position = Position(), low = Low(axis), moved = Spare(0);
        AscendC::Cast(low, position, isNearest_ ? AscendC::RoundMode::CAST_RINT : AscendC::RoundMode::CAST_FLOOR, count);
        AscendC::PipeBarrier<PIPE_V>();
        if (IsFine()) {
            AscendC::Sub(Share(axis), Spare(1), low, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Add(Share(axis), Share(axis), Spare(0), count);
            AscendC::PipeBarrier<PIPE_V>();
        } else if (!isNearest_) {
            AscendC::Sub(Share(axis), position, low, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
        if (padding_ != GridPadding::kZeros) {
            return;
        }
        AscendC::Maxs(moved, low, isNearest_ ? 0.0f : -1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(moved, moved, static_cast<float>(sizes_[axis] - 1), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sub(position, moved, low, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Abs(position, position, count);
        AscendC::Adds(low, moved, 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(Valid(), Valid(), position, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 1> raw_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> kept_;  // lower voxels, shares, places of the gather, valid, position, two spare ones
    AscendC::TBuf<AscendC::TPosition::VECCALC> narrow_;
    AscendC::GlobalTensor<T> grid_;
    uint32_t most_;
    GridPadding padding_;
    bool isNearest_;
    bool isAligned_;
    int32_t sizes_[kGridAxes];
};

#endif  // REFERENCE_GRID_POINTS_H
