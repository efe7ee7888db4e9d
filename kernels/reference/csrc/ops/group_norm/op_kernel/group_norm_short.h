/*
 * group_norm without positions (x of two axes): a group is a short row of neighbouring channels, a sample all of its groups, one after the other.
 *
 * A tile has whole samples, so that gamma and beta, which stay in the unified buffer for the whole kernel, meet it row by row. Groups lie `stride` floats
 * apart. Where that is a few blocks of 8, one instruction handles the same block of eight groups per repeat, and none of its lanes is idle; longer groups take
 * whole instructions and RowReduction. Groups of whole blocks have no gaps and are copied as one piece: a copy costs 8 cycles per block of memory.
 */
#ifndef REFERENCE_GROUP_NORM_SHORT_H
#define REFERENCE_GROUP_NORM_SHORT_H

#include <type_traits>

#include "../../../common/exact_reciprocal.h"
#include "group_norm_launch.h"
#include "group_norm_tiling.h"

struct ShortGroupTiling {
    int64_t samples;
    uint32_t perSample;       // groups
    uint32_t channels;        // of a group
    uint32_t stride;          // elements from group to group in the unified buffer
    uint32_t samplesPerTile;  // 0: not even one fits
    uint32_t blocks;          // vector cores used
};

constexpr int64_t kMostShortGroups = 2040;  // of a tile: eight per repeat
constexpr int64_t kWidestByBlocks = 56;     // elements of a group that is taken block by block
constexpr int64_t kBytesPerShortGroup = (2 * common::kBlockFloats + 2) * sizeof(float);

inline ShortGroupTiling PlanShortGroups(int64_t samples, int64_t perSample, int64_t channels, int64_t bytesPerElement, int64_t elementBytes) {
    using namespace common;
    const bool isByBlocks = channels <= kWidestByBlocks;
    const int64_t inBlocks = RoundUp(channels, channels % kBlockFloats == 0 ? kBlockFloats : 32 / elementBytes);
    const int64_t stride = isByBlocks ? inBlocks : RoundUp(channels, kSlice);
    const int64_t perGroup = stride * bytesPerElement + (isByBlocks ? kBytesPerShortGroup : RowReduction::kBytesPerRow);
    const int64_t room = UnifiedBufferBytes() - kGroupFixedBytes - 2 * perSample * stride * static_cast<int64_t>(sizeof(float)) - 8 * perGroup;
    const int64_t most = isByBlocks ? kMostShortGroups : kMostRows, fitting = std::max<int64_t>(std::min(room / perGroup, most), 0) / perSample;
    const int64_t cores = std::min(WorthwhileCores(samples * perSample * channels, kGroupPerLaunch), samples);
    const int64_t wanted = CeilDiv(CeilDiv(samples, cores), kTilesToOverlap);
    return {samples,
            static_cast<uint32_t>(perSample),
            static_cast<uint32_t>(channels),
            static_cast<uint32_t>(stride),
            static_cast<uint32_t>(std::min(wanted, fitting)),
            static_cast<uint32_t>(cores)};
}

template <typename T>
class GroupNormShort {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* x and y in queues, squares, what the reduction keeps, and x widened. */
    static constexpr int64_t kBytesPerElement =
        2 * kBuffers * sizeof(T) + sizeof(float) + common::RowReduction::kBytesPerElement + (kIsFloat ? 0 : sizeof(float));

    __aicore__ inline void Init(const GroupNormTensors &tensors, const ShortGroupTiling &tiling, float epsilon) {
        tiling_ = tiling;
        epsilon_ = epsilon;
        perElement_ = 1.0f / tiling.channels;
        blocks_ = tiling.stride / common::kBlockFloats;
        isByBlocks_ = tiling.channels <= kWidestByBlocks;
        const auto share = common::ShareOf(tiling.samples);
        samples_ = share.count;
        const int64_t perSample = static_cast<int64_t>(tiling.perSample) * tiling.channels;
        x_.SetGlobalBuffer((__gm__ T *)tensors.x + share.first * perSample);
        y_.SetGlobalBuffer((__gm__ T *)tensors.y + share.first * perSample);
        x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        InitBuffers();
        Prepare(gamma_.template Get<float>(), (GM_ADDR)tensors.gamma);
        Prepare(beta_.template Get<float>(), (GM_ADDR)tensors.beta);
    }

    __aicore__ inline void Process() {
        Load(0);
        for (int64_t sample = 0; sample < samples_; sample += tiling_.samplesPerTile) {
            Load(sample + tiling_.samplesPerTile);
            Compute(sample);
        }
    }

private:
    __aicore__ inline void InitBuffers() {
        const uint32_t groups = (tiling_.samplesPerTile * tiling_.perSample + 7) / 8 * 8, elements = groups * tiling_.stride;
        pipe_.InitBuffer(in_, kBuffers, elements * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, elements * sizeof(T));
        pipe_.InitBuffer(squares_, elements * sizeof(float));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, elements * sizeof(float));
        }
        pipe_.InitBuffer(gamma_, tiling_.perSample * tiling_.stride * sizeof(float));
        pipe_.InitBuffer(beta_, tiling_.perSample * tiling_.stride * sizeof(float));
        if (isByBlocks_) {
            pipe_.InitBuffer(folded_, groups * common::kBlockFloats * sizeof(float));
            pipe_.InitBuffer(spread_, groups * common::kBlockFloats * sizeof(float));
            pipe_.InitBuffer(number_, groups * sizeof(float));
            pipe_.InitBuffer(one_, groups * sizeof(float));
            AscendC::Duplicate(one_.Get<float>(), 1.0f, groups);
        } else {
            reduction_.Init(pipe_, {tiling_.samples, tiling_.channels, tiling_.blocks, tiling_.stride, groups});
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline uint32_t SamplesAt(int64_t sample) const {
        return samples_ - sample < tiling_.samplesPerTile ? samples_ - sample : tiling_.samplesPerTile;
    }

    /* Groups without gaps are one piece. */
    __aicore__ inline AscendC::DataCopyExtParams Copied(uint32_t groups, bool isStore) const {
        const uint32_t bytes = tiling_.channels * sizeof(T), gap = (tiling_.stride * sizeof(T) - bytes) / 32;
        if (tiling_.channels == tiling_.stride) {
            return {1, groups * bytes, 0, 0, 0};
        }
        return {static_cast<uint16_t>(groups), bytes, isStore ? gap : 0, isStore ? 0 : gap, 0};
    }

    __aicore__ inline void Copy(const AscendC::GlobalTensor<T> &from, uint32_t groups) {
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, from, Copied(groups, false), AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Load(int64_t sample) {
        if (sample < samples_) {
            Copy(x_[sample * tiling_.perSample * tiling_.channels], SamplesAt(sample) * tiling_.perSample);
        }
    }

    /* gamma or beta as a sample lies, by the way of a sample. */
    __aicore__ inline void Prepare(const common::FloatRows &to, GM_ADDR from) {
        AscendC::GlobalTensor<T> source;
        source.SetGlobalBuffer((__gm__ T *)from);
        Copy(source, tiling_.perSample);
        auto loaded = in_.template DeQue<T>();
        Widen(to, loaded, tiling_.perSample * tiling_.stride);
        in_.FreeTensor(loaded);
    }

    __aicore__ inline void Widen(const common::FloatRows &to, const AscendC::LocalTensor<T> &from, uint32_t count) {
        if constexpr (kIsFloat) {
            AscendC::Adds(to, from, 0.0f, count);
        } else {
            AscendC::Cast(to, from, AscendC::RoundMode::CAST_NONE, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Compute(int64_t sample) {
        const uint32_t samples = SamplesAt(sample), groups = samples * tiling_.perSample, elements = groups * tiling_.stride;
        auto x = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        AscendC::PipeBarrier<PIPE_V>();  // the last tile has left what is written again
        if constexpr (kIsFloat) {
            Normalize(y, x, samples);
        } else {
            const auto wide = wide_.template Get<float>();
            Widen(wide, x, elements);
            Normalize(wide, wide, samples);
            AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, elements);
        }
        in_.FreeTensor(x);
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[sample * tiling_.perSample * tiling_.channels], stored, Copied(groups, true));
        out_.FreeTensor(stored);
    }

    /* y may be x, which is overwritten in any case. */
    __aicore__ inline void Normalize(const common::FloatRows &y, const common::FloatRows &x, uint32_t samples) {
        using namespace common;
        const uint32_t groups = samples * tiling_.perSample, row = tiling_.perSample * tiling_.stride;
        const auto squares = squares_.template Get<float>();
        ClearGaps(x, groups);
        const auto mean = Sum(x, groups);
        AscendC::Muls(mean, mean, perElement_, groups);
        AscendC::PipeBarrier<PIPE_V>();
        ByGroup<Step::kSub>(x, mean, groups);
        AscendC::Mul(squares, x, x, groups * tiling_.stride);
        AscendC::PipeBarrier<PIPE_V>();
        ClearGaps(squares, groups);
        const auto factor = Sum(squares, groups);
        AscendC::Muls(factor, factor, perElement_, groups);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(factor, factor, epsilon_, groups);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sqrt(factor, factor, groups);
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (kIsFloat) {                                                // 16-bit results have no use for the last place
            const auto root = squares[kPolishTensors * ((groups + 7) / 8 * 8)];  // squares are no longer needed
            AscendC::Adds(root, factor, 0.0f, groups);
            AscendC::PipeBarrier<PIPE_V>();
            Reciprocal(factor, groups);
            PolishReciprocal(factor, root, squares, groups);
        } else {
            Reciprocal(factor, groups);
        }
        ByGroup<Step::kMul>(x, factor, groups);
        Apply<Step::kMul>(Matrix(x, row), Matrix(x, row), OneRow(gamma_.template Get<float>()), samples, row);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kAdd>(Matrix(y, row), Matrix(x, row), OneRow(beta_.template Get<float>()), samples, row);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline uint32_t Eights(uint32_t groups) const { return (groups + 7) / 8; }

    /* Zeros between the groups, which add nothing to a sum. */
    __aicore__ inline void ClearGaps(const common::FloatRows &x, uint32_t groups) {
        using namespace common;
        if (!isByBlocks_) {
            FillRowEnds(x, 0.0f, groups, tiling_.channels, tiling_.stride);
        } else {
            for (uint32_t at = tiling_.channels; at < tiling_.stride; at = (at / kBlockFloats + 1) * kBlockFloats) {
                const uint64_t block = 0xffu << at % kBlockFloats & 0xffu, lanes[2] = {block * 0x0101010101010101ULL, 0};
                AscendC::Duplicate(x[at / kBlockFloats * kBlockFloats], 0.0f, lanes, Eights(groups), blocks_, 8 * blocks_);
            }
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline common::FloatRows Sum(const common::FloatRows &x, uint32_t groups) {
        using namespace common;
        if (!isByBlocks_) {
            const auto sum = reduction_.Sum(x, groups);
            AscendC::PipeBarrier<PIPE_V>();
            return sum;
        }
        const auto folded = folded_.template Get<float>(), number = number_.template Get<float>();
        const uint8_t apart = blocks_, group = 8 * blocks_;
        for (uint32_t block = 1; block < blocks_; ++block) {
            const bool isFirst = block == 1;
            AscendC::Add(folded, isFirst ? x : folded, x[block * kBlockFloats], kSlice, Eights(groups),
                         AscendC::BinaryRepeatParams(1, isFirst ? apart : 1, apart, 8, isFirst ? group : 8, group));
            AscendC::PipeBarrier<PIPE_V>();
        }
        AscendC::BlockReduceSum(number, blocks_ == 1 ? x : folded, Eights(groups), kSlice, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
        return number;
    }

    __aicore__ inline void Reciprocal(const common::FloatRows &number, uint32_t groups) {
        if (isByBlocks_) {
            AscendC::Div(number, one_.template Get<float>(), number, groups);
        } else {
            reduction_.Reciprocal(number, groups);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    template <common::Step step>
    __aicore__ inline void ByGroup(const common::FloatRows &x, const common::FloatRows &number, uint32_t groups) {
        using namespace common;
        if (!isByBlocks_) {
            const auto spread = reduction_.Spread(number, groups);
            AscendC::PipeBarrier<PIPE_V>();
            Apply<step>(Matrix(x, tiling_.stride), Matrix(x, tiling_.stride), PerRow(spread), groups, tiling_.stride);
            AscendC::PipeBarrier<PIPE_V>();
            return;
        }
        const auto spread = spread_.template Get<float>();
        const uint8_t apart = blocks_, group = 8 * blocks_;
        AscendC::Brcb(spread, number, Eights(groups), AscendC::BrcbRepeatParams(1, 8));
        AscendC::PipeBarrier<PIPE_V>();
        for (uint32_t block = 0; block < blocks_; ++block) {
            const auto part = x[block * kBlockFloats];
            Repeat<step>(part, part, spread, kSlice, Eights(groups), AscendC::BinaryRepeatParams(apart, apart, 1, group, group, 8));
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> squares_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> gamma_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> beta_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> folded_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spread_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    common::RowReduction reduction_;
    ShortGroupTiling tiling_;
    int64_t samples_;
    uint32_t blocks_;  // of 8 floats, from group to group
    bool isByBlocks_;
    float perElement_;
    float epsilon_;
};

#endif  // REFERENCE_GROUP_NORM_SHORT_H
