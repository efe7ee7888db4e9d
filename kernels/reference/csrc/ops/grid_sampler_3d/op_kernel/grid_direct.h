/*
 * Points sampled from volumes of any size: what the points of a tile need is fetched from global memory, a copy for each two neighbours along w of a point and
 * for all channels of the tile, and comes to lie in blocks of 32 bytes. From these it is gathered by vector instructions; what lies outside of the volume is
 * gathered from zeros. The copies of the next tile run meanwhile. They limit this: some 30 cycles for a sample.
 */
#ifndef REFERENCE_GRID_DIRECT_H
#define REFERENCE_GRID_DIRECT_H

#include "../../../common/row_vector.h"
#include "grid_points.h"

constexpr uint32_t kDirectSamples = 512;  // per tile: channels x points
constexpr uint32_t kDirectChannels = 8;   // at most
constexpr uint32_t kTapBlock = 32;        // bytes

template <typename T>
class GridDirect {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;

    __aicore__ inline void Init(const GridTensors &tensors) {
        tensors_ = tensors;
        isNearest_ = tensors.isNearest;
        channels_ = tensors.channels < kDirectChannels ? tensors.channels : kDirectChannels;
        perTile_ = kDirectSamples / channels_ / common::kSlice * common::kSlice;
        rows_ = isNearest_ ? 1 : 4;
        channelTiles_ = (tensors.channels + channels_ - 1) / channels_;
        // Several tiles for each core, so that copies and computation overlap and all cores get about the same.
        const int64_t fair = tensors.batch * channelTiles_ * tensors.points / (4 * AscendC::GetBlockNum()) / common::kSlice * common::kSlice;
        perTile_ = fair < perTile_ ? fair : perTile_;
        perTile_ = perTile_ < common::kSlice ? common::kSlice : perTile_;
        pointTiles_ = (tensors.points + perTile_ - 1) / perTile_;
        voxels_ = tensors.depth * tensors.height * tensors.width;
        x_.SetGlobalBuffer((__gm__ T *)tensors.x, tensors.batch * tensors.channels * voxels_);
        y_.SetGlobalBuffer((__gm__ T *)tensors.y, tensors.batch * tensors.channels * tensors.points);
        pipe_.InitBuffer(in_, kBuffers, FetchedBytes() + channels_ * kTapBlock);
        pipe_.InitBuffer(out_, kBuffers, channels_ * perTile_ * sizeof(T));
        pipe_.InitBuffer(kept_, 2 * kKept * perTile_ * sizeof(float));
        pipe_.InitBuffer(work_, kWorkTensors * perTile_ * sizeof(float));
        pipe_.InitBuffer(corners_, kCorners * perTile_ * sizeof(int32_t));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(narrow_, 2 * perTile_ * sizeof(T));
        }
        points_.Init(pipe_, tensors, perTile_);
        // Zeros for what lies outside; copies never reach them.
        for (uint32_t number = 0; number < kBuffers; ++number) {
            auto fetched = in_.template AllocTensor<T>();
            AscendC::Duplicate(fetched[FetchedBytes() / sizeof(T)], static_cast<T>(0), channels_ * kTapBlock / sizeof(T));
            in_.FreeTensor(fetched);
        }
    }

    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tensors_.batch * channelTiles_ * pointTiles_);
        const int64_t end = share.first + share.count;
        if (share.count > 0) {
            Fetch(share.first);
        }
        for (int64_t item = share.first; item < end; ++item) {
            if (item + 1 < end) {
                Fetch(item + 1);
            }
            Sample(item);
        }
    }

private:
    static constexpr uint32_t kTaps = 8;
    static constexpr uint32_t kKept = kTaps + 2 * kGridAxes;  // offsets of the taps, then shares of the lower and the upper neighbour of each axis
    static constexpr uint32_t kWorkTensors = 4;
    static constexpr uint32_t kCorners = 5;  // where the copies start: w, both h, both d

    struct Part {
        int64_t batch, channel, point;
        uint32_t channels, count;
    };

    __aicore__ inline Part PartOf(int64_t item) const {
        Part part;
        part.point = item % pointTiles_ * perTile_;
        const int64_t rest = item / pointTiles_;
        part.channel = rest % channelTiles_ * channels_;
        part.batch = rest / channelTiles_;
        const int64_t points = tensors_.points - part.point, channels = tensors_.channels - part.channel;
        part.count = points < perTile_ ? points : perTile_;
        part.channels = channels < channels_ ? channels : channels_;
        return part;
    }

    __aicore__ inline uint32_t FetchedBytes() const { return perTile_ * rows_ * channels_ * kTapBlock; }
    __aicore__ inline GridFloats Kept(int64_t item, uint32_t number) { return kept_.template Get<float>()[(item % 2 * kKept + number) * perTile_]; }
    __aicore__ inline GridFloats Work(uint32_t number) { return work_.template Get<float>()[number * perTile_]; }

    __aicore__ inline void Fetch(int64_t item) {
        const Part part = PartOf(item);
        points_.Compute(part.batch * tensors_.points + part.point, part.count);
        SetCorner(0, points_.Low(0), 0.0f, tensors_.width - 2, part.count);
        for (uint32_t axis = 1; axis < kGridAxes; ++axis) {
            const int64_t last = (axis == 1 ? tensors_.height : tensors_.depth) - 1;
            SetCorner(2 * axis - 1, points_.Low(axis), 0.0f, last, part.count);
            SetCorner(2 * axis, points_.Low(axis), 1.0f, last, part.count);
        }
        common::Await<AscendC::HardEvent::V_S>();
        auto fetched = in_.template AllocTensor<T>();
        const auto corners = corners_.template Get<int32_t>();
        const int64_t start = (part.batch * tensors_.channels + part.channel) * voxels_;
        for (uint32_t point = 0; point < part.count; ++point) {
            const int64_t column = start + corners.GetValue(point), h = corners.GetValue(perTile_ + point), d = corners.GetValue(3 * perTile_ + point);
            const auto to = fetched[point * rows_ * channels_ * kTapBlock / sizeof(T)];
            FetchRow(to, column + (d * tensors_.height + h) * tensors_.width, part.channels);
            if (!isNearest_) {
                const int64_t nextH = corners.GetValue(2 * perTile_ + point), nextD = corners.GetValue(4 * perTile_ + point);
                const uint32_t row = channels_ * kTapBlock / sizeof(T);
                FetchRow(to[row], column + (d * tensors_.height + nextH) * tensors_.width, part.channels);
                FetchRow(to[2 * row], column + (nextD * tensors_.height + h) * tensors_.width, part.channels);
                FetchRow(to[3 * row], column + (nextD * tensors_.height + nextH) * tensors_.width, part.channels);
            }
        }
        common::Await<AscendC::HardEvent::S_V>();
        in_.EnQue(fetched);
        SetTaps(item, part.count);
    }

    /* Voxels of all channels of the tile; two, or one where there is no other. */
    __aicore__ inline void FetchRow(const AscendC::LocalTensor<T> &to, int64_t from, uint32_t channels) {
        const uint32_t bytes = (isNearest_ || tensors_.width == 1 ? 1 : 2) * sizeof(T);
        const int64_t skipped = voxels_ * static_cast<int64_t>(sizeof(T)) - bytes;
        const AscendC::DataCopyPadExtParams<T> padded{false, 0, 0, 0};
        if (skipped <= 0xffffffff) {
            AscendC::DataCopyPad(to, x_[from], AscendC::DataCopyExtParams{static_cast<uint16_t>(channels), bytes, static_cast<uint32_t>(skipped), 0, 0},
                                 padded);
            return;
        }
        for (uint32_t channel = 0; channel < channels; ++channel) {
            AscendC::DataCopyPad(to[channel * kTapBlock / sizeof(T)], x_[from + channel * voxels_], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, padded);
        }
    }

    /* Where a copy starts along an axis: the voxel, or the nearest one that the volume has. */
    __aicore__ inline void SetCorner(uint32_t number, const GridFloats &low, float above, int64_t last, uint32_t count) {
        const auto moved = Work(0);
        AscendC::Adds(moved, low, above, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(moved, moved, static_cast<float>(isNearest_ && number == 0 ? last + 1 : last), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Maxs(moved, moved, 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(corners_.template Get<int32_t>()[number * perTile_], moved, AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Byte offsets of the taps of channel 0 in what was fetched, and the shares. */
    __aicore__ inline void SetTaps(int64_t item, uint32_t count) {
        for (uint32_t tap = 0; tap < (isNearest_ ? 1 : kTaps); ++tap) {
            SetTap(Kept(item, tap), tap, count);
        }
        for (uint32_t axis = 0; axis < kGridAxes && !isNearest_; ++axis) {
            const auto low = Kept(item, kTaps + 2 * axis), high = Kept(item, kTaps + 2 * axis + 1);
            AscendC::Adds(high, points_.Share(axis), 0.0f, count);
            AscendC::Muls(low, points_.Share(axis), -1.0f, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Adds(low, low, 1.0f, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* Tap (w, h, d) = bits 0, 1, 2. Its place, or the zeros' where it is outside of the volume. */
    __aicore__ inline void SetTap(const GridFloats &offset, uint32_t tap, uint32_t count) {
        const auto inside = Work(0), place = Work(1);
        const float zeros = static_cast<float>(FetchedBytes());
        AscendC::Adds(inside, points_.Valid(), 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        for (uint32_t axis = 0; axis < kGridAxes; ++axis) {
            RuleOut(inside, axis, tap >> axis & 1, count);
        }
        SetPlace(place, tap, count);
        AscendC::Adds(place, place, -zeros, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(place, place, inside, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(place, place, zeros, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(offset.template ReinterpretCast<int32_t>(), place, AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* inside = 0 where low + above is not a voxel of the axis: lower ones may be -1, upper ones the number of voxels. */
    __aicore__ inline void RuleOut(const GridFloats &inside, uint32_t axis, uint32_t above, uint32_t count) {
        const auto voxel = Work(2);
        const int64_t size = axis == 0 ? tensors_.width : axis == 1 ? tensors_.height : tensors_.depth;
        AscendC::Muls(voxel, points_.Low(axis), above ? -1.0f : 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(voxel, voxel, above ? static_cast<float>(size - 1) : 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(voxel, voxel, 1.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(inside, inside, voxel, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Point, row, then which of the two voxels along w: the difference to where the copy starts. */
    __aicore__ inline void SetPlace(const GridFloats &place, uint32_t tap, uint32_t count) {
        const auto number = Work(3).template ReinterpretCast<int32_t>();
        const auto start = Work(2);
        const uint32_t row = tap / 2 * channels_ * kTapBlock;
        AscendC::CreateVecIndex(number, 0, count);
        AscendC::Cast(start, corners_.template Get<int32_t>(), AscendC::RoundMode::CAST_RINT, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(number, number, static_cast<int32_t>(rows_ * channels_ * kTapBlock), count);
        AscendC::Sub(start, points_.Low(0), start, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(place, number, AscendC::RoundMode::CAST_RINT, count);
        AscendC::Adds(start, start, static_cast<float>(tap % 2), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Axpy(place, start, static_cast<float>(sizeof(T)), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(place, place, static_cast<float>(row), count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Sample(int64_t item) {
        const Part part = PartOf(item);
        auto fetched = in_.template DeQue<T>();
        auto made = out_.template AllocTensor<T>();
        for (uint32_t channel = 0; channel < part.channels; ++channel) {
            const auto result = made[channel * perTile_];
            if (isNearest_) {
                AscendC::Gather(result, fetched, Offsets(item, 0), channel * kTapBlock, part.count);
            } else if constexpr (kIsFloat) {
                Mix(result, fetched, item, channel, part.count);
            } else {
                Mix(Work(0), fetched, item, channel, part.count);
                AscendC::Cast(result, Work(0), AscendC::RoundMode::CAST_RINT, part.count);
                AscendC::PipeBarrier<PIPE_V>();
            }
        }
        in_.FreeTensor(fetched);
        out_.EnQue(made);
        auto stored = out_.template DeQue<T>();
        const uint32_t bytes = part.count * sizeof(T), unused = (perTile_ * sizeof(T) - bytes) / 32;
        const uint32_t skipped = (tensors_.points - part.count) * sizeof(T);
        AscendC::DataCopyPad(y_[(part.batch * tensors_.channels + part.channel) * tensors_.points + part.point], stored,
                             AscendC::DataCopyExtParams{static_cast<uint16_t>(part.channels), bytes, unused, skipped, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline AscendC::LocalTensor<uint32_t> Offsets(int64_t item, uint32_t tap) { return Kept(item, tap).template ReinterpretCast<uint32_t>(); }

    /* Along w, then h, then d; a share of 0 counts, as it makes NaN of an infinite voxel. */
    __aicore__ inline void Mix(const GridFloats &result, const AscendC::LocalTensor<T> &fetched, int64_t item, uint32_t channel, uint32_t count) {
        for (uint32_t plane = 0; plane < 2; ++plane) {
            const auto lower = plane == 0 ? result : Work(1), upper = Work(2);
            MixRow(lower, fetched, item, 4 * plane, channel, count);
            MixRow(upper, fetched, item, 4 * plane + 2, channel, count);
            Blend(lower, upper, item, 1, count);
        }
        Blend(result, Work(1), item, 2, count);
    }

    __aicore__ inline void MixRow(const GridFloats &result, const AscendC::LocalTensor<T> &fetched, int64_t item, uint32_t tap, uint32_t channel,
                                  uint32_t count) {
        const auto next = Work(3);
        if constexpr (kIsFloat) {
            AscendC::Gather(result, fetched, Offsets(item, tap), channel * kTapBlock, count);
            AscendC::Gather(next, fetched, Offsets(item, tap + 1), channel * kTapBlock, count);
        } else {
            const auto narrow = narrow_.template Get<T>();
            AscendC::Gather(narrow, fetched, Offsets(item, tap), channel * kTapBlock, count);
            AscendC::Gather(narrow[perTile_], fetched, Offsets(item, tap + 1), channel * kTapBlock, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(result, narrow, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(next, narrow[perTile_], AscendC::RoundMode::CAST_NONE, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        Blend(result, next, item, 0, count);
    }

    __aicore__ inline void Blend(const GridFloats &low, const GridFloats &high, int64_t item, uint32_t axis, uint32_t count) {
        AscendC::Mul(low, low, Kept(item, kTaps + 2 * axis), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::MulAddDst(low, high, Kept(item, kTaps + 2 * axis + 1), count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> kept_;  // two sets: a tile is sampled after the next one has been fetched
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_, corners_, narrow_;
    AscendC::GlobalTensor<T> x_, y_;
    GridPoints<T> points_;
    GridTensors tensors_;
    bool isNearest_;
    uint32_t channels_, perTile_;
    uint32_t rows_;  // copies per point
    int64_t channelTiles_, pointTiles_, voxels_;
};

#endif  // REFERENCE_GRID_DIRECT_H
