/* Norm of one tensor, plain: a launch in which each core leaves its part of the sum in global memory, and one in which a single core adds the parts. */
#include <cmath>
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "foreach_norm_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

constexpr uint32_t kTile = baseline::kTileElements;
constexpr uint32_t kPartFloats = 8;  // a block of 32 bytes for each core

enum class NormKind : int32_t { kNonzeros, kMagnitudes, kSquares, kLargest, kSmallest, kPowers };

__aicore__ inline void Power(const FloatTensor &x, float exponent, uint32_t count) {
    AscendC::Ln(x, x, count);
    AscendC::Muls(x, x, exponent, count);
    AscendC::Exp(x, x, count);
}

__aicore__ inline void Reduce(const FloatTensor &y, const FloatTensor &x, const FloatTensor &work, NormKind kind, uint32_t count) {
    if (kind == NormKind::kLargest) {
        AscendC::ReduceMax(y, x, work, count);
    } else if (kind == NormKind::kSmallest) {
        AscendC::ReduceMin(y, x, work, count);
    } else {
        AscendC::ReduceSum(y, x, work, count);
    }
}

template <typename T>
class PartKernel {
public:
    static constexpr int32_t kBufferNum = 1;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR parts, int64_t elements, NormKind kind, float order) {
        const int64_t perBlock = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        kind_ = kind;
        order_ = order;
        x_.SetGlobalBuffer((__gm__ T *)x + start);
        parts_.SetGlobalBuffer((__gm__ float *)parts + AscendC::GetBlockIdx() * kPartFloats);
        pipe_.InitBuffer(in_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(out_, kBufferNum, kPartFloats * sizeof(float));
        pipe_.InitBuffer(wide_, kTile * sizeof(float));
        pipe_.InitBuffer(total_, kTile * sizeof(float));
    }

    __aicore__ inline void Process() {
        const auto total = total_.template Get<float>();
        AscendC::Duplicate(total, kind_ == NormKind::kSmallest ? __builtin_huge_valf() : 0.0f, kTile);
        for (int64_t start = 0; start < length_; start += kTile) {
            const uint32_t count = length_ - start < kTile ? length_ - start : kTile;
            CopyIn(start, count);
            Compute(total, count);
        }
        CopyOut(total);
    }

private:
    __aicore__ inline void CopyIn(int64_t start, uint32_t count) {
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(x, x_[start], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(const FloatTensor &total, uint32_t count) {
        auto x = in_.template DeQue<T>();
        const auto wide = wide_.template Get<float>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Abs(wide, x, count);
        } else {
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Abs(wide, wide, count);
        }
        in_.FreeTensor(x);
        Raise(wide, count);
        if (kind_ == NormKind::kLargest) {
            AscendC::Max(total, total, wide, count);
        } else if (kind_ == NormKind::kSmallest) {
            AscendC::Min(total, total, wide, count);
        } else {
            AscendC::Add(total, total, wide, count);
        }
    }

    __aicore__ inline void Raise(const FloatTensor &x, uint32_t count) {
        if (kind_ == NormKind::kSquares) {
            AscendC::Mul(x, x, x, count);
        } else if (kind_ == NormKind::kPowers) {
            Power(x, order_, count);
        } else if (kind_ == NormKind::kNonzeros) {  // any bit is set
            const auto bits = x.ReinterpretCast<int32_t>();
            AscendC::Mins(bits, bits, 1, count);
            AscendC::Cast(x, bits, AscendC::RoundMode::CAST_NONE, count);
        }
    }

    __aicore__ inline void CopyOut(const FloatTensor &total) {
        auto part = out_.template AllocTensor<float>();
        Reduce(part, total, wide_.template Get<float>(), kind_, kTile);
        out_.EnQue(part);
        part = out_.template DeQue<float>();
        AscendC::DataCopyPad(parts_, part, AscendC::DataCopyExtParams{1, sizeof(float), 0, 0, 0});
        out_.FreeTensor(part);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> total_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<float> parts_;
    int64_t length_;
    NormKind kind_;
    float order_;
};

template <typename T>
__global__ __aicore__ void norm_part_kernel(GM_ADDR x, GM_ADDR parts, int64_t elements, int32_t kind, float order) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    PartKernel<T> kernel;
    kernel.Init(x, parts, elements, static_cast<NormKind>(kind), order);
    kernel.Process();
}

/* One core: the first float of each part, gathered without gaps; their sum, its root, rounded. */
template <typename T>
__global__ __aicore__ void norm_total_kernel(GM_ADDR parts, GM_ADDR y, uint32_t count, int32_t kindNumber, float root) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const auto kind = static_cast<NormKind>(kindNumber);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work;
    pipe.InitBuffer(in, 1, count * kPartFloats * sizeof(float));
    pipe.InitBuffer(out, 1, kPartFloats * sizeof(float));
    pipe.InitBuffer(work, count * kPartFloats * sizeof(float));
    AscendC::GlobalTensor<float> source;
    AscendC::GlobalTensor<T> target;
    source.SetGlobalBuffer((__gm__ float *)parts);
    target.SetGlobalBuffer((__gm__ T *)y);
    auto x = in.AllocTensor<float>();
    AscendC::DataCopyExtParams shape{static_cast<uint16_t>(count), sizeof(float), (kPartFloats - 1) * sizeof(float), 0, 0};
    AscendC::DataCopyPad(x, source, shape,
                         AscendC::DataCopyPadExtParams<float>{true, 0, kPartFloats - 1, kind == NormKind::kSmallest ? __builtin_huge_valf() : 0.0f});
    in.EnQue(x);
    x = in.DeQue<float>();
    const auto total = work.Get<float>();
    Reduce(total, x, total, kind, count * kPartFloats);
    in.FreeTensor(x);
    if (kind == NormKind::kSquares) {
        AscendC::Sqrt(total, total, 1);
    } else if (kind == NormKind::kPowers) {
        Power(total, root, 1);
    }
    auto norm = out.AllocTensor<T>();
    if constexpr (std::is_same_v<T, float>) {
        AscendC::Adds(norm, total, 0.0f, 1);
    } else {
        AscendC::Cast(norm, total, AscendC::RoundMode::CAST_RINT, 1);
    }
    out.EnQue(norm);
    norm = out.DeQue<T>();
    AscendC::DataCopyPad(target, norm, AscendC::DataCopyExtParams{1, sizeof(T), 0, 0, 0});
    out.FreeTensor(norm);
}

int64_t NormWorkspaceBytes() { return baseline::VectorCores() * kPartFloats * static_cast<int64_t>(sizeof(float)); }

static NormKind KindOf(float order) {
    if (std::isinf(order)) {
        return order > 0 ? NormKind::kLargest : NormKind::kSmallest;
    }
    return order == 0 ? NormKind::kNonzeros : order == 1 ? NormKind::kMagnitudes : order == 2 ? NormKind::kSquares : NormKind::kPowers;
}

template <typename T>
static void LaunchTyped(void *x, void *y, int64_t elements, float order, void *workspace, void *stream) {
    const uint32_t blocks = baseline::VectorCores();
    const auto kind = static_cast<int32_t>(KindOf(order));
    norm_part_kernel<T><<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)workspace, elements, kind, order);
    norm_total_kernel<T><<<1, nullptr, stream>>>((GM_ADDR)workspace, (GM_ADDR)y, blocks, kind, 1 / order);
}

void LaunchNorm(baseline::ElementType type, void *x, void *y, int64_t elements, float order, void *workspace, void *stream) {
    if (type == baseline::ElementType::kFloat16) {
        LaunchTyped<half>(x, y, elements, order, workspace, stream);
    } else if (type == baseline::ElementType::kBfloat16) {
        LaunchTyped<bfloat16_t>(x, y, elements, order, workspace, stream);
    } else {
        LaunchTyped<float>(x, y, elements, order, workspace, stream);
    }
}
