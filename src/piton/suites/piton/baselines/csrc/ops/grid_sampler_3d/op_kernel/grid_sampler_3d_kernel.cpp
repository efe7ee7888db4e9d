/*
 * grid_sampler_3d, plain: a core takes 64 points and eight channels at a time. The scalar unit forms positions and shares and has each voxel that a point
 * needs copied from global memory, one copy for all channels; into blocks of 32 bytes, which were zero before. Then the taps are gathered and added up with
 * their shares. Everything is float32, rounded once.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "grid_sampler_3d_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T>
class GridSamplerKernel {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr uint32_t kPoints = 64;
    static constexpr uint32_t kMostChannels = 8;
    static constexpr uint32_t kTaps = 8;
    static constexpr uint32_t kBlock = 32 / sizeof(T);  // elements that a voxel takes
    static constexpr int64_t kMostStride = 0xffffffff;

    __aicore__ inline void Init(const GridTensors &tensors) {
        tensors_ = tensors;
        voxels_ = tensors.depth * tensors.height * tensors.width;
        channels_ = voxels_ * static_cast<int64_t>(sizeof(T)) > kMostStride ? 1 : kMostChannels;
        x_.SetGlobalBuffer((__gm__ T *)tensors.x);
        grid_.SetGlobalBuffer((__gm__ T *)tensors.grid);
        y_.SetGlobalBuffer((__gm__ T *)tensors.y);
        pipe_.InitBuffer(gridIn_, kBufferNum, 3 * kPoints * sizeof(T));
        pipe_.InitBuffer(in_, kBufferNum, kTaps * kPoints * kMostChannels * kBlock * sizeof(T));
        pipe_.InitBuffer(out_, kBufferNum, kPoints * kMostChannels * sizeof(T));
        pipe_.InitBuffer(coordinates_, 3 * kPoints * sizeof(float));
        pipe_.InitBuffer(shares_, kTaps * kPoints * sizeof(float));
        pipe_.InitBuffer(places_, kPoints * sizeof(int32_t));
        pipe_.InitBuffer(work_, 2 * kPoints * sizeof(float));
        pipe_.InitBuffer(narrow_, kPoints * sizeof(T));
        const auto places = places_.template Get<int32_t>();
        AscendC::CreateVecIndex(places, 0, kPoints);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(places, places, static_cast<int32_t>(kMostChannels * kBlock * sizeof(T)), kPoints);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Process() {
        const int64_t pointTiles = (tensors_.points + kPoints - 1) / kPoints, channelTiles = (tensors_.channels + channels_ - 1) / channels_;
        for (int64_t item = AscendC::GetBlockIdx(); item < tensors_.batch * pointTiles * channelTiles; item += AscendC::GetBlockNum()) {
            const int64_t channel = item / pointTiles % channelTiles * channels_, left = tensors_.channels - channel;
            MakeTile(item / pointTiles / channelTiles, channel, left < channels_ ? left : channels_, item % pointTiles * kPoints);
        }
    }

private:
    /* One axis of a point: the lower voxel and the share of the upper one. */
    struct Place {
        int64_t low;
        float share;
    };

    __aicore__ inline void MakeTile(int64_t batch, int64_t channel, uint32_t channels, int64_t point) {
        const int64_t left = tensors_.points - point;
        const uint32_t count = left < kPoints ? left : kPoints;
        LoadCoordinates((batch * tensors_.points + point) * 3, 3 * count);
        auto taps = in_.template AllocTensor<T>();
        AscendC::Duplicate(taps, static_cast<T>(0), kTaps * kPoints * kMostChannels * kBlock);
        Order<AscendC::HardEvent::V_MTE2>();
        for (uint32_t number = 0; number < count; ++number) {
            FetchPoint(taps, (batch * tensors_.channels + channel) * voxels_, channels, number);
        }
        Order<AscendC::HardEvent::S_V>();
        in_.EnQue(taps);
        auto fetched = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        for (uint32_t each = 0; each < channels; ++each) {
            Add(y[each * kPoints], fetched[each * kBlock], count);
        }
        in_.FreeTensor(fetched);
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        const uint32_t bytes = count * sizeof(T), unused = (kPoints * sizeof(T) - bytes) / 32, skipped = (tensors_.points - count) * sizeof(T);
        AscendC::DataCopyPad(y_[(batch * tensors_.channels + channel) * tensors_.points + point], stored,
                             AscendC::DataCopyExtParams{static_cast<uint16_t>(channels), bytes, unused, skipped, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline void LoadCoordinates(int64_t from, uint32_t count) {
        const uint32_t bytes = count * sizeof(T);
        auto loading = gridIn_.template AllocTensor<T>();
        AscendC::DataCopyPad(loading, grid_[from], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        gridIn_.EnQue(loading);
        auto loaded = gridIn_.template DeQue<T>();
        const auto coordinates = coordinates_.template Get<float>();
        Order<AscendC::HardEvent::S_V>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(coordinates, loaded, 0.0f, count);
        } else {
            AscendC::Cast(coordinates, loaded, AscendC::RoundMode::CAST_NONE, count);
        }
        gridIn_.FreeTensor(loaded);
        Order<AscendC::HardEvent::V_S>();
    }

    template <AscendC::HardEvent event>
    __aicore__ inline void Order() {
        const auto id = static_cast<AscendC::TEventID>(GetTPipePtr()->FetchEventID(event));
        AscendC::SetFlag<event>(id);
        AscendC::WaitFlag<event>(id);
    }

    __aicore__ inline int64_t Floor(float value) const {
        const auto whole = static_cast<int64_t>(value);
        return whole > value ? whole - 1 : whole;
    }

    __aicore__ inline Place PlaceOf(float coordinate, int64_t size) const {
        const bool isAligned = tensors_.isAligned;
        const float last = size - 1, edge = isAligned ? 0.0f : -0.5f, span = isAligned ? last : size;
        float position = isAligned ? (coordinate + 1.0f) * 0.5f * last : ((coordinate + 1.0f) * size - 1.0f) * 0.5f;
        if (tensors_.padding == GridPadding::kReflection) {
            const float distance = position > edge ? position - edge : edge - position;
            const int64_t turns = span > 0.0f ? Floor(distance / span) : 0;
            const float rest = distance - turns * span;
            position = (turns % 2 == 0 ? rest : span - rest) + edge;
        }
        if (tensors_.padding != GridPadding::kZeros) {
            position = position < 0.0f ? 0.0f : position;
            position = position > last ? last : position;
        }
        const int64_t low = Floor(tensors_.isNearest ? position + 0.5f : position);
        return {low, tensors_.isNearest ? 0.0f : position - low};
    }

    /* The voxels around a point, those that the volume has, and the shares of all. */
    __aicore__ inline void FetchPoint(const AscendC::LocalTensor<T> &taps, int64_t start, uint32_t channels, uint32_t point) {
        const auto coordinates = coordinates_.template Get<float>(), shares = shares_.template Get<float>();
        const int64_t sizes[3] = {tensors_.width, tensors_.height, tensors_.depth};
        Place places[3];
        for (uint32_t axis = 0; axis < 3; ++axis) {
            places[axis] = PlaceOf(coordinates.GetValue(3 * point + axis), sizes[axis]);
        }
        const uint32_t skipped = voxels_ * sizeof(T) - sizeof(T);
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(channels), sizeof(T), channels > 1 ? skipped : 0, 0, 0};
        for (uint32_t tap = 0; tap < Taps(); ++tap) {
            float share = 1.0f;
            int64_t voxel = 0;
            bool isInside = true;
            for (int32_t axis = 2; axis >= 0; --axis) {
                const int64_t above = tap >> axis & 1, place = places[axis].low + above;
                share *= above ? places[axis].share : 1.0f - places[axis].share;
                isInside = isInside && place >= 0 && place < sizes[axis];
                voxel = voxel * sizes[axis] + place;
            }
            shares.SetValue(tap * kPoints + point, share);
            if (isInside) {
                AscendC::DataCopyPad(taps[(tap * kPoints + point) * kMostChannels * kBlock], x_[start + voxel], copied,
                                     AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
            }
        }
    }

    __aicore__ inline uint32_t Taps() const { return tensors_.isNearest ? 1 : kTaps; }

    __aicore__ inline void Add(const AscendC::LocalTensor<T> &y, const AscendC::LocalTensor<T> &taps, uint32_t count) {
        const auto places = places_.template Get<int32_t>().template ReinterpretCast<uint32_t>();
        const auto sum = work_.template Get<float>(), seen = sum[kPoints], shares = shares_.template Get<float>();
        const auto narrow = narrow_.template Get<T>();
        for (uint32_t tap = 0; tap < Taps(); ++tap) {
            const auto from = taps[tap * kPoints * kMostChannels * kBlock];
            AscendC::Gather(narrow, from, places, 0, count);
            AscendC::PipeBarrier<PIPE_V>();
            if constexpr (std::is_same_v<T, float>) {
                AscendC::Mul(seen, narrow, shares[tap * kPoints], count);
            } else {
                AscendC::Cast(seen, narrow, AscendC::RoundMode::CAST_NONE, count);
                AscendC::PipeBarrier<PIPE_V>();
                AscendC::Mul(seen, seen, shares[tap * kPoints], count);
            }
            AscendC::PipeBarrier<PIPE_V>();
            if (tap == 0) {
                AscendC::Adds(sum, seen, 0.0f, count);
            } else {
                AscendC::Add(sum, sum, seen, count);
            }
            AscendC::PipeBarrier<PIPE_V>();
        }
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(y, sum, 0.0f, count);
        } else {
            AscendC::Cast(y, sum, AscendC::RoundMode::CAST_RINT, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> gridIn_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> coordinates_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> shares_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> places_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> narrow_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> grid_;
    AscendC::GlobalTensor<T> y_;
    GridTensors tensors_;
    int64_t voxels_;
    int64_t channels_;
};

template <typename T>
__global__ __aicore__ void grid_sampler_3d_kernel(GridTensors tensors) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GridSamplerKernel<T> kernel;
    kernel.Init(tensors);
    kernel.Process();
}

void LaunchGridSampler3d(baseline::ElementType type, const GridTensors &tensors, void *stream) {
    if (type == baseline::ElementType::kFloat16) {
        grid_sampler_3d_kernel<half><<<baseline::VectorCores(), nullptr, stream>>>(tensors);
    } else {
        grid_sampler_3d_kernel<float><<<baseline::VectorCores(), nullptr, stream>>>(tensors);
    }
}
