/*
 * gather from tables that fit into the unified buffer: the vector unit picks 64 or 128 elements per 14 cycles.
 *
 * Byte offsets into the table are index * step + base, where base depends on the lane only (which plane, which column) and is made once. The vector unit
 * gathers 16 and 32 bits: int8 goes through half, which holds all its values; of an int64 both words are gathered, so that its offsets come twice, the second
 * 4 higher. Two buffers for tables (where there is room), indices and results: all copies run beside the vector unit.
 */
#ifndef REFERENCE_GATHER_TABLE_H
#define REFERENCE_GATHER_TABLE_H

#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/lane_pattern.h"
#include "../../../common/row_vector.h"
#include "gather_tiling.h"

/* T: an integer as wide as an element. */
template <typename T>
class GatherTable {
public:
    static constexpr uint32_t kWords = sizeof(T) == 8 ? 2 : 1;
    static constexpr uint32_t kCellBytes = sizeof(T) == 1 ? 2 : sizeof(T);  // of an element in the table
    using Word = std::conditional_t<(sizeof(T) <= 2), int16_t, int32_t>;    // what the vector unit gathers
    static constexpr bool kIsByte = sizeof(T) == 1;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR index, GM_ADDR y, const TableTiling &tiling) {
        tiling_ = tiling;
        share_ = common::ShareOf(tiling.tables * tiling.chunks);
        x_.SetGlobalBuffer((__gm__ T *)x);
        y_.SetGlobalBuffer((__gm__ T *)y);
        index_ = index;
        const uint32_t elements = tiling.tileElements, words = elements * kWords;
        pipe_.InitBuffer(tables_, tiling.tableBuffers, tiling.tableBytes);
        pipe_.InitBuffer(indices_, 2, elements * tiling.indexBytes);
        pipe_.InitBuffer(results_, 2, elements * sizeof(T));
        pipe_.InitBuffer(offsets_, words * 4);
        pipe_.InitBuffer(base_, words * 4);
        if constexpr (kWords == 2) {
            pipe_.InitBuffer(twice_, words * 4);
        }
        if constexpr (kIsByte) {
            pipe_.InitBuffer(wideTable_, tiling.tableBytes * 2);
            pipe_.InitBuffer(wideResult_, elements * 2);
        }
        if (tiling.indexBytes == 1) {
            pipe_.InitBuffer(wideIndex_, elements * 2);
            pipe_.InitBuffer(spare_, kWords == 2 ? elements * 4 : 32);
        }
    }

    __aicore__ inline void Process() {
        if (share_.count == 0) {
            return;
        }
        const int64_t last = share_.first + share_.count, lastTable = (last - 1) / tiling_.chunks;
        int64_t table = share_.first / tiling_.chunks - 1;
        Prepare();
        LoadTable(table + 1);
        LoadIndices(share_.first);
        for (int64_t unit = share_.first; unit < last; ++unit) {
            if (unit + 1 < last) {
                LoadIndices(unit + 1);
            }
            if (unit / tiling_.chunks > table) {
                TakeTable(++table, lastTable);
            }
            Compute(unit);
            Store(unit);
        }
        ReleaseTable();
    }

private:
    /* Where a unit's indices are and how many. Of whole planes they are contiguous: one line. */
    struct Chunk {
        int64_t start;  // in index and y
        uint32_t lines;
        uint32_t columns;
        uint32_t stride;  // elements from line to line in the unified buffer
    };

    __aicore__ inline bool IsStrip() const { return tiling_.planesPerTable == 0; }

    __aicore__ inline int64_t FirstPlane(int64_t table) const {
        const int64_t run = tiling_.planes.axes > 0 ? tiling_.planes.count[tiling_.planes.axes - 1] : 1;
        return table / tiling_.tablesPerRun * run + table % tiling_.tablesPerRun * tiling_.planesPerTable;
    }

    __aicore__ inline uint32_t PlanesOf(int64_t table) const {
        const int64_t run = tiling_.planes.axes > 0 ? tiling_.planes.count[tiling_.planes.axes - 1] : 1;
        const int64_t left = run - table % tiling_.tablesPerRun * tiling_.planesPerTable;
        return left < tiling_.planesPerTable ? left : tiling_.planesPerTable;
    }

    __aicore__ inline int64_t FirstColumn(int64_t table) const { return table % tiling_.tablesPerRun * tiling_.width; }

    __aicore__ inline uint32_t ColumnsOf(int64_t table) const {
        const int64_t left = tiling_.planes.width - FirstColumn(table);
        return left < tiling_.width ? left : tiling_.width;
    }

    __aicore__ inline Chunk ChunkOf(int64_t unit) const {
        const auto &planes = tiling_.planes;
        const int64_t table = unit / tiling_.chunks, done = unit % tiling_.chunks * tiling_.perChunk;
        if (IsStrip()) {
            const int64_t left = planes.length[kIndex] - done;
            const int64_t start = common::PlaneStart(planes, kIndex, table / tiling_.tablesPerRun) + done * planes.step[kIndex] + FirstColumn(table);
            return {start, static_cast<uint32_t>(left < tiling_.perChunk ? left : tiling_.perChunk), ColumnsOf(table), tiling_.width};
        }
        const int64_t left = PlanesOf(table) * planes.length[kIndex] * planes.width - done;
        const uint32_t count = left < 0 ? 0 : left < tiling_.perChunk ? left : tiling_.perChunk;
        return {common::PlaneStart(planes, kIndex, FirstPlane(table)) + done, 1, count, count};
    }

    /* What depends on lanes only; and a strip's lanes beyond its columns, which are computed along, get indices that exist. */
    __aicore__ inline void Prepare() {
        const uint32_t words = tiling_.tileElements * kWords;
        const int32_t width = IsStrip() ? tiling_.width : tiling_.planes.width;
        const auto base = base_.template Get<int32_t>(), part = offsets_.template Get<int32_t>();
        common::FillQuotients(base, 1, kCellBytes / kWords, words);
        common::FillQuotients(part, kWords * width, width * static_cast<int32_t>(kCellBytes), words);
        AscendC::Sub(base, base, part, words);
        AscendC::PipeBarrier<PIPE_V>();
        if (tiling_.planesPerTable > 1) {
            const int32_t perPlane = tiling_.planes.length[kIndex] * width, apart = tiling_.planeStride / sizeof(T) * kCellBytes;
            common::FillQuotients(part, kWords * perPlane, apart, words);
            AscendC::Add(base, base, part, words);
            AscendC::PipeBarrier<PIPE_V>();
        }
        if constexpr (kWords == 2) {
            common::FillQuotients(twice_.template Get<int32_t>(), 2, tiling_.indexBytes == 8 ? 8 : 4, words);
        }
        if (IsStrip()) {
            ClearIndices();
            ClearIndices();
        }
    }

    __aicore__ inline void ClearIndices() {
        auto index = indices_.template AllocTensor<int8_t>();
        AscendC::Duplicate(index.template ReinterpretCast<int16_t>(), static_cast<int16_t>(0), tiling_.tileElements * tiling_.indexBytes / 2);
        indices_.FreeTensor(index);
    }

    __aicore__ inline void LoadTable(int64_t table) {
        const auto &planes = tiling_.planes;
        const AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, 0};
        auto to = tables_.template AllocTensor<T>();
        if (IsStrip()) {
            const uint32_t columns = ColumnsOf(table), bytes = columns * sizeof(T), unused = (tiling_.width - columns) * sizeof(T) / 32;
            const uint32_t apart = planes.step[kX] * sizeof(T) - bytes;
            const int64_t start = common::PlaneStart(planes, kX, table / tiling_.tablesPerRun) + FirstColumn(table);
            for (uint32_t row = 0; row < tiling_.rows; row += kMostBlocks) {
                const uint16_t rows = tiling_.rows - row < kMostBlocks ? tiling_.rows - row : kMostBlocks;
                AscendC::DataCopyPad(to[row * tiling_.width], x_[start + row * planes.step[kX]], AscendC::DataCopyExtParams{rows, bytes, apart, unused, 0},
                                     pad);
            }
        } else {
            const uint32_t count = PlanesOf(table), bytes = ((tiling_.rows - 1) * planes.step[kX] + planes.width) * sizeof(T);
            const bool isSolid = tiling_.planeStride == bytes;
            const int64_t move = planes.axes > 0 ? planes.move[kX][planes.axes - 1] * sizeof(T) : bytes;
            const bool isOne = count == 1 || (isSolid && move == bytes);
            const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(isOne ? 1 : count), isOne ? count * bytes : bytes,
                                                    static_cast<uint32_t>(isOne ? 0 : move - bytes), 0, 0};
            AscendC::DataCopyPad(to, x_[common::PlaneStart(planes, kX, FirstPlane(table))], copied, pad);
        }
        tables_.EnQue(to);
    }

    /* The table that was asked for becomes the current one, and the next is asked for as soon as there is a buffer. */
    __aicore__ inline void TakeTable(int64_t table, int64_t lastTable) {
        if constexpr (kIsByte) {
            auto raw = tables_.template DeQue<int8_t>();
            const auto wide = wideTable_.template Get<half>();
            AscendC::Cast(wide, raw, AscendC::RoundMode::CAST_NONE, tiling_.tableBytes);
            AscendC::PipeBarrier<PIPE_V>();
            tables_.FreeTensor(raw);
            if (table < lastTable) {
                LoadTable(table + 1);
            }
            table_ = wide.template ReinterpretCast<Word>();
            return;
        }
        const bool isFirst = !hasTable_;
        ReleaseTable();
        if (tiling_.tableBuffers == 1 && !isFirst) {
            LoadTable(table);
        }
        current_ = tables_.template DeQue<T>();
        hasTable_ = true;
        if (tiling_.tableBuffers == 2 && table < lastTable) {
            LoadTable(table + 1);
        }
        table_ = current_.template ReinterpretCast<Word>();
    }

    __aicore__ inline void ReleaseTable() {
        if (hasTable_) {
            tables_.FreeTensor(current_);
            hasTable_ = false;
        }
    }

    __aicore__ inline void LoadIndices(int64_t unit) {
        auto to = indices_.template AllocTensor<int8_t>();
        if (tiling_.indexBytes == 8) {
            LoadIndicesAs<int64_t>(to, unit);
        } else if (tiling_.indexBytes == 4) {
            LoadIndicesAs<int32_t>(to, unit);
        } else {
            LoadIndicesAs<int8_t>(to, unit);
        }
        indices_.EnQue(to);
    }

    /* By their type: what a line lacks to a whole block is filled with its first element, an index that exists. */
    template <typename Index>
    __aicore__ inline void LoadIndicesAs(const AscendC::LocalTensor<int8_t> &to, int64_t unit) {
        const Chunk chunk = ChunkOf(unit);
        const uint32_t bytes = chunk.columns * sizeof(Index), unused = (chunk.stride - chunk.columns) * sizeof(Index) / 32;
        const uint32_t apart = chunk.lines > 1 ? tiling_.planes.step[kIndex] * sizeof(Index) - bytes : 0;
        AscendC::GlobalTensor<Index> index;
        index.SetGlobalBuffer((__gm__ Index *)index_);
        index.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        AscendC::DataCopyPad(to.template ReinterpretCast<Index>(), index[chunk.start],
                             AscendC::DataCopyExtParams{static_cast<uint16_t>(chunk.lines), bytes, apart, unused, 0},
                             AscendC::DataCopyPadExtParams<Index>{false, 0, 0, 0});
    }

    /* Indices as int32, twice each for an int64; may be the tensor they were loaded into. */
    __aicore__ inline AscendC::LocalTensor<int32_t> Places(const AscendC::LocalTensor<int8_t> &raw, uint32_t count) {
        const auto offsets = offsets_.template Get<int32_t>();
        auto narrow = raw.template ReinterpretCast<int32_t>();
        if (tiling_.indexBytes == 1) {
            const auto wide = wideIndex_.template Get<half>();
            narrow = kWords == 2 ? spare_.template Get<int32_t>() : offsets;
            AscendC::Cast(wide, raw, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(narrow, wide, AscendC::RoundMode::CAST_RINT, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
        if constexpr (kWords == 2) {
            AscendC::Gather(offsets, narrow, twice_.template Get<uint32_t>(), 0, count * 2);
            AscendC::PipeBarrier<PIPE_V>();
            return offsets;
        }
        if (tiling_.indexBytes == 8) {
            AscendC::Cast(offsets, raw.template ReinterpretCast<int64_t>(), AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            return offsets;
        }
        return narrow;
    }

    __aicore__ inline void Compute(int64_t unit) {
        const Chunk chunk = ChunkOf(unit);
        const uint32_t count = chunk.lines * chunk.stride, words = count * kWords;
        const int32_t step = (IsStrip() ? tiling_.width : tiling_.planes.step[kX]) * kCellBytes;
        const auto offsets = offsets_.template Get<int32_t>();
        auto raw = indices_.template DeQue<int8_t>();
        AscendC::Muls(offsets, Places(raw, count), step, words);
        AscendC::PipeBarrier<PIPE_V>();
        indices_.FreeTensor(raw);
        AscendC::Add(offsets, offsets, base_.template Get<int32_t>(), words);
        AscendC::PipeBarrier<PIPE_V>();
        auto y = results_.template AllocTensor<T>();
        if constexpr (kIsByte) {
            const auto wide = wideResult_.template Get<Word>();
            AscendC::Gather(wide, table_, offsets.template ReinterpretCast<uint32_t>(), 0, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, wide.template ReinterpretCast<half>(), AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
        } else {
            AscendC::Gather(y.template ReinterpretCast<Word>(), table_, offsets.template ReinterpretCast<uint32_t>(), 0, words);
            AscendC::PipeBarrier<PIPE_V>();
        }
        results_.EnQue(y);
    }

    __aicore__ inline void Store(int64_t unit) {
        const Chunk chunk = ChunkOf(unit);
        const uint32_t bytes = chunk.columns * sizeof(T), unused = (chunk.stride - chunk.columns) * sizeof(T) / 32;
        const uint32_t apart = chunk.lines > 1 ? tiling_.planes.step[kIndex] * sizeof(T) - bytes : 0;
        auto y = results_.template DeQue<T>();
        AscendC::DataCopyPad(y_[chunk.start], y, AscendC::DataCopyExtParams{static_cast<uint16_t>(chunk.lines), bytes, unused, apart, 0});
        results_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> tables_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> indices_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> results_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> base_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> twice_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideTable_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideResult_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideIndex_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> spare_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    GM_ADDR index_;
    AscendC::LocalTensor<T> current_;
    AscendC::LocalTensor<Word> table_;
    TableTiling tiling_;
    common::Share share_;
    bool hasTable_ = false;
};

#endif  // REFERENCE_GATHER_TABLE_H
