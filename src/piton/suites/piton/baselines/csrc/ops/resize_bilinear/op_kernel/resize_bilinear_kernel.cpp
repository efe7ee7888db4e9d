/*
 * resize_bilinear, plain: a core takes one new row after the other; two old rows are loaded and added with their shares, then the neighbours of the new
 * columns are gathered and added with theirs. The scalar unit forms all positions. Everything is float32, rounded once.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "resize_bilinear_launch.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T>
class ResizeKernel {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr uint32_t kColumns = 512;  // new ones at a time
    static constexpr uint32_t kWidth = 8192;   // most old ones that these come from

    __aicore__ inline void Init(const ResizeTensors &tensors) {
        tensors_ = tensors;
        x_.SetGlobalBuffer((__gm__ T *)tensors.x);
        y_.SetGlobalBuffer((__gm__ T *)tensors.y);
        pipe_.InitBuffer(in_, kBufferNum, kWidth * sizeof(T));
        pipe_.InitBuffer(table_, 4 * kColumns * sizeof(float));
        pipe_.InitBuffer(out_, kBufferNum, kColumns * sizeof(T));
        pipe_.InitBuffer(mixed_, kWidth * sizeof(float));
        pipe_.InitBuffer(wide_, kWidth * sizeof(float));
        pipe_.InitBuffer(work_, 2 * kColumns * sizeof(float));
    }

    __aicore__ inline void Process() {
        const int64_t rows = tensors_.planes * tensors_.rows.size, share = (rows + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t first = share * AscendC::GetBlockIdx(), last = rows < first + share ? rows : first + share;
        for (int64_t column = 0; column < tensors_.columns.size && first < last; column += kColumns) {
            const int64_t left = tensors_.columns.size - column;
            const uint32_t count = left < kColumns ? left : kColumns;
            MakeTable(column, count);
            for (int64_t row = first; row < last; ++row) {
                MakePart(row, column, count);
            }
        }
    }

private:
    /* Where a new pixel lies: its neighbours and their shares. */
    struct Place {
        int64_t low, high;
        float lowShare, highShare;
    };

    __aicore__ inline Place PlaceOf(const ResizeAxis &axis, int64_t number) const {
        const int64_t numerator = axis.step * number + axis.start, position = numerator > 0 ? numerator : 0;
        const int64_t low = position / axis.divisor < axis.old ? position / axis.divisor : axis.old - 1, rest = position % axis.divisor;
        const float whole = axis.divisor;
        return {low, low + 1 < axis.old ? low + 1 : low, static_cast<float>(axis.divisor - rest) / whole, static_cast<float>(rest) / whole};
    }

    /* Of `count` columns: byte offsets of the lower and the upper neighbours behind the first one, and the shares. */
    __aicore__ inline void MakeTable(int64_t column, uint32_t count) {
        const auto table = table_.template Get<float>();
        const auto offsets = table.template ReinterpretCast<int32_t>();
        Order<AscendC::HardEvent::V_S>();
        start_ = PlaceOf(tensors_.columns, column).low;
        end_ = PlaceOf(tensors_.columns, column + count - 1).high + 1;
        for (uint32_t number = 0; number < count; ++number) {
            const Place place = PlaceOf(tensors_.columns, column + number);
            offsets.SetValue(number, static_cast<int32_t>((place.low - start_) * sizeof(float)));
            offsets.SetValue(kColumns + number, static_cast<int32_t>((place.high - start_) * sizeof(float)));
            table.SetValue(2 * kColumns + number, place.lowShare);
            table.SetValue(3 * kColumns + number, place.highShare);
        }
        Order<AscendC::HardEvent::S_V>();
    }

    template <AscendC::HardEvent event>
    __aicore__ inline void Order() {
        const auto id = static_cast<AscendC::TEventID>(GetTPipePtr()->FetchEventID(event));
        AscendC::SetFlag<event>(id);
        AscendC::WaitFlag<event>(id);
    }

    __aicore__ inline void MakePart(int64_t row, int64_t column, uint32_t count) {
        const int64_t newRows = tensors_.rows.size, plane = row / newRows * tensors_.rows.old;
        const Place place = PlaceOf(tensors_.rows, row % newRows);
        const auto mixed = mixed_.template Get<float>();
        AddRow(mixed, (plane + place.low) * tensors_.columns.old + start_, end_ - start_, place.lowShare, true);
        AddRow(mixed, (plane + place.high) * tensors_.columns.old + start_, end_ - start_, place.highShare, false);
        GatherColumns(mixed, count);
        Store(row * tensors_.columns.size + column, count);
    }

    /* mixed = share * row, or mixed += share * row. */
    __aicore__ inline void AddRow(const FloatTensor &mixed, int64_t from, uint32_t count, float share, bool isFirst) {
        const uint32_t bytes = count * sizeof(T);
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[from], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
        auto loaded = in_.template DeQue<T>();
        const auto wide = wide_.template Get<float>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Muls(wide, loaded, share, count);
        } else {
            AscendC::Cast(wide, loaded, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Muls(wide, wide, share, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        if (isFirst) {
            AscendC::Adds(mixed, wide, 0.0f, count);
        } else {
            AscendC::Add(mixed, mixed, wide, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        in_.FreeTensor(loaded);
    }

    __aicore__ inline void GatherColumns(const FloatTensor &mixed, uint32_t count) {
        const auto table = table_.template Get<float>();
        for (uint32_t side = 0; side < 2; ++side) {
            const auto seen = work_.template Get<float>()[side * kColumns];
            AscendC::Gather(seen, mixed, table[side * kColumns].template ReinterpretCast<uint32_t>(), 0, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Mul(seen, seen, table[(2 + side) * kColumns], count);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void Store(int64_t to, uint32_t count) {
        const uint32_t bytes = count * sizeof(T);
        const auto low = work_.template Get<float>(), high = low[kColumns];
        auto y = out_.template AllocTensor<T>();
        if constexpr (std::is_same_v<T, float>) {
            AscendC::Add(y, low, high, count);
        } else {
            AscendC::Add(low, low, high, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, low, AscendC::RoundMode::CAST_RINT, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[to], stored, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        out_.FreeTensor(stored);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> table_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> mixed_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    ResizeTensors tensors_;
    int64_t start_;  // old columns that the table's come from
    int64_t end_;
};

template <typename T>
__global__ __aicore__ void resize_bilinear_kernel(ResizeTensors tensors) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    ResizeKernel<T> kernel;
    kernel.Init(tensors);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(const ResizeTensors &tensors, void *stream) {
    resize_bilinear_kernel<T><<<baseline::VectorCores(), nullptr, stream>>>(tensors);
}

void LaunchResizeBilinear(baseline::ElementType type, const ResizeTensors &tensors, void *stream) {
    if (type == baseline::ElementType::kFloat16) {
        LaunchTyped<half>(tensors, stream);
    } else if (type == baseline::ElementType::kBfloat16) {
        LaunchTyped<bfloat16_t>(tensors, stream);
    } else {
        LaunchTyped<float>(tensors, stream);
    }
}
