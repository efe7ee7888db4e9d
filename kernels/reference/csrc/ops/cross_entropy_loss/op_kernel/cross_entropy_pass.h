/*
 * The pass of cross_entropy_loss over a core's scores: from tiles of scores to losses (see cross_entropy_loss_kernel.cpp for what is kept of each loss).
 *
 * The next tile is loaded before the current one is computed. How scores lie is the layout's affair (cross_entropy_layouts.h), which score is meant and what
 * counts that of the targets (cross_entropy_targets.h), where losses go that of the sink (cross_entropy_sink.h).
 */
#ifndef REFERENCE_CROSS_ENTROPY_PASS_H
#define REFERENCE_CROSS_ENTROPY_PASS_H

#include <limits>
#include <type_traits>

#include "cross_entropy_exponentials.h"
#include "cross_entropy_layouts.h"
#include "cross_entropy_sink.h"
#include "cross_entropy_targets.h"

template <typename T, typename Target, typename Layout>
class CrossEntropyLoss {
public:
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr bool kHasWeights = std::is_same_v<T, Target>;
    /* 16-bit tensors are free as soon as they are widened, early in a tile: one buffer is enough for the next load to run beside the arithmetic. */
    static constexpr int32_t kBuffers = kIsFloat ? 2 : 1;
    static constexpr int32_t kTargetBuffers = kHasWeights ? kBuffers : 2;
    static constexpr uint32_t kOtherGroups = 256;  // bytes between weights and scores, so that their product reads different bank groups
    static constexpr int64_t kTensors = kHasWeights ? 2 : 1;
    /* Scores and weights in queues, and widened. */
    static constexpr int64_t kBytesPerElement = kTensors * (kBuffers * sizeof(T) + (kIsFloat ? 0 : sizeof(float)));

    __aicore__ inline void Init(const CrossEntropyTensors &tensors, const CrossEntropyTiling &tiling, CrossEntropyReduction reduction, int32_t ignored) {
        tiling_ = tiling;
        share_ = common::ShareOf(tiling.items);
        positions_ = static_cast<float>(tensors.outer * tensors.inner);
        x_.SetGlobalBuffer((__gm__ T *)tensors.input);
        target_.SetGlobalBuffer((__gm__ Target *)tensors.target);
        layout_.Init(pipe_, tiling);
        sink_.Init(pipe_, (GM_ADDR)tensors.loss, (GM_ADDR)tensors.workspace, tiling, reduction);
        InitBuffers();
        exponentials_.Init(most_.template Get<float>());
        if constexpr (!kHasWeights) {
            classes_.Init(pipe_, layout_, tiling, ignored);
            ClearTargets();
        }
    }

    /* What the next tile needs is asked for as soon as there is a buffer for it. */
    __aicore__ inline void Process() {
        next_ = {0, 0};
        LoadScores();
        LoadTarget();
        for (Position now{0, 0}; now.item < share_.count; now = next_) {
            next_ = After(now);
            Compute(TileAt(now), now.chunk);
        }
        sink_.Finish(!kHasWeights, positions_);
    }

private:
    struct Position {
        int64_t item;  // of this core
        uint32_t chunk;
    };

    __aicore__ inline void InitBuffers() {
        const uint32_t lines = std::is_same_v<Layout, RowsLayout> ? tiling_.perTile : tiling_.perTile * tiling_.perChunk;
        const uint32_t elements = lines * tiling_.stride;
        pipe_.InitBuffer(in_, kBuffers, elements * sizeof(T));
        pipe_.InitBuffer(targets_, kTargetBuffers, kHasWeights ? elements * sizeof(T) : tiling_.lanes * sizeof(Target));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, elements * sizeof(float));
            if constexpr (kHasWeights) {
                pipe_.InitBuffer(weights_, elements * sizeof(float) + kOtherGroups);
            }
        }
        for (auto *lanes : {&most_, &sum_, &chosen_, &change_, &weight_}) {
            pipe_.InitBuffer(*lanes, tiling_.lanes * sizeof(float));
        }
    }

    /* Lanes between the losses are computed along: they need classes that exist. */
    __aicore__ inline void ClearTargets() {
        AscendC::LocalTensor<Target> cleared[kTargetBuffers];
        for (auto &one : cleared) {
            one = targets_.template AllocTensor<Target>();
            AscendC::Duplicate(one.template ReinterpretCast<int32_t>(), 0, tiling_.lanes * sizeof(Target) / sizeof(int32_t));
        }
        for (auto &one : cleared) {
            targets_.FreeTensor(one);
        }
    }

    __aicore__ inline Position After(const Position &now) const {
        return now.chunk + 1 < tiling_.chunks ? Position{now.item, now.chunk + 1} : Position{now.item + tiling_.perTile, 0};
    }

    __aicore__ inline LossTile TileAt(const Position &at) const {
        const int64_t item = share_.first + at.item, left = share_.count - at.item;
        const uint32_t firstClass = at.chunk * tiling_.perChunk;
        const int64_t column = item % tiling_.itemsPerOuter * tiling_.width, columnsLeft = tiling_.inner - column, classesLeft = tiling_.classes - firstClass;
        return {item, static_cast<uint32_t>(left < tiling_.perTile ? left : tiling_.perTile),
                static_cast<uint32_t>(columnsLeft < tiling_.width ? columnsLeft : tiling_.width), firstClass,
                static_cast<uint32_t>(classesLeft < tiling_.perChunk ? classesLeft : tiling_.perChunk)};
    }

    template <typename Queue, typename U>
    __aicore__ inline void Load(Queue &queue, const AscendC::GlobalTensor<U> &from, const AscendC::DataCopyExtParams &copied) {
        auto tensor = queue.template AllocTensor<U>();
        AscendC::DataCopyPad(tensor, from, copied, AscendC::DataCopyPadExtParams<U>{false, 0, 0, 0});
        queue.EnQue(tensor);
    }

    __aicore__ inline void LoadScores() {
        if (next_.item < share_.count) {
            const LossTile tile = TileAt(next_);
            Load(in_, x_[layout_.Start(tile)], layout_.template Copied<T>(tile));
        }
    }

    /* Weights of the tile, or classes with the first chunk of their losses. */
    __aicore__ inline void LoadTarget() {
        if (next_.item >= share_.count) {
            return;
        }
        const LossTile tile = TileAt(next_);
        if constexpr (kHasWeights) {
            Load(targets_, target_[layout_.Start(tile)], layout_.template Copied<T>(tile));
        } else if (next_.chunk == 0) {
            const LaneBox lanes = layout_.Lanes(tile);
            const uint32_t bytes = lanes.width * sizeof(Target), unused = lanes.lines == 1 ? 0 : (lanes.stride * sizeof(Target) - bytes) / 32;
            Load(targets_, target_[layout_.LossStart(tile)], AscendC::DataCopyExtParams{static_cast<uint16_t>(lanes.lines), bytes, 0, unused, 0});
        }
    }

    __aicore__ inline void Compute(const LossTile &tile, uint32_t chunk) {
        if constexpr (kIsFloat) {
            LoadScores();
        }
        if constexpr (kIsFloat || !kHasWeights) {
            LoadTarget();
        }
        auto x = in_.template DeQue<T>();
        AscendC::PipeBarrier<PIPE_V>();  // the last tile has left what is written again
        if (chunk == 0) {
            Begin(tile);
        }
        if constexpr (kIsFloat) {
            TakeScores(x, tile, chunk);
            in_.FreeTensor(x);
        } else {
            const auto wide = wide_.template Get<float>();
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, layout_.Elements(tile));
            AscendC::PipeBarrier<PIPE_V>();
            in_.FreeTensor(x);
            LoadScores();
            TakeScores(wide, tile, chunk);
        }
        if (chunk + 1 == tiling_.chunks) {
            End(tile);
        }
    }

    __aicore__ inline uint32_t LanesOf(const LossTile &tile) const {
        const LaneBox lanes = layout_.Lanes(tile);
        return lanes.lines == 1 ? lanes.width : lanes.lines * lanes.stride;
    }

    __aicore__ inline void Begin(const LossTile &tile) {
        if constexpr (!kHasWeights) {
            AscendC::Duplicate(chosen_.template Get<float>(), 0.0f, tiling_.lanes);
            auto target = targets_.template DeQue<Target>();
            classes_.Take(target, LanesOf(tile));
            targets_.FreeTensor(target);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void TakeScores(const common::FloatRows &x, const LossTile &tile, uint32_t chunk) {
        const auto most = most_.template Get<float>(), sum = sum_.template Get<float>();
        layout_.FillGaps(x, -std::numeric_limits<float>::infinity(), tile);
        RaiseMaximum(x, tile, chunk);
        if constexpr (!kHasWeights) {
            classes_.AddChosen(chosen_.template Get<float>(), x, tile, LanesOf(tile));
        }
        layout_.Subtract(x, most, tile);
        if constexpr (kHasWeights) {
            TakeWeights(x, tile);
        }
        exponentials_.Run(x, layout_.Elements(tile));
        layout_.AddSum(sum, x, tile);
    }

    /* m of the tile; after the first chunk what was summed up with the old m is brought to the new one. */
    __aicore__ inline void RaiseMaximum(const common::FloatRows &x, const LossTile &tile, uint32_t chunk) {
        const auto most = most_.template Get<float>(), change = change_.template Get<float>(), sum = sum_.template Get<float>();
        const uint32_t count = LanesOf(tile);
        if (chunk == 0) {
            layout_.Max(most, x, tile);
            return;
        }
        layout_.Max(change, x, tile);
        AscendC::Max(change, change, most, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sub(most, most, change, count);  // old - new
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (kHasWeights) {
            const auto chosen = chosen_.template Get<float>();
            AscendC::MulAddDst(chosen, most, weight_.template Get<float>(), count);
            AscendC::PipeBarrier<PIPE_V>();
        }
        exponentials_.Run(most, count);
        AscendC::Mul(sum, sum, most, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(most, change, 0.0f, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* W and a; x is the scores less m. */
    __aicore__ inline void TakeWeights(const common::FloatRows &x, const LossTile &tile) {
        auto raw = targets_.template DeQue<T>();
        if constexpr (kIsFloat) {
            Weigh(x, raw, tile);
            targets_.FreeTensor(raw);
        } else {
            const auto weights = weights_.template Get<float>()[kOtherGroups / sizeof(float)];
            AscendC::Cast(weights, raw, AscendC::RoundMode::CAST_NONE, layout_.Elements(tile));
            AscendC::PipeBarrier<PIPE_V>();
            targets_.FreeTensor(raw);
            LoadTarget();
            Weigh(x, weights, tile);
        }
    }

    __aicore__ inline void Weigh(const common::FloatRows &x, const common::FloatRows &weights, const LossTile &tile) {
        layout_.FillGaps(weights, 0.0f, tile);
        layout_.AddSum(weight_.template Get<float>(), weights, tile);
        AscendC::Mul(weights, weights, x, layout_.Elements(tile));
        AscendC::PipeBarrier<PIPE_V>();
        layout_.FillGaps(weights, 0.0f, tile);  // 0 times -inf is NaN
        layout_.AddSum(chosen_.template Get<float>(), weights, tile);
    }

    /* log(s) - (chosen score - m), or W log(s) - a. */
    __aicore__ inline void End(const LossTile &tile) {
        const auto most = most_.template Get<float>(), loss = sum_.template Get<float>(), chosen = chosen_.template Get<float>();
        const LaneBox lanes = layout_.Lanes(tile);
        const uint32_t count = LanesOf(tile);
        AscendC::Ln(loss, loss, count);
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (kHasWeights) {
            AscendC::Mul(loss, loss, weight_.template Get<float>(), count);
        } else {
            AscendC::Sub(chosen, chosen, most, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sub(loss, loss, chosen, count);
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (!kHasWeights) {
            const auto counted = classes_.DropIgnored(loss, count);
            if (sink_.Reduces()) {
                sink_.Count(counted, lanes);
            }
        }
        if (sink_.Reduces()) {
            sink_.Add(loss, lanes);
        } else {
            sink_.Store(loss, layout_.LossStart(tile), lanes);
        }
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECIN, kTargetBuffers> targets_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> weights_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> most_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sum_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> chosen_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> change_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> weight_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<Target> target_;
    Layout layout_;
    ClassTargets classes_;
    CappedExponentials exponentials_;
    LossSink<T> sink_;
    CrossEntropyTiling tiling_;
    common::Share share_;
    Position next_;  // what to load
    float positions_;
};

#endif  // REFERENCE_CROSS_ENTROPY_PASS_H
