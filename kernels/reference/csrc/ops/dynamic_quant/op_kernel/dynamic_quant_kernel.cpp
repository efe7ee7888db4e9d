/*
 * dynamic_quant of float16 and bfloat16: scale = max(largest magnitude of a row, 1e-12) / 127, y = round(x / scale) as int8.
 *
 * The operator is bound by memory: 2 bytes in, 1 out. So x is read once: a tile has whole rows, several of them, two tiles are in flight each way, and the next
 * one is loaded before the current one is computed. Magnitudes are found in 16 bits (magnitude_rows.h). For y the tile is widened, multiplied by 127 /
 * magnitude, rounded to half in the mode ODD (over x, which is no longer needed) and from there to int8: an odd last bit keeps every tie a tie and everything
 * else none, so that the two roundings give what a single one would.
 *
 * Limits: rows of at most kMostQuantColumns elements. The product with a reciprocal may round a quotient next to a tie the other way, one step of y, which
 * is the tolerance. NaN becomes 0 in int8.
 */
#include "kernel_operator.h"

#include "../../../common/row_tiling.h"
#include "dynamic_quant_launch.h"
#include "magnitude_rows.h"

constexpr float kLeastMagnitude = 1e-12f;
constexpr float kMostQuantum = 127.0f;

template <typename T>
class DynamicQuant {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr int64_t kTileElements = 16384;  // x twice: one bank
    static constexpr uint32_t kLongRow = 960;        // elements; few enough rows per tile for the scalar unit to hand each its factor
    static constexpr uint32_t kShortRow = 192;       // bytes; a shorter one costs the memory engine more past the L2 than through it

    __aicore__ inline void Init(const DynamicQuantTensors &tensors, const common::RowTiling &tiling) {
        const auto share = common::ShareOf(tiling.rows);
        rows_ = share.count;
        columns_ = tiling.columns;
        stride_ = tiling.stride;
        perTile_ = tiling.rowsPerTile;
        x_.SetGlobalBuffer((__gm__ T *)tensors.x + share.first * columns_, rows_ * columns_);
        y_.SetGlobalBuffer((__gm__ int8_t *)tensors.y + share.first * columns_, rows_ * columns_);
        scale_.SetGlobalBuffer((__gm__ float *)tensors.scale + share.first, rows_);
        if (columns_ * sizeof(T) >= kShortRow) {
            x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        }
        InitBuffers((perTile_ + 7) / 8 * 8);
    }

    __aicore__ inline void Process() {
        CopyIn(0);
        for (int64_t row = 0; row < rows_; row += perTile_) {
            CopyIn(row + perTile_);
            Compute(row);
        }
    }

private:
    /*
     * The unified buffer has three banks of 64 KiB, and an instruction that reads and writes one bank waits for itself. So x has the first bank, the widened
     * tile the second, results the third: no conversion stays inside a bank.
     */
    __aicore__ inline void InitBuffers(uint32_t rows) {
        pipe_.InitBuffer(in_, kBuffers, kTileElements * sizeof(T));
        pipe_.InitBuffer(wide_, kTileElements * sizeof(float));
        pipe_.InitBuffer(out_, kBuffers, kTileElements);
        pipe_.InitBuffer(scales_, kBuffers, rows * sizeof(float));
        pipe_.InitBuffer(spread_, rows * common::kBlockFloats * sizeof(float));
        pipe_.InitBuffer(number_, rows * sizeof(float));
        pipe_.InitBuffer(most_, rows * sizeof(float));
        pipe_.InitBuffer(mask_, kShortLanes * sizeof(int16_t));
        AscendC::Duplicate(most_.Get<float>(), kMostQuantum, rows);
        AscendC::Duplicate(mask_.Get<int16_t>(), kAllButSign, kShortLanes);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline uint32_t RowsAt(int64_t row) const { return rows_ - row < perTile_ ? rows_ - row : perTile_; }

    __aicore__ inline void CopyIn(int64_t row) {
        if (row >= rows_) {
            return;
        }
        const uint32_t bytes = columns_ * sizeof(T), unused = (stride_ * sizeof(T) - bytes) / 32;
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[row * columns_], AscendC::DataCopyExtParams{static_cast<uint16_t>(RowsAt(row)), bytes, 0, unused, 0},
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(int64_t row) {
        const uint32_t rows = RowsAt(row);
        auto x = in_.template DeQue<T>();
        CopyOutScales(row, Scales(x, rows));
        const auto quotients = Quotients(x, rows);
        auto y = out_.template AllocTensor<int8_t>();
        AscendC::Cast(y, quotients, AscendC::RoundMode::CAST_RINT, rows * stride_);
        in_.FreeTensor(x);
        out_.EnQue(y);
        CopyOut(row);
    }

    /* Scales of the tile's rows in their queue's tensor; 127 / magnitude, eight times each, in spread_. */
    __aicore__ inline AscendC::LocalTensor<float> Scales(const AscendC::LocalTensor<T> &x, uint32_t rows) {
        const auto number = number_.template Get<float>(), spread = spread_.template Get<float>();
        LargestMagnitudes(number, spread, x, rows);
        AscendC::Maxs(number, number, kLeastMagnitude, rows);
        AscendC::PipeBarrier<PIPE_V>();
        auto scales = scales_.template AllocTensor<float>();
        AscendC::Muls(scales, number, 1.0f / kMostQuantum, rows);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Div(number, most_.template Get<float>(), number, rows);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Brcb(spread, number, (rows + 7) / 8, AscendC::BrcbRepeatParams(1, 8));
        AscendC::PipeBarrier<PIPE_V>();
        return scales;
    }

    /* Magnitudes take the memory for the widened tile: as 16-bit numbers they fit twice, and what is left of a row, 64 floats, into either half. */
    __aicore__ inline void LargestMagnitudes(const common::FloatRows &number, const common::FloatRows &eighths, const AscendC::LocalTensor<T> &x,
                                             uint32_t rows) {
        constexpr uint32_t kHalf = kTileElements / 2;  // of its floats
        const auto wide = wide_.template Get<float>();
        RowExtent extent{rows, static_cast<uint32_t>(columns_), stride_};
        auto even = wide.template ReinterpretCast<int16_t>(), odd = wide[kHalf].template ReinterpretCast<int16_t>();
        AscendC::PipeBarrier<PIPE_V>();  // the last tile has left this memory
        Magnitudes(even, x, mask_.template Get<int16_t>(), rows * stride_);
        const auto folded = FoldRows(even, odd, extent);
        const auto unused = folded.GetPhyAddr() == even.GetPhyAddr() ? wide[kHalf] : wide;
        LargestOfFolded<T>(number, eighths, unused, kHalf, folded, extent);
    }

    /* x * 127 / magnitude in half, over x. */
    __aicore__ inline AscendC::LocalTensor<half> Quotients(const AscendC::LocalTensor<T> &x, uint32_t rows) {
        using namespace common;
        const auto wide = wide_.template Get<float>();
        const auto quotients = x.template ReinterpretCast<half>();
        if (stride_ >= kLongRow) {
            WidenAndScaleRows(wide, x, rows);
        } else {
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, rows * stride_);
            AscendC::PipeBarrier<PIPE_V>();
            Apply<Step::kMul>(Matrix(wide, stride_), Matrix(wide, stride_), PerRow(spread_.template Get<float>()), rows, stride_);
        }
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(quotients, wide, AscendC::RoundMode::CAST_ODD, rows * stride_);
        AscendC::PipeBarrier<PIPE_V>();
        return quotients;
    }

    /*
     * By a scalar per row: a second operand in memory would share bank groups with every other repeat of the first. The scalar unit fetches the factors and
     * issues the products while the vector unit widens, so that nothing waits for it.
     */
    __aicore__ inline void WidenAndScaleRows(const common::FloatRows &wide, const AscendC::LocalTensor<T> &x, uint32_t rows) {
        const auto factor = number_.template Get<float>();
        const auto isComputed = static_cast<event_t>(pipe_.FetchEventID(AscendC::HardEvent::V_S));
        AscendC::SetFlag<AscendC::HardEvent::V_S>(isComputed);
        AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, rows * stride_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(isComputed);
        for (uint32_t row = 0; row < rows; ++row) {
            const auto line = wide[row * stride_];
            AscendC::Muls(line, line, factor.GetValue(row), stride_);
        }
        const auto areFetched = static_cast<event_t>(pipe_.FetchEventID(AscendC::HardEvent::S_V));
        AscendC::SetFlag<AscendC::HardEvent::S_V>(areFetched);
        AscendC::WaitFlag<AscendC::HardEvent::S_V>(areFetched);
    }

    __aicore__ inline void CopyOutScales(int64_t row, AscendC::LocalTensor<float> computed) {
        const uint32_t bytes = RowsAt(row) * sizeof(float);
        scales_.EnQue(computed);
        auto scales = scales_.template DeQue<float>();
        AscendC::DataCopyPad(scale_[row], scales, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        scales_.FreeTensor(scales);
    }

    __aicore__ inline void CopyOut(int64_t row) {
        const uint32_t bytes = columns_, unused = (stride_ - bytes) / 32;
        auto y = out_.template DeQue<int8_t>();
        AscendC::DataCopyPad(y_[row * columns_], y, AscendC::DataCopyExtParams{static_cast<uint16_t>(RowsAt(row)), bytes, unused, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> scales_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spread_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> most_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> mask_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<int8_t> y_;
    AscendC::GlobalTensor<float> scale_;
    int64_t rows_;
    int64_t columns_;
    uint32_t stride_;
    uint32_t perTile_;
};

template <typename T>
__global__ __aicore__ void dynamic_quant(DynamicQuantTensors tensors, common::RowTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    DynamicQuant<T> kernel;
    kernel.Init(tensors, tiling);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(const DynamicQuantTensors &tensors, void *stream) {
    constexpr int64_t kElementsPerLaunch = 1600;                                // eight vector cycles per 64 elements
    constexpr int64_t kTileBytes = DynamicQuant<T>::kTileElements * sizeof(T);  // the rest of the unified buffer is laid out by the kernel
    const common::RowTraits traits{sizeof(T),
                                   sizeof(T),
                                   0,
                                   0,
                                   kElementsPerLaunch,
                                   common::UnifiedBufferBytes() - common::kRoundingBytes - common::kPadBytes - kTileBytes,
                                   MagnitudeGranule(tensors.columns)};
    const auto tiling = common::PlanRows(tensors.rows, tensors.columns, traits);
    dynamic_quant<T><<<tiling.blocks, nullptr, stream>>>(tensors, tiling);
}

void LaunchDynamicQuant(common::ElementType type, const DynamicQuantTensors &tensors, void *stream) {
    if (type == common::ElementType::kFloat16) {
        return LaunchTyped<half>(tensors, stream);
    }
    LaunchTyped<bfloat16_t>(tensors, stream);
}
