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

#include "../../../common/row_tiling.h"
#include "../../../common/row_vector.h"

constexpr uint32_t kShortWidth = 16;  // floats from row to row
constexpr uint32_t kShortGroup = 32;  // rows
constexpr uint32_t kShortPerRepeat = common::kSlice / kShortWidth;

struct ShortRowTiling {
    int64_t rows;
    uint32_t columns;
    uint32_t blocks;       // vector cores used
    uint32_t rowsPerTile;  // whole groups
};

/* As many rows per tile as fit and as one instruction repeats over, but a few tiles per core; host code. */
inline ShortRowTiling PlanShortRows(int64_t rows, int64_t columns, int64_t bytesPerRow, int64_t elementsPerLaunch) {
    using namespace common;
    const int64_t fitting = std::min<int64_t>((UnifiedBufferBytes() - kRoundingBytes) / bytesPerRow, kMostRepeats * kShortPerRepeat);
    const int64_t blocks = std::min(WorthwhileCores(rows * kShortWidth, elementsPerLaunch), CeilDiv(rows, kShortGroup));
    const int64_t wanted = RoundUp(CeilDiv(CeilDiv(rows, blocks), kTilesToOverlap), kShortGroup);
    return {rows, static_cast<uint32_t>(columns), static_cast<uint32_t>(blocks), static_cast<uint32_t>(std::min(wanted, fitting / kShortGroup * kShortGroup))};
}

template <typename T>
class RmsNormShort {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    /* x and y in queues; for the 16-bit types x widened and its squares; two sums, one number eight times, the number, and a 1 to divide by it. */
    static constexpr int64_t kBytesPerRow =
        kShortWidth * (2 * kBuffers * sizeof(T) + (kIsFloat ? 0 : 2) * sizeof(float)) + (2 + common::kBlockFloats + 2) * sizeof(float);

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, const ShortRowTiling &tiling, float epsilon) {
        const auto share = common::ShareOf(tiling.rows);
        rows_ = share.count;
        columns_ = tiling.columns;
        perTile_ = tiling.rowsPerTile;
        epsilon_ = epsilon;
        x_.SetGlobalBuffer((__gm__ T *)x + share.first * columns_, rows_ * columns_);
        y_.SetGlobalBuffer((__gm__ T *)y + share.first * columns_, rows_ * columns_);
        source_.SetGlobalBuffer((__gm__ T *)gamma, columns_);
        x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        InitBuffers();
    }

    __aicore__ inline void Process() {
        PrepareGamma();
        CopyIn(0);
        for (int64_t row = 0; row < rows_; row += perTile_) {
            CopyIn(row + perTile_);
            Compute(RowsAt(row));
            CopyOut(row);
        }
    }

private:
    __aicore__ inline void InitBuffers() {
        const uint32_t elements = perTile_ * kShortWidth;
        pipe_.InitBuffer(in_, kBuffers, elements * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, elements * sizeof(T));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, elements * sizeof(float));
            pipe_.InitBuffer(squares_, elements * sizeof(float));
        }
        pipe_.InitBuffer(gamma_, common::kSlice * sizeof(float));
        pipe_.InitBuffer(sums_, perTile_ * 2 * sizeof(float));
        pipe_.InitBuffer(spread_, perTile_ * common::kBlockFloats * sizeof(float));
        pipe_.InitBuffer(number_, perTile_ * sizeof(float));
        pipe_.InitBuffer(one_, perTile_ * sizeof(float));
        AscendC::Duplicate(one_.template Get<float>(), 1.0f, perTile_);
    }

    __aicore__ inline uint32_t RowsAt(int64_t row) const { return rows_ - row < perTile_ ? rows_ - row : perTile_; }

    /* The lanes of one repeat that hold elements of its four rows. */
    __aicore__ inline uint64_t Lanes() const { return ((1ULL << columns_) - 1) * 0x0001000100010001ULL; }

    /* gamma four times, as the rows of a repeat lie; zeros in the lanes between. */
    __aicore__ inline void PrepareGamma() {
        const auto gamma = gamma_.template Get<float>();
        const uint32_t bytes = columns_ * sizeof(T);
        const uint64_t lanes[2] = {Lanes(), 0};
        auto loading = in_.template AllocTensor<T>();
        for (uint32_t copy = 0; copy < kShortPerRepeat; ++copy) {
            AscendC::DataCopyPad(loading[copy * kShortWidth], source_, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0},
                                 AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        }
        in_.EnQue(loading);
        auto loaded = in_.template DeQue<T>();
        AscendC::Duplicate(gamma, 0.0f, common::kSlice);
        if constexpr (kIsFloat) {
            AscendC::Adds(gamma, loaded, 0.0f, lanes, 1, AscendC::UnaryRepeatParams(1, 1, 8, 8));
        } else {
            AscendC::Cast(gamma, loaded, AscendC::RoundMode::CAST_NONE, lanes, 1, AscendC::UnaryRepeatParams(1, 1, 8, 4));
        }
        in_.FreeTensor(loaded);
    }

    /* Between two rows the unified buffer may have a block that global memory has not. */
    __aicore__ inline AscendC::DataCopyExtParams Copied(int64_t row, bool isStore) const {
        const uint32_t bytes = columns_ * sizeof(T), gap = (kShortWidth * sizeof(T) - bytes) / 32;
        return {static_cast<uint16_t>(RowsAt(row)), bytes, isStore ? gap : 0, isStore ? 0 : gap, 0};
    }

    __aicore__ inline void CopyIn(int64_t row) {
        if (row >= rows_) {
            return;
        }
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[row * columns_], Copied(row, false), AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t rows) {
        auto x = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        if constexpr (kIsFloat) {
            FillGaps(x, rows);
            Normalize(y, x, y, rows);
            in_.FreeTensor(x);
        } else {
            const auto wide = wide_.template Get<float>();
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, rows * kShortWidth);
            in_.FreeTensor(x);
            FillGaps(wide, rows);
            Normalize(wide, wide, squares_.template Get<float>(), rows);
            AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, rows * kShortWidth);
        }
        out_.EnQue(y);
    }

    __aicore__ inline uint32_t Groups(uint32_t rows) const { return (rows + kShortGroup - 1) / kShortGroup; }

    /* Zeros between the rows and in the rows that the last group lacks. */
    __aicore__ inline void FillGaps(const common::FloatRows &x, uint32_t rows) {
        const uint32_t all = Groups(rows) * kShortGroup;
        if (columns_ < kShortWidth) {
            const uint64_t lanes[2] = {~Lanes(), 0};
            AscendC::Duplicate(x, 0.0f, lanes, all / kShortPerRepeat, 1, 8);
        }
        if (rows < all) {
            AscendC::Duplicate(x[rows * kShortWidth], 0.0f, (all - rows) * kShortWidth);
        }
    }

    /* y may be x, and squares may be y. */
    __aicore__ inline void Normalize(const common::FloatRows &y, const common::FloatRows &x, const common::FloatRows &squares, uint32_t rows) {
        using namespace common;
        const uint32_t groups = Groups(rows), all = groups * kShortGroup, repeats = all / kShortPerRepeat;
        AscendC::Mul(squares, x, x, all * kShortWidth);
        const auto spread = Factors(squares, groups);
        for (uint32_t half = 0; half < 2; ++half) {
            const uint32_t first = half * kBlockFloats;
            AscendC::Mul(y[first], x[first], spread, kSlice, all / kBlockFloats, AscendC::BinaryRepeatParams(2, 2, 1, 16, 16, 8));
        }
        AscendC::Mul(y, y, gamma_.template Get<float>(), kSlice, repeats, AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 0));
    }

    /* 1 / sqrt(mean + epsilon) of each row, eight times. */
    __aicore__ inline common::FloatRows Factors(const common::FloatRows &squares, uint32_t groups) {
        using namespace common;
        const auto sums = sums_.template Get<float>(), number = number_.template Get<float>(), spread = spread_.template Get<float>();
        const uint32_t all = groups * kShortGroup;
        AscendC::BlockReduceSum(sums, squares, all / kShortPerRepeat, kSlice, 1, 1, 8);
        AscendC::PairReduceSum(number, sums, groups, kSlice, 1, 1, 8);
        AscendC::Muls(number, number, 1.0f / columns_, all);
        AscendC::Adds(number, number, epsilon_, all);
        AscendC::Sqrt(number, number, all);
        AscendC::Div(number, one_.template Get<float>(), number, all);
        AscendC::Brcb(spread, number, all / kBlockFloats, AscendC::BrcbRepeatParams(1, 8));
        return spread;
    }

    __aicore__ inline void CopyOut(int64_t row) {
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[row * columns_], y, Copied(row, true));
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> squares_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> gamma_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sums_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spread_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> one_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<T> source_;
    int64_t rows_;
    uint32_t columns_;
    uint32_t perTile_;
    float epsilon_;
};

#endif  // REFERENCE_RMS_NORM_SHORT_H
