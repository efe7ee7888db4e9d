/*
 * unsorted_segment_sum for a few long rows: every element of data is read once and every element of y written once.
 *
 * Each core sorts all ids (they are few), so that the rows of its segments stand one after another, fetches them, adds them in the unified buffer and stores
 * the sum; where a segment has no rows it stores zeros. Cores share segments and columns, in the way that the model of the tiling finds best: columns alone
 * give equal work whatever the ids are, and long enough rows lose nothing by it. Three rows are on their way while one is added.
 */
#ifndef REFERENCE_SEGMENT_FETCH_H
#define REFERENCE_SEGMENT_FETCH_H

#include "kernel_operator.h"

#include "../../../common/pair_sort.h"
#include "segment_element.h"
#include "segment_tiling.h"

template <typename T>
class SegmentFetch {
public:
    using Element = SegmentElement<T>;
    static constexpr uint32_t kWords = Element::kWords;

    __aicore__ inline void Init(GM_ADDR data, GM_ADDR ids, GM_ADDR y, const FetchTiling &tiling) {
        tiling_ = tiling;
        const int64_t block = AscendC::GetBlockIdx(), group = block / tiling.columnGroups, columnGroup = block % tiling.columnGroups;
        firstSegment_ = tiling.shape.segments * group / tiling.segmentGroups;
        lastSegment_ = tiling.shape.segments * (group + 1) / tiling.segmentGroups;
        firstColumn_ = columnGroup * tiling.perGroup;
        const int64_t left = tiling.shape.columns - firstColumn_;
        columns_ = left < tiling.perGroup ? left : tiling.perGroup;
        ids_ = ids;
        data_.SetGlobalBuffer((__gm__ T *)data);
        y_.SetGlobalBuffer((__gm__ T *)y);
        passing_.SetGlobalBuffer((__gm__ T *)y);
        passing_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
        data_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        InitBuffers();
    }

    __aicore__ inline void Process() {
        SortRows();
        first_ = FirstAt(firstSegment_);
        found_ = FirstAt(lastSegment_) - first_;
        const uint32_t pieces = (columns_ + tiling_.perPiece - 1) / tiling_.perPiece;
        wanted_ = pieces * found_;
        for (uint32_t ahead = 0; ahead + 1 < segment_tiling::kFetchBuffers; ++ahead) {
            LoadNext();
        }
        for (uint32_t piece = 0; piece < pieces; ++piece) {
            uint32_t at = first_;
            for (int64_t segment = firstSegment_; segment < lastSegment_; ++segment) {
                at = Segment(piece, segment, at);
            }
        }
    }

private:
    __aicore__ inline void InitBuffers() {
        const uint32_t piece = tiling_.perPiece, words = piece * kWords;
        sort_.Init(pipe_, tiling_.pairs);
        pipe_.InitBuffer(rawIds_, (tiling_.shape.rows * tiling_.idBytes + 31) / 32 * 32);
        pipe_.InitBuffer(rows_, segment_tiling::kFetchBuffers, piece * sizeof(T));
        pipe_.InitBuffer(results_, 2, piece * sizeof(T));
        pipe_.InitBuffer(zeros_, piece * sizeof(T));
        if constexpr (Element::kIsNarrow || Element::kIsLong) {
            pipe_.InitBuffer(sum_, words * 4);
            pipe_.InitBuffer(wide_, words * 4);
        }
        if constexpr (Element::kIsLong) {
            pipe_.InitBuffer(high_, words * 4);
            pipe_.InitBuffer(part_, words * 4);
            pipe_.InitBuffer(previous_, words * 4);
            FillPrevious(previous_.template Get<int32_t>(), words);
        }
        AscendC::Duplicate(zeros_.template Get<int16_t>(), static_cast<int16_t>(0), piece * sizeof(T) / 2);
        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(0);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);
    }

    __aicore__ inline void SortRows() {
        const uint32_t rows = tiling_.shape.rows;
        if (tiling_.idBytes == 8) {
            const auto raw = LoadIds<int64_t>(rows);
            AscendC::Cast(sort_.Numbers(), raw, AscendC::RoundMode::CAST_NONE, rows);
        } else {
            const auto raw = LoadIds<int32_t>(rows);
            AscendC::Adds(sort_.Numbers(), raw, 0, rows);
        }
        AscendC::CreateVecIndex(sort_.Payloads().ReinterpretCast<int32_t>(), 0, rows);
        AscendC::PipeBarrier<PIPE_V>();
        sort_.Sort(rows);
        AscendC::SetFlag<AscendC::HardEvent::V_S>(0);
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(0);
        pairs_ = sort_.Pairs();
    }

    template <typename Id>
    __aicore__ inline AscendC::LocalTensor<Id> LoadIds(uint32_t rows) {
        AscendC::GlobalTensor<Id> ids;
        ids.SetGlobalBuffer((__gm__ Id *)ids_);
        const auto raw = rawIds_.template Get<Id>();
        AscendC::DataCopyPad(raw, ids, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(rows * sizeof(Id)), 0, 0, 0},
                             AscendC::DataCopyPadExtParams<Id>{false, 0, 0, 0});
        AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(0);
        return raw;
    }

    /* The id and the row at a position of the sorted list. */
    __aicore__ inline float IdAt(uint32_t at) const { return -pairs_.GetValue(2 * at); }
    __aicore__ inline uint32_t RowAt(uint32_t at) const { return pairs_.template ReinterpretCast<uint32_t>().GetValue(2 * at + 1); }

    /* The first position whose id is at least `segment`. */
    __aicore__ inline uint32_t FirstAt(int64_t segment) const {
        uint32_t low = 0, high = tiling_.shape.rows;
        while (low < high) {
            const uint32_t middle = (low + high) / 2;
            if (IdAt(middle) < static_cast<float>(segment)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    __aicore__ inline int64_t ColumnOf(uint32_t piece) const { return firstColumn_ + static_cast<int64_t>(piece) * tiling_.perPiece; }

    __aicore__ inline uint32_t WidthOf(uint32_t piece) const {
        const int64_t left = columns_ - static_cast<int64_t>(piece) * tiling_.perPiece;
        return left < tiling_.perPiece ? left : tiling_.perPiece;
    }

    __aicore__ inline void LoadNext() {
        if (loaded_ == wanted_) {
            return;
        }
        const uint32_t piece = loaded_ / found_, row = RowAt(first_ + loaded_ % found_), bytes = WidthOf(piece) * sizeof(T);
        auto to = rows_.template AllocTensor<T>();
        AscendC::DataCopyPad(to, data_[static_cast<int64_t>(row) * tiling_.shape.columns + ColumnOf(piece)], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0},
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        rows_.EnQue(to);
        ++loaded_;
    }

    /* Sums the rows from position `at` on that belong to the segment; returns the position behind them. */
    __aicore__ inline uint32_t Segment(uint32_t piece, int64_t segment, uint32_t at) {
        const uint32_t end = first_ + found_, width = WidthOf(piece);
        uint32_t count = 0;
        while (at + count < end && IdAt(at + count) == static_cast<float>(segment)) {
            ++count;
        }
        const auto target = (segment < tiling_.firstKept ? passing_ : y_)[segment * tiling_.shape.columns + ColumnOf(piece)];
        const AscendC::DataCopyExtParams stored{1, static_cast<uint32_t>(width * sizeof(T)), 0, 0, 0};
        if (count == 0) {
            AscendC::DataCopyPad(target, zeros_.template Get<T>(), stored);
            return at;
        }
        auto y = results_.template AllocTensor<T>();
        for (uint32_t row = 0; row < count; ++row) {
            LoadNext();
            auto x = rows_.template DeQue<T>();
            Add(y, x, width, row == 0, row + 1 == count);
            rows_.FreeTensor(x);
        }
        results_.EnQue(y);
        auto sum = results_.template DeQue<T>();
        AscendC::DataCopyPad(target, sum, stored);
        results_.FreeTensor(sum);
        return at + count;
    }

    __aicore__ inline void Add(const AscendC::LocalTensor<T> &y, const AscendC::LocalTensor<T> &x, uint32_t width, bool isFirst, bool isLast) {
        const uint32_t whole = (width * sizeof(T) + 31) / 32 * 32 / sizeof(T);
        if (isFirst && (isLast || Element::kIsItself)) {
            AscendC::DataCopy(y, x, whole);
        } else if constexpr (Element::kIsItself) {
            AscendC::Add(y, y, x, width);
        } else if constexpr (Element::kIsNarrow) {
            AddNarrow(y, x, width, isFirst, isLast);
        } else {
            AddLong(y, x, width, isFirst, isLast);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void AddNarrow(const AscendC::LocalTensor<T> &y, const AscendC::LocalTensor<T> &x, uint32_t width, bool isFirst, bool isLast) {
        const auto sum = sum_.template Get<float>(), wide = wide_.template Get<float>();
        AscendC::Cast(isFirst ? sum : wide, x, AscendC::RoundMode::CAST_NONE, width);
        AscendC::PipeBarrier<PIPE_V>();
        if (!isFirst) {
            AscendC::Add(sum, sum, wide, width);
            AscendC::PipeBarrier<PIPE_V>();
        }
        if (isLast) {
            AscendC::Cast(y, sum, AscendC::RoundMode::CAST_RINT, width);
        }
    }

    __aicore__ inline void AddLong(const AscendC::LocalTensor<T> &y, const AscendC::LocalTensor<T> &x, uint32_t width, bool isFirst, bool isLast) {
        const auto low = sum_.template Get<int32_t>(), high = high_.template Get<int32_t>(), rowHigh = wide_.template Get<int32_t>();
        const auto row = x.template ReinterpretCast<int32_t>();
        const uint32_t words = width * kWords;
        SplitWords(row, rowHigh, words);
        if (isFirst) {
            AscendC::Adds(low, row, 0, words);
            AscendC::Adds(high, rowHigh, 0, words);
        } else {
            AscendC::Add(low, low, row, words);
            AscendC::Add(high, high, rowHigh, words);
        }
        if (isLast) {
            AscendC::PipeBarrier<PIPE_V>();
            FinishLong(y.template ReinterpretCast<int32_t>(), low, high, {previous_.template Get<int32_t>(), part_.template Get<int32_t>()}, words);
        }
    }

    AscendC::TPipe pipe_;
    common::PairSort sort_;
    AscendC::TQue<AscendC::TPosition::VECIN, segment_tiling::kFetchBuffers> rows_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> results_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> rawIds_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> zeros_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sum_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> high_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> part_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> previous_;
    AscendC::GlobalTensor<T> data_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<T> passing_;  // y without L2
    GM_ADDR ids_;
    AscendC::LocalTensor<float> pairs_;
    FetchTiling tiling_;
    int64_t firstSegment_;
    int64_t lastSegment_;
    int64_t firstColumn_;
    int64_t columns_;
    uint32_t first_;       // position of the first row of these segments
    uint32_t found_;       // their rows
    uint32_t wanted_;      // loads of rows, for all pieces
    uint32_t loaded_ = 0;  // those that were asked for
};

#endif  // REFERENCE_SEGMENT_FETCH_H
