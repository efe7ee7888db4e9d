/*
 * Norm of each tensor of a list, of any order, for float16, bfloat16 and float32.
 *
 * Problem: read everything once, at the rate of memory, whether it is one tensor of 1e8 elements or 64 of ten; add up without loss.
 * Approach: each core takes an equal piece of the whole list (list_tiles.h) and keeps one running total per lane of a tile, so that a sum of 1e8 terms is a
 * sum of some hundred per lane, then a tree. What is left of a tensor is 64 lanes. A core that has all of the tensor finishes it. Else the lanes go to
 * global memory, all cores meet once, and one of them joins the parts in the order of the cores: the same result every time, no atomics.
 * Limits: 32 tensors per launch. The kernel is of a kind whose cores the chip starts together (MIX_AIV_1_0), since they meet.
 */
#include <cmath>
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/list_tiles.h"
#include "foreach_norm_launch.h"
#include "norm_steps.h"

template <typename T>
class ForeachNorm {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* Unified buffer per element of a tile: the queue's buffers, the totals, and a float32 copy for the 16-bit types. */
    static constexpr int64_t kBytesPerElement = kBuffers * sizeof(T) + sizeof(float) + (kIsFloat ? 0 : sizeof(float));
    static constexpr int64_t kBytesPerPart = kLanes * sizeof(float);
    static constexpr int64_t kElementsPerLaunch = 2500;  // seven vector cycles per 64 elements

    __aicore__ inline ForeachNorm(const NormList &list, GM_ADDR parts, const NormSteps &steps) : list_(list), steps_(steps) {
        parts_.SetGlobalBuffer((__gm__ float *)parts);
        const uint32_t tile = list.perTile * sizeof(T), gathered = AscendC::GetBlockNum() * kBytesPerPart;
        pipe_.InitBuffer(in_, kBuffers, tile > gathered ? tile : gathered);
        // 256 bytes before and behind the totals, so that what joins them lies in other bank groups.
        pipe_.InitBuffer(out_, 1, kBytesPerPart);
        pipe_.InitBuffer(total_, list.perTile * sizeof(float) + kBytesPerPart);
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, list.perTile * sizeof(float));
        }
    }

    __aicore__ inline void Process(bool isMeeting) {
        common::ListTiles<NormList> tiles(list_);
        common::ListTile tile, next;
        bool isLeft = tiles.Next(tile);
        if (isLeft) {
            CopyIn(tile);
        }
        while (isLeft) {
            isLeft = tiles.Next(next);
            if (isLeft) {
                CopyIn(next);
            }
            Compute(tile);
            tile = next;
        }
        if (isMeeting) {
            AscendC::SyncAll();
            JoinParts();
        }
    }

private:
    __aicore__ inline void CopyIn(const common::ListTile &tile) {
        auto x = in_.template AllocTensor<T>();
        AscendC::GlobalTensor<T> source;
        source.SetGlobalBuffer((__gm__ T *)list_.addresses[tile.tensor][0] + tile.first, tile.count);
        source.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once
        const uint32_t bytes = tile.count * sizeof(T);
        AscendC::DataCopyPad(x, source, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(const common::ListTile &tile) {
        const auto total = total_.template Get<float>();
        if (tile.isFirst) {  // no later tile of this tensor is longer
            lanes_ = tile.count > kLanes ? (tile.count + kLanes - 1) / kLanes * kLanes : kLanes;
            first_ = tile.first;
            steps_.Clear(total, lanes_);
        }
        auto x = in_.template DeQue<T>();
        Add(total, x, tile.count);
        in_.FreeTensor(x);
        if (!tile.isLast) {
            return;
        }
        steps_.Fold(total, lanes_);
        if (first_ == 0 && tile.first + tile.count == list_.elements[tile.tensor]) {
            StoreNorm(tile.tensor, total);
        } else {
            StorePart(tile.tensor, total);
        }
    }

    __aicore__ inline void Add(const FloatTensor &total, const AscendC::LocalTensor<T> &x, uint32_t count) {
        if constexpr (kIsFloat) {
            steps_.Raise(x, count);
            steps_.Join(total, x, count);
        } else {
            const auto wide = wide_.template Get<float>();
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            steps_.Raise(wide, count);
            steps_.Join(total, wide, count);
        }
    }

    __aicore__ inline int64_t PlaceOf(int32_t tensor, int64_t block) const { return (tensor * AscendC::GetBlockNum() + block) * kLanes; }

    __aicore__ inline void StorePart(int32_t tensor, const FloatTensor &total) {
        auto part = out_.template AllocTensor<float>();
        AscendC::DataCopy(part, total, kLanes);
        AscendC::PipeBarrier<PIPE_V>();  // the next tensor clears the totals
        out_.EnQue(part);
        part = out_.template DeQue<float>();
        AscendC::DataCopy(parts_[PlaceOf(tensor, AscendC::GetBlockIdx())], part, kLanes);
        out_.FreeTensor(part);
    }

    __aicore__ inline void StoreNorm(int32_t tensor, const FloatTensor &total) {
        constexpr uint32_t kNarrow = 32;  // elements of T from the start: behind the float32 norm
        auto norm = out_.template AllocTensor<float>();
        steps_.Finish(norm, total);
        if constexpr (!kIsFloat) {
            AscendC::Cast(norm.template ReinterpretCast<T>()[kNarrow], norm, AscendC::RoundMode::CAST_RINT, 1);
        }
        out_.EnQue(norm);
        norm = out_.template DeQue<float>();
        AscendC::GlobalTensor<T> y;
        y.SetGlobalBuffer((__gm__ T *)list_.addresses[tensor][1], 1);
        AscendC::DataCopyPad(y, norm.template ReinterpretCast<T>()[kIsFloat ? 0 : kNarrow], AscendC::DataCopyExtParams{1, sizeof(T), 0, 0, 0});
        out_.FreeTensor(norm);
    }

    /* The tensors that several cores share, dealt out over all cores. */
    __aicore__ inline void JoinParts() {
        int64_t granules = 0;
        for (int32_t tensor = 0; tensor < list_.tensors; ++tensor) {
            const int64_t first = granules / list_.perBlock;
            granules += common::GranulesOf(list_, tensor);
            const int64_t last = (granules - 1) / list_.perBlock;
            if (first != last && tensor % AscendC::GetBlockNum() == AscendC::GetBlockIdx()) {
                JoinParts(tensor, first, last - first + 1);
            }
        }
    }

    __aicore__ inline void JoinParts(int32_t tensor, int64_t first, uint32_t count) {
        auto parts = in_.template AllocTensor<float>();
        AscendC::DataCopy(parts, parts_[PlaceOf(tensor, first)], count * kLanes);
        in_.EnQue(parts);
        parts = in_.template DeQue<float>();
        steps_.FoldFloats(parts, count * kLanes);
        StoreNorm(tensor, parts);
        in_.FreeTensor(parts);
    }

    const NormList &list_;
    NormSteps steps_;
    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> total_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::GlobalTensor<float> parts_;
    uint32_t lanes_;
    int64_t first_;
};

template <typename T>
__global__ __aicore__ void foreach_norm_kernel(NormList list, GM_ADDR parts, int32_t kind, float order, float root, bool isMeeting) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    NormSteps steps;
    steps.Init(static_cast<NormKind>(kind), order, root);
    ForeachNorm<T> kernel(list, parts, steps);
    kernel.Process(isMeeting);
}

static NormKind KindOf(float order) {
    if (std::isinf(order)) {
        return order > 0 ? NormKind::kLargest : NormKind::kSmallest;
    }
    return order == 0 ? NormKind::kNonzeros : order == 1 ? NormKind::kMagnitudes : order == 2 ? NormKind::kSquares : NormKind::kPowers;
}

/* Does a tensor lie on more than one core? */
static bool IsShared(const NormList &list) {
    int64_t granules = 0;
    for (int32_t tensor = 0; tensor < list.tensors; ++tensor) {
        const int64_t first = granules / list.perBlock;
        granules += common::GranulesOf(list, tensor);
        if (first != (granules - 1) / list.perBlock) {
            return true;
        }
    }
    return false;
}

int64_t ForeachNormWorkspaceBytes(int32_t tensors) { return tensors * common::VectorCores() * ForeachNorm<float>::kBytesPerPart; }

template <typename T>
static void LaunchTyped(NormList list, float order, void *workspace, void *stream) {
    using Kernel = ForeachNorm<T>;
    const int64_t fixed = Kernel::kBytesPerPart * (2 + Kernel::kBuffers * common::VectorCores());
    const uint32_t blocks = common::PlanList(list, {sizeof(T), Kernel::kBytesPerElement, fixed, Kernel::kElementsPerLaunch});
    const auto kind = static_cast<int32_t>(KindOf(order));
    foreach_norm_kernel<T><<<blocks, nullptr, stream>>>(list, (GM_ADDR)workspace, kind, order, 1 / order, IsShared(list));
}

void LaunchForeachNorm(common::ElementType type, NormList list, float order, void *workspace, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(list, order, workspace, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(list, order, workspace, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(list, order, workspace, stream);
    }
}
