/*
 * arg_max of rows of 16-bit elements that fit into a tile.
 *
 * Problem: such rows arrive twice as fast as float32, and comparing keys together with their places takes longer than loading them.
 * Approach: a 16-bit number as float32 leaves its low bits 0 (13 of float16, 16 of bfloat16), room for the element's place in its row. Between two different
 * numbers the order stays, between equal ones any will do: the largest key says the place by itself, and maxima are all there is to compute. Eight neighbours
 * to one (BlockReduceMax), these to 64 for each row, these to one (WholeReduceMax), all rows of a tile at once.
 * Limits: with a place in it an infinity reads as NaN. A tile with such a result is looked through again row by row, with ReduceMax.
 */
#ifndef REFERENCE_ARG_MAX_NARROW_H
#define REFERENCE_ARG_MAX_NARROW_H

#include <type_traits>

#include "../../../common/lanes.h"
#include "../../../common/row_tiling.h"
#include "../../../common/row_vector.h"

constexpr int64_t kArgMaxLongestNarrow = 8192;  // elements: the places that 13 bits hold

template <typename T>
class ArgMaxNarrow {
public:
    static constexpr bool kIsHalf = std::is_same_v<T, half>;
    static constexpr int32_t kPlaceBits = kIsHalf ? 0x1fff : 0xffff;
    static constexpr int32_t kFiller = static_cast<int32_t>(kIsHalf ? 0xc77fe000 : 0xff7f0000);  // the lowest finite number
    static constexpr uint32_t kWorkBytes = 2048;                                                 // of ReduceMax
    /* Of an element: in two buffers, as key, its place, an eighth of a key. Of a row: its result in several forms. */
    static constexpr common::RowTraits kTraits{sizeof(T), 2 * sizeof(T) + 2 * sizeof(float) + 1, 32, 0, 2000};
    static constexpr int64_t kFixedBytes = kWorkBytes + 2560;  // results of 64 rows, and what keeps keys and places apart

    /* Rows over cores and tiles; host code. */
    static common::RowTiling Plan(int64_t rows, int64_t columns) {
        auto tiling = common::PlanRows(rows, columns, kTraits);
        const int64_t fitting = (common::UnifiedBufferBytes() - kFixedBytes) / (tiling.stride * kTraits.bytesPerElement + kTraits.bytesPerRow);
        tiling.rowsPerTile = std::min(tiling.rowsPerTile, static_cast<uint32_t>(fitting));
        return tiling;
    }

    __aicore__ inline void Init(GM_ADDR input, GM_ADDR indices, const common::RowTiling &tiling) {
        const auto share = common::ShareOf(tiling.rows);
        rows_ = share.count;
        columns_ = tiling.columns;
        stride_ = tiling.stride;
        perTile_ = tiling.rowsPerTile;
        input_.SetGlobalBuffer((__gm__ T *)input + share.first * columns_, rows_ * columns_);
        indices_.SetGlobalBuffer((__gm__ int64_t *)indices + share.first, rows_);
        InitBuffers();
    }

    __aicore__ inline void Process() {
        CopyIn(0);
        for (int64_t row = 0; row < rows_; row += perTile_) {
            CopyIn(row + perTile_);
            Compute(row, rows_ - row < perTile_ ? rows_ - row : perTile_);
        }
    }

private:
    using Words = common::Words;

    static __aicore__ inline auto Floats(const Words &words) { return words.ReinterpretCast<float>(); }

    __aicore__ inline void InitBuffers() {
        const uint32_t all = perTile_ * stride_, results = (perTile_ + common::kWordLanes - 1) / common::kWordLanes * common::kWordLanes;
        pipe_.InitBuffer(in_, 2, all * sizeof(T));
        pipe_.InitBuffer(keys_, all * sizeof(int32_t));
        if (all / common::kWordLanes % 2 == 0) {
            pipe_.InitBuffer(apart_, kBankBytes);
        }
        pipe_.InitBuffer(ramp_, all * sizeof(int32_t));
        pipe_.InitBuffer(eighths_, all / 8 * sizeof(float));
        pipe_.InitBuffer(best_, results * sizeof(float));
        pipe_.InitBuffer(mask_, results * sizeof(int32_t));
        pipe_.InitBuffer(numbers_, results / 8 < 32 ? 32 : results / 8);
        pipe_.InitBuffer(out_, 2, results * sizeof(int64_t));
        pipe_.InitBuffer(work_, kWorkBytes);
        MakeRamp();
        AscendC::Duplicate(mask_.template Get<int32_t>(), kPlaceBits, static_cast<int32_t>(results));
        AscendC::Duplicate(best_.template Get<float>(), 0.0f, static_cast<int32_t>(results));
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Each row's places: 0, 1, 2 and so on. */
    __aicore__ inline void MakeRamp() {
        const auto ramp = ramp_.template Get<int32_t>();
        AscendC::CreateVecIndex(ramp, 0, common::kWordLanes);
        AscendC::PipeBarrier<PIPE_V>();
        common::ContinueRamp(ramp, common::kWordLanes, stride_ / common::kWordLanes, common::kWordLanes);
        common::ContinueRamp(ramp, stride_, perTile_, 0);
    }

    __aicore__ inline void CopyIn(int64_t row) {
        if (row >= rows_) {
            return;
        }
        const uint16_t rows = rows_ - row < perTile_ ? rows_ - row : perTile_;
        const uint32_t bytes = columns_ * sizeof(T), gap = (stride_ * sizeof(T) - bytes) / 32;
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, input_[row * columns_], AscendC::DataCopyExtParams{rows, bytes, 0, gap, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(int64_t row, uint32_t rows) {
        auto x = in_.template DeQue<T>();
        const auto places = best_.template Get<int32_t>();
        MakeKeys(x, rows);
        ReduceKeys(rows);
        if (HasNan(rows)) {
            SearchRows(x, rows);
        } else {
            AscendC::And(places, places, mask_.template Get<int32_t>(), static_cast<int32_t>(2 * rows));
        }
        AscendC::PipeBarrier<PIPE_V>();
        in_.FreeTensor(x);
        auto indices = out_.template AllocTensor<int64_t>();
        AscendC::Cast(indices, places, AscendC::RoundMode::CAST_NONE, rows);
        AscendC::PipeBarrier<PIPE_V>();
        out_.EnQue(indices);
        auto stored = out_.template DeQue<int64_t>();
        AscendC::DataCopyPad(indices_[row], stored, {1, static_cast<uint32_t>(rows * sizeof(int64_t)), 0, 0, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline void MakeKeys(const AscendC::LocalTensor<T> &x, uint32_t rows) {
        const auto keys = keys_.template Get<int32_t>();
        AscendC::Cast(Floats(keys), x, AscendC::RoundMode::CAST_NONE, rows * stride_);
        AscendC::PipeBarrier<PIPE_V>();
        if (stride_ > columns_) {
            common::FillRowEnds(keys, rows, stride_, stride_ - columns_, kFiller);
            AscendC::PipeBarrier<PIPE_V>();
        }
        AscendC::Or(keys, keys, ramp_.template Get<int32_t>(), static_cast<int32_t>(2 * rows * stride_));
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void ReduceKeys(uint32_t rows) {
        const auto keys = keys_.template Get<float>(), eighths = eighths_.template Get<float>();
        const uint32_t repeats = rows * stride_ / common::kSlice, perRow = stride_ / 8, blocks = perRow / common::kBlockFloats;
        for (uint32_t done = 0; done < repeats; done += common::kMostRepeats) {
            const uint32_t now = repeats - done < common::kMostRepeats ? repeats - done : common::kMostRepeats;
            AscendC::BlockReduceMax(eighths[done * common::kBlockFloats], keys[done * common::kSlice], now, common::kSlice, 1, 1, 8);
        }
        AscendC::PipeBarrier<PIPE_V>();
        for (uint32_t slice = common::kSlice; slice < perRow; slice += common::kSlice) {
            const uint64_t lanes = perRow - slice < common::kSlice ? perRow - slice : common::kSlice;
            const uint8_t step = blocks;
            AscendC::Max(eighths, eighths, eighths[slice], lanes, rows, AscendC::BinaryRepeatParams(1, 1, 1, step, step, step));
            AscendC::PipeBarrier<PIPE_V>();
        }
        const int32_t lanes = perRow < common::kSlice ? perRow : common::kSlice;
        AscendC::WholeReduceMax(best_.template Get<float>(), eighths, lanes, rows, 1, 1, blocks, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline bool HasNan(uint32_t rows) {
        const auto best = best_.template Get<float>();
        const uint32_t words = (rows + common::kWordLanes - 1) / common::kWordLanes;
        AscendC::Compare(numbers_.template Get<uint8_t>(), best, best, AscendC::CMPMODE::EQ, words * common::kWordLanes);
        common::Await<AscendC::HardEvent::V_S>();
        bool isNumber = true;
        for (uint32_t word = 0; word < words; ++word) {
            isNumber = isNumber && numbers_.template Get<uint64_t>().GetValue(word) == ~0ULL;
        }
        common::Await<AscendC::HardEvent::S_V>();
        return !isNumber;
    }

    /* Row by row: value and place of the largest, as ReduceMax leaves them. */
    __aicore__ inline void SearchRows(const AscendC::LocalTensor<T> &x, uint32_t rows) {
        const auto keys = keys_.template Get<float>(), found = eighths_.template Get<float>();
        const auto places = best_.template Get<int32_t>();
        AscendC::Cast(keys, x, AscendC::RoundMode::CAST_NONE, rows * stride_);
        AscendC::PipeBarrier<PIPE_V>();
        for (uint32_t row = 0; row < rows; ++row) {
            AscendC::ReduceMax(found, keys[row * stride_], work_.template Get<float>(), static_cast<int32_t>(columns_), true);
            common::Await<AscendC::HardEvent::V_S>();
            places.SetValue(row, found.template ReinterpretCast<int32_t>().GetValue(1));
            common::Await<AscendC::HardEvent::S_V>();
        }
    }

    static constexpr uint32_t kBankBytes = 256;  // keys and places are read together: not from one bank group

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> keys_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> apart_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> ramp_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> eighths_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> best_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> mask_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> numbers_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::GlobalTensor<T> input_;
    AscendC::GlobalTensor<int64_t> indices_;
    int64_t rows_;
    uint32_t columns_;
    uint32_t stride_;
    uint32_t perTile_;
};

#endif  // REFERENCE_ARG_MAX_NARROW_H
