/*
 * Where losses go: each to its place, or all into one number.
 *
 * For one number every core adds its losses lane by lane, leaves two sums in the workspace (losses, and how many count), and when all have done so the first
 * core adds these up, in the same order in every run.
 */
#ifndef REFERENCE_CROSS_ENTROPY_SINK_H
#define REFERENCE_CROSS_ENTROPY_SINK_H

#include <type_traits>

#include "cross_entropy_layouts.h"
#include "cross_entropy_loss_launch.h"

template <typename T>
class LossSink {
public:
    static constexpr uint32_t kPart = kCrossEntropyWorkspaceBytes / sizeof(float);  // floats of the workspace per core
    static constexpr uint32_t kCountAt = kPart / 2;

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR loss, GM_ADDR workspace, const CrossEntropyTiling &tiling, CrossEntropyReduction reduction) {
        reduction_ = reduction;
        loss_.SetGlobalBuffer((__gm__ T *)loss);
        parts_.SetGlobalBuffer((__gm__ float *)workspace);
        pipe.InitBuffer(out_, 2, tiling.lanes * sizeof(T));
        if (reduction == CrossEntropyReduction::kNone) {
            return;
        }
        pipe.InitBuffer(sum_, common::kSlice * sizeof(float));
        pipe.InitBuffer(count_, common::kSlice * sizeof(float));
        pipe.InitBuffer(part_, 1, kPart * sizeof(float));
        pipe.InitBuffer(all_, 1, AscendC::GetBlockNum() * kPart * sizeof(float));
        AscendC::Duplicate(sum_.Get<float>(), 0.0f, common::kSlice);
        AscendC::Duplicate(count_.Get<float>(), 0.0f, common::kSlice);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline bool Reduces() const { return reduction_ != CrossEntropyReduction::kNone; }

    __aicore__ inline void Store(const common::FloatRows &loss, int64_t start, const LaneBox &lanes) {
        const uint32_t bytes = lanes.width * sizeof(T), unused = lanes.lines == 1 ? 0 : (lanes.stride * sizeof(T) - bytes) / 32;
        const uint32_t count = (lanes.lines - 1) * lanes.stride + lanes.width;
        auto y = out_.template AllocTensor<T>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Adds(y, loss, 0.0f, count);
        } else {
            AscendC::Cast(y, loss, AscendC::RoundMode::CAST_RINT, count);
        }
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(loss_[start], stored, AscendC::DataCopyExtParams{static_cast<uint16_t>(lanes.lines), bytes, unused, 0, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline void Add(const common::FloatRows &loss, const LaneBox &lanes) { AddTo(sum_.Get<float>(), loss, lanes); }
    __aicore__ inline void Count(const common::FloatRows &counted, const LaneBox &lanes) { AddTo(count_.Get<float>(), counted, lanes); }

    /* `positions`: what to divide by where nothing was counted, since nothing can be ignored. */
    __aicore__ inline void Finish(bool isCounted, float positions) {
        if (!Reduces()) {
            return;
        }
        StorePart();
        AscendC::SyncAll();
        if (AscendC::GetBlockIdx() == 0) {
            StoreTotal(isCounted, positions);
        }
    }

private:
    /* Every slice of every line onto the same 64 lanes. */
    __aicore__ inline void AddTo(const common::FloatRows &sum, const common::FloatRows &x, const LaneBox &lanes) {
        using namespace common;
        const Operand onto{sum, 0, 0};
        Apply<Step::kAdd>(onto, Matrix(x, lanes.stride), onto, lanes.lines, lanes.width);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void StorePart() {
        auto part = part_.template AllocTensor<float>();
        AscendC::Duplicate(part, 0.0f, kPart);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::WholeReduceSum(part, sum_.Get<float>(), common::kSlice, 1, 1, 1, 8);
        AscendC::WholeReduceSum(part[kCountAt], count_.Get<float>(), common::kSlice, 1, 1, 1, 8);
        part_.EnQue(part);
        auto stored = part_.template DeQue<float>();
        AscendC::DataCopy(parts_[AscendC::GetBlockIdx() * kPart], stored, kPart);
        part_.FreeTensor(stored);
    }

    __aicore__ inline void StoreTotal(bool isCounted, float positions) {
        using namespace common;
        const auto total = sum_.Get<float>(), divisor = count_.Get<float>();
        const uint32_t cores = AscendC::GetBlockNum();
        auto loading = all_.template AllocTensor<float>();
        AscendC::DataCopy(loading, parts_, cores * kPart);
        all_.EnQue(loading);
        auto parts = all_.template DeQue<float>();
        AscendC::Duplicate(total, 0.0f, kPart);
        AscendC::Duplicate(divisor, positions, kBlockFloats);
        AscendC::PipeBarrier<PIPE_V>();
        Apply<Step::kAdd>(OneRow(total), Matrix(parts, kPart), OneRow(total), cores, kPart);
        AscendC::PipeBarrier<PIPE_V>();
        if (isCounted) {
            AscendC::Adds(divisor, total[kCountAt], 0.0f, kBlockFloats);
            AscendC::PipeBarrier<PIPE_V>();
        }
        if (reduction_ == CrossEntropyReduction::kMean) {
            AscendC::Div(total, total, divisor, 1);
            AscendC::PipeBarrier<PIPE_V>();
        }
        Store(total, 0, {1, 1, 1});
        all_.FreeTensor(parts);
    }

    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> part_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> all_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sum_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> count_;
    AscendC::GlobalTensor<T> loss_;
    AscendC::GlobalTensor<float> parts_;
    CrossEntropyReduction reduction_;
};

#endif  // REFERENCE_CROSS_ENTROPY_SINK_H
