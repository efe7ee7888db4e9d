/*
 * group_norm of groups that fit into the unified buffer, several per tile: read once. The tile is seen twice: as lines, one per channel, and as groups, rows of
 * all lines of one, whose means and variances are formed together (RowReduction) without the scalar unit. The variance is that of the differences from the
 * mean, which are there anyway, so that a large mean costs no digits.
 */
#ifndef REFERENCE_GROUP_NORM_WHOLE_H
#define REFERENCE_GROUP_NORM_WHOLE_H

#include "../../../common/exact_reciprocal.h"
#include "group_norm_base.h"

template <typename T>
class GroupNormWhole : public GroupNormBase<T> {
    using Base = GroupNormBase<T>;

public:
    __aicore__ inline void Init(const GroupNormTensors &tensors, const GroupTiling &tiling, float epsilon) {
        Base::InitBase(tensors, tiling, tiling.groupsPerTile, tiling.channels * tiling.stride);
        perElement_ = 1.0f / (tiling.channels * tiling.positions);
        epsilon_ = epsilon;
        Base::x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
    }

    __aicore__ inline void Process() {
        Load(0);
        for (int64_t group = 0; group < Base::share_.count;) {
            const GroupTile tile = TileAt(group);
            group += tile.groups;
            Load(group);
            Compute(tile);
        }
    }

private:
    /* As many groups of one sample as a tile has room for. */
    __aicore__ inline GroupTile TileAt(int64_t done) const {
        const GroupTiling &tiling = Base::tiling_;
        const int64_t group = Base::share_.first + done, ofSample = group % tiling.perSample;
        const int64_t inSample = tiling.perSample - ofSample, inShare = Base::share_.count - done, left = inSample < inShare ? inSample : inShare;
        const uint32_t groups = left < tiling.groupsPerTile ? left : tiling.groupsPerTile;
        return {group * tiling.channels * tiling.positions, ofSample * tiling.channels, groups, groups * tiling.channels,
                static_cast<uint32_t>(tiling.positions)};
    }

    __aicore__ inline void Load(int64_t done) {
        if (done < Base::share_.count) {
            const GroupTile tile = TileAt(done);
            Base::LoadTile(tile);
            Base::LoadParameters(tile);
        }
    }

    __aicore__ inline void Compute(const GroupTile &tile) {
        using namespace common;
        const uint32_t stride = Base::tiling_.channels * Base::tiling_.stride, groups = tile.groups;
        auto &reduction = Base::reduction_;
        const auto x = Base::TakeTile(tile), squares = Base::squares_.template Get<float>();
        Base::ClearGaps(x, tile);
        const auto mean = reduction.Sum(x, groups);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(mean, mean, perElement_, groups);
        AscendC::PipeBarrier<PIPE_V>();
        ByGroup<Step::kSub>(x, mean, groups, stride);
        AscendC::Mul(squares, x, x, Base::Elements(tile));
        AscendC::PipeBarrier<PIPE_V>();
        Base::ClearGaps(squares, tile);
        const auto factor = reduction.Sum(squares, groups);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(factor, factor, perElement_, groups);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(factor, factor, epsilon_, groups);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sqrt(factor, factor, groups);
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (Base::kIsFloat) {                                          // 16-bit results have no use for the last place
            const auto root = squares[kPolishTensors * ((groups + 7) / 8 * 8)];  // squares are no longer needed
            AscendC::Adds(root, factor, 0.0f, groups);
            AscendC::PipeBarrier<PIPE_V>();
            reduction.Reciprocal(factor, groups);
            AscendC::PipeBarrier<PIPE_V>();
            PolishReciprocal(factor, root, squares, groups);
        } else {
            reduction.Reciprocal(factor, groups);
            AscendC::PipeBarrier<PIPE_V>();
        }
        ByGroup<Step::kMul>(x, factor, groups, stride);
        Base::ScaleAndStore(x, tile);
        Base::ReleaseTile();
    }

    template <common::Step step>
    __aicore__ inline void ByGroup(const common::FloatRows &x, const common::FloatRows &number, uint32_t groups, uint32_t stride) {
        using namespace common;
        const auto spread = Base::reduction_.Spread(number, groups);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<step>(Matrix(x, stride), Matrix(x, stride), PerRow(spread), groups, stride);
        AscendC::PipeBarrier<PIPE_V>();
    }

    float perElement_;
    float epsilon_;
};

#endif  // REFERENCE_GROUP_NORM_WHOLE_H
