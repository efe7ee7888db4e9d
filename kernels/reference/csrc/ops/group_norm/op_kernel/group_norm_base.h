/*
 * What the kernels of group_norm for groups of lines share (group_norm_whole.h, group_norm_chunks.h): queues, the way of a tile in and out, gamma and beta of
 * its lines.
 *
 * A tile is a matrix of lines, `stride` floats apart, so that what a channel is multiplied by and what is added to it are one number per row (PerRow).
 */
#ifndef REFERENCE_GROUP_NORM_BASE_H
#define REFERENCE_GROUP_NORM_BASE_H

#include <type_traits>

#include "group_norm_launch.h"
#include "group_norm_tiling.h"

/* Lines of a group or of several; `width` of their positions. */
struct GroupTile {
    int64_t start;    // of the first line's part in x and y
    int64_t channel;  // of the first line
    uint32_t groups;
    uint32_t lines;
    uint32_t width;
};

template <typename T>
class GroupNormBase {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* x and y in queues, squares, what the reduction keeps, and x widened. */
    static constexpr int64_t kBytesPerElement =
        2 * kBuffers * sizeof(T) + sizeof(float) + common::RowReduction::kBytesPerElement + (kIsFloat ? 0 : sizeof(float));

protected:
    /* The reduction sees a tile as `rows` rows of `rowStride` elements. */
    __aicore__ inline void InitBase(const GroupNormTensors &tensors, const GroupTiling &tiling, uint32_t rows, uint32_t rowStride) {
        tiling_ = tiling;
        share_ = common::ShareOf(tiling.groups);
        x_.SetGlobalBuffer((__gm__ T *)tensors.x);
        y_.SetGlobalBuffer((__gm__ T *)tensors.y);
        gamma_.SetGlobalBuffer((__gm__ T *)tensors.gamma);
        beta_.SetGlobalBuffer((__gm__ T *)tensors.beta);
        const uint32_t elements = tiling.linesPerTile * tiling.stride, lines = (tiling.linesPerTile + 15) / 16 * 16;
        pipe_.InitBuffer(in_, kBuffers, elements * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, elements * sizeof(T));
        pipe_.InitBuffer(parameters_, kBuffers, 2 * lines * sizeof(T));
        pipe_.InitBuffer(squares_, elements * sizeof(float));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, elements * sizeof(float));
            pipe_.InitBuffer(numbers_, 2 * lines * sizeof(float));
        }
        pipe_.InitBuffer(spread_, 2 * lines * common::kBlockFloats * sizeof(float));
        lines_ = lines;
        reduction_.Init(pipe_, {tiling.groups, rowStride, tiling.blocks, rowStride, rows});
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Between two lines global memory may have positions of other chunks, the unified buffer whole blocks. */
    __aicore__ inline AscendC::DataCopyExtParams Copied(const GroupTile &tile, bool isStore) const {
        const uint32_t bytes = tile.width * sizeof(T), apart = (tiling_.positions - tile.width) * sizeof(T);
        const uint32_t gap = (tiling_.stride * sizeof(T) - bytes) / 32;
        return {static_cast<uint16_t>(tile.lines), bytes, isStore ? gap : apart, isStore ? apart : gap, 0};
    }

    __aicore__ inline void LoadTile(const GroupTile &tile) {
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[tile.start], Copied(tile, false), AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void LoadParameters(const GroupTile &tile) {
        const AscendC::DataCopyExtParams copied{1, static_cast<uint32_t>(tile.lines * sizeof(T)), 0, 0, 0};
        auto parameters = parameters_.template AllocTensor<T>();
        AscendC::DataCopyPad(parameters, gamma_[tile.channel], copied, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        AscendC::DataCopyPad(parameters[lines_], beta_[tile.channel], copied, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        parameters_.EnQue(parameters);
    }

    __aicore__ inline uint32_t Elements(const GroupTile &tile) const { return tile.lines * tiling_.stride; }

    /* The tile in float32, in a tensor that stays until ReleaseTile. */
    __aicore__ inline common::FloatRows TakeTile(const GroupTile &tile) {
        raw_ = in_.template DeQue<T>();
        AscendC::PipeBarrier<PIPE_V>();  // the last tile has left what is written again
        if constexpr (kIsFloat) {
            return raw_;
        } else {
            const auto wide = wide_.template Get<float>();
            AscendC::Cast(wide, raw_, AscendC::RoundMode::CAST_NONE, Elements(tile));
            AscendC::PipeBarrier<PIPE_V>();
            in_.FreeTensor(raw_);
            return wide;
        }
    }

    __aicore__ inline void ReleaseTile() {
        if constexpr (kIsFloat) {
            in_.FreeTensor(raw_);
        }
    }

    /* Zeros behind each line, which add nothing to a sum. */
    __aicore__ inline void ClearGaps(const common::FloatRows &x, const GroupTile &tile) {
        const uint32_t used = (tile.width + common::kSlice - 1) / common::kSlice * common::kSlice;
        if (used == tiling_.stride) {
            common::FillRowEnds(x, 0.0f, tile.lines, tile.width, tiling_.stride);
        } else {  // the last part of a line, which is alone
            common::FillRowEnds(x, 0.0f, 1, tile.width, used);
            AscendC::Duplicate(x[used], 0.0f, tiling_.stride - used);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* y = x * gamma + beta, line by line, and stores it. */
    __aicore__ inline void ScaleAndStore(const common::FloatRows &x, const GroupTile &tile) {
        using namespace common;
        const uint32_t stride = tiling_.stride;
        const auto spread = spread_.template Get<float>();
        SpreadParameters(spread);
        Apply<Step::kMul>(Matrix(x, stride), Matrix(x, stride), PerRow(spread), tile.lines, stride);
        AscendC::PipeBarrier<PIPE_V>();
        auto y = out_.template AllocTensor<T>();
        const auto summand = PerRow(spread[lines_ * kBlockFloats]);
        if constexpr (kIsFloat) {
            Apply<Step::kAdd>(Matrix(y, stride), Matrix(x, stride), summand, tile.lines, stride);
        } else {
            Apply<Step::kAdd>(Matrix(x, stride), Matrix(x, stride), summand, tile.lines, stride);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, x, AscendC::RoundMode::CAST_RINT, Elements(tile));
        }
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[tile.start], stored, Copied(tile, true));
        out_.FreeTensor(stored);
    }

    /* gamma and beta of the tile's lines, eight times each. */
    __aicore__ inline void SpreadParameters(const common::FloatRows &spread) {
        auto parameters = parameters_.template DeQue<T>();
        const uint8_t groups = 2 * lines_ / common::kBlockFloats;
        if constexpr (kIsFloat) {
            AscendC::Brcb(spread, parameters, groups, AscendC::BrcbRepeatParams(1, 8));
        } else {
            const auto numbers = numbers_.template Get<float>();
            AscendC::Cast(numbers, parameters, AscendC::RoundMode::CAST_NONE, 2 * lines_);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Brcb(spread, numbers, groups, AscendC::BrcbRepeatParams(1, 8));
        }
        AscendC::PipeBarrier<PIPE_V>();
        parameters_.FreeTensor(parameters);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> parameters_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> squares_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> numbers_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spread_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<T> gamma_;
    AscendC::GlobalTensor<T> beta_;
    AscendC::LocalTensor<T> raw_;
    common::RowReduction reduction_;
    GroupTiling tiling_;
    common::Share share_;
    uint32_t lines_;  // room for lines, rounded up
};

#endif  // REFERENCE_GROUP_NORM_BASE_H
