/*
 * rms_norm of rows of at most 16 elements. A vector instruction handles 64 floats; one row in each would leave most of them idle. So rows lie 16 floats apart
 * in the unified buffer, four per repeat, and every instruction walks memory without gaps, all rows of a tile at once.
 *
 * The sum of a row is that of its two blocks (BlockReduceSum, then PairReduceSum). Its factor is spread over one block (Brcb), by which the first and the
 * second blocks of eight rows are multiplied in one repeat each. A tile has whole groups of 32 rows, what one repeat of PairReduceSum makes; rows that are
 * not there are zeros, computed along and never stored.
 */
#ifndef REFERENCE_RMS_NORM_SHORT_H
#define REFERENCE_RMS_NORM_SHORT_H

#include <type_traits>

#include "../../../common/row_kernel.h"
#include "../../../common/row_vector.h"

constexpr uint32_t kShortWidth = 16;  // floats from row to row
constexpr uint32_t kShortGroup = 32;  // rows
constexpr uint32_t kShortPerRepeat = common::kSlice / kShortWidth;

/* As many rows per tile as fit and as one instruction repeats over, in whole groups, but a few tiles per core; host code. */
inline common::RowTiling PlanShortRows(int64_t rows, int64_t columns, const common::RowTraits &kernel) {
    using namespace common;
    const int64_t room = UnifiedBufferBytes() - kRoundingBytes, perRow = kShortWidth * kernel.bytesPerElement + kernel.bytesPerRow;
    const int64_t fitting = std::min<int64_t>(room / perRow, kMostRepeats * kShortPerRepeat) / kShortGroup * kShortGroup;
    const int64_t blocks = std::min(WorthwhileCores(rows * kShortWidth, kernel.elementsPerLaunch), CeilDiv(rows, kShortGroup));
    const int64_t wanted = RoundUp(CeilDiv(CeilDiv(rows, blocks), kTilesToOverlap), kShortGroup);
    return {rows, columns, static_cast<uint32_t>(blocks), kShortWidth, static_cast<uint32_t>(std::min(wanted, fitting))};
}

template <typename T>
class RmsNormShortBody {
public:
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* Squares go where y will be, except for the 16-bit types, whose x is there. */
    static constexpr int64_t kBytesPerElement = kIsFloat ? 0 : sizeof(float);
    /* Two sums, one number eight times, the number, and a 1 to divide by it. */
    static constexpr int64_t kBytesPerRow = (2 + common::kBlockFloats + 2) * sizeof(float);

    __aicore__ inline void Init(AscendC::TPipe &pipe, const common::RowTiling &tiling, GM_ADDR gamma, float epsilon) {
        columns_ = tiling.columns;
        epsilon_ = epsilon;
        source_.SetGlobalBuffer((__gm__ T *)gamma, columns_);
        const uint32_t rows = tiling.rowsPerTile;
        if constexpr (!kIsFloat) {
            pipe.InitBuffer(squares_, rows * kShortWidth * sizeof(float));
        }
        pipe.InitBuffer(gamma_, common::kSlice * sizeof(float));
        pipe.InitBuffer(sums_, rows * 2 * sizeof(float));
        pipe.InitBuffer(spread_, rows * common::kBlockFloats * sizeof(float));
        pipe.InitBuffer(number_, rows * sizeof(float));
        pipe.InitBuffer(one_, rows * sizeof(float));
        AscendC::Duplicate(one_.Get<float>(), 1.0f, rows);
    }

    /* gamma four times, as the rows of a repeat lie; zeros in the lanes between. */
    template <typename Queue>
    __aicore__ inline void Prepare(Queue &in) {
        const auto gamma = gamma_.Get<float>();
        const uint32_t bytes = columns_ * sizeof(T);
        const uint64_t lanes[2] = {Lanes(), 0};
        auto loading = in.template AllocTensor<T>();
        for (uint32_t copy = 0; copy < kShortPerRepeat; ++copy) {
            AscendC::DataCopyPad(loading[copy * kShortWidth], source_, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0},
                                 AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        }
        in.EnQue(loading);
        auto loaded = in.template DeQue<T>();
        AscendC::Duplicate(gamma, 0.0f, common::kSlice);
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (kIsFloat) {
            AscendC::Adds(gamma, loaded, 0.0f, lanes, 1, AscendC::UnaryRepeatParams(1, 1, 8, 8));
        } else {
            AscendC::Cast(gamma, loaded, AscendC::RoundMode::CAST_NONE, lanes, 1, AscendC::UnaryRepeatParams(1, 1, 8, 4));
        }
        in.FreeTensor(loaded);
    }

    /* y may be x for the 16-bit types. */
    __aicore__ inline void Run(const common::FloatRows &y, const common::FloatRows &x, uint32_t rows) {
        const uint32_t groups = (rows + kShortGroup - 1) / kShortGroup;
        auto squares = y;
        if constexpr (!kIsFloat) {
            squares = squares_.template Get<float>();
        }
        FillGaps(x, rows, groups * kShortGroup);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(squares, x, x, groups * kShortGroup * kShortWidth);
        AscendC::PipeBarrier<PIPE_V>();
        Factors(squares, groups);
        AscendC::PipeBarrier<PIPE_V>();
        Scale(y, x, groups * kShortGroup);
    }

private:
    /* The lanes of one repeat that hold elements of its four rows. */
    __aicore__ inline uint64_t Lanes() const { return ((1ULL << columns_) - 1) * 0x0001000100010001ULL; }

    /* Zeros between the rows and in the rows that the last group lacks. */
    __aicore__ inline void FillGaps(const common::FloatRows &x, uint32_t rows, uint32_t all) {
        if (rows < all) {
            AscendC::Duplicate(x[rows * kShortWidth], 0.0f, (all - rows) * kShortWidth);
            AscendC::PipeBarrier<PIPE_V>();
        }
        if (columns_ < kShortWidth) {
            const uint64_t lanes[2] = {~Lanes(), 0};
            AscendC::Duplicate(x, 0.0f, lanes, all / kShortPerRepeat, 1, 8);
        }
    }

    /* 1 / sqrt(mean + epsilon) of each row, eight times, into `spread_`. */
    __aicore__ inline void Factors(const common::FloatRows &squares, uint32_t groups) {
        using namespace common;
        const auto sums = sums_.Get<float>(), number = number_.Get<float>();
        const uint32_t all = groups * kShortGroup;
        AscendC::BlockReduceSum(sums, squares, all / kShortPerRepeat, kSlice, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::PairReduceSum(number, sums, groups, kSlice, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(number, number, 1.0f / columns_, all);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(number, number, epsilon_, all);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sqrt(number, number, all);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Div(number, one_.Get<float>(), number, all);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Brcb(spread_.Get<float>(), number, all / kBlockFloats, AscendC::BrcbRepeatParams(1, 8));
    }

    __aicore__ inline void Scale(const common::FloatRows &y, const common::FloatRows &x, uint32_t all) {
        using namespace common;
        for (uint32_t half = 0; half < 2; ++half) {
            const uint32_t first = half * kBlockFloats;
            AscendC::Mul(y[first], x[first], spread_.Get<float>(), kSlice, all / kBlockFloats, AscendC::BinaryRepeatParams(2, 2, 1, 16, 16, 8));
        }
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(y, y, gamma_.Get<float>(), kSlice, all / kShortPerRepeat, AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 0));
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> squares_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> gamma_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sums_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spread_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
    AscendC::GlobalTensor<T> source_;
    uint32_t columns_;
    float epsilon_;
};

#endif  // REFERENCE_RMS_NORM_SHORT_H
