/*
 * scatter by sorting (sorted_places.h), for axes too long to compare every place with every index: 4 to 20 cycles per update.
 *
 * An item is a table of places: some whole planes whose rows are single elements, side by side; or a range of the rows of a strip of columns. A place's
 * neutral pair holds its element of data where there is no reduction, so that the last pair of each place is the result. Otherwise the updates of all places
 * are combined one each at a time. Where there are several ranges, indices of other ranges go to a row that nobody reads.
 */
#ifndef REFERENCE_SCATTER_SORT_H
#define REFERENCE_SCATTER_SORT_H

#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "../../../common/sorted_places.h"
#include "scatter_element.h"
#include "scatter_tiling.h"

template <typename T>
class ScatterSort {
public:
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    using Wide = std::conditional_t<kIsNarrow, float, T>;

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR *tensors, const ItemTiling &tiling) {
        tiling_ = tiling;
        data_.SetGlobalBuffer((__gm__ T *)(tiling.common.isInPlace ? tensors[3] : tensors[kData]));
        updates_.SetGlobalBuffer((__gm__ T *)tensors[kUpdates]);
        y_.SetGlobalBuffer((__gm__ T *)tensors[3]);
        indices_ = tensors[kIndices];
        sorted_.Init(pipe, tiling.places + tiling.lanes + common::SortedPlaces::kGroup, tiling.places);
        pipe.InitBuffer(cells_, 1, tiling.places * sizeof(T));
        pipe.InitBuffer(results_, 1, tiling.places * sizeof(T));
        pipe.InitBuffer(indexTile_, 1, tiling.lanes * tiling.common.indexBytes);
        pipe.InitBuffer(values_, 1, tiling.lanes * sizeof(T));
        pipe.InitBuffer(sum_, tiling.places * 4);
        pipe.InitBuffer(part_, tiling.places * 4);
        pipe.InitBuffer(base_, tiling.lanes * 4);
        ClearOne(cells_, tiling.places * sizeof(T));
        ClearOne(indexTile_, tiling.lanes * tiling.common.indexBytes);
        ClearOne(values_, tiling.lanes * sizeof(T));
        FillBase();
    }

    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tiling_.items);
        const int64_t last = share.first + share.count;
        if (share.count > 0) {
            LoadCells(share.first);
            LoadChunk(share.first, 0);
        }
        for (int64_t item = share.first; item < last; ++item) {
            Item(item, last);
        }
    }

private:
    struct Spot {
        int64_t plane;
        int64_t column;
        int64_t row;  // the first of the range
        uint32_t planes;
        uint32_t rows;
        uint32_t width;
    };

    __aicore__ inline Spot SpotOf(int64_t item) const {
        const auto &planes = tiling_.common.planes;
        const int64_t run = planes.axes > 0 ? planes.count[planes.axes - 1] : 1, strip = item / tiling_.ranges, group = strip / tiling_.strips;
        const int64_t first = group % tiling_.itemsPerRun * tiling_.together, planesLeft = run - first;
        const int64_t column = strip % tiling_.strips * tiling_.columns, columnsLeft = planes.width - column;
        const int64_t row = item % tiling_.ranges * tiling_.perRange, rowsLeft = planes.length[kData] - row;
        return {group / tiling_.itemsPerRun * run + first,
                column,
                row,
                static_cast<uint32_t>(planesLeft < tiling_.together ? planesLeft : tiling_.together),
                static_cast<uint32_t>(rowsLeft < 0                  ? 0
                                      : rowsLeft < tiling_.perRange ? rowsLeft
                                                                    : tiling_.perRange),
                static_cast<uint32_t>(columnsLeft < tiling_.columns ? columnsLeft : tiling_.columns)};
    }

    /* What a copy does not fill is sorted along. */
    template <typename Queue>
    __aicore__ inline void ClearOne(Queue &queue, uint32_t bytes) {
        auto tile = queue.template AllocTensor<int16_t>();
        AscendC::Duplicate(tile, static_cast<int16_t>(0), bytes / 2);
        queue.FreeTensor(tile);
    }

    /* Place of an index 0 in each lane: by its column, or by its plane. */
    __aicore__ inline void FillBase() {
        const auto base = base_.template Get<int32_t>(), part = sorted_.Places();
        if (tiling_.isLine) {
            common::FillQuotients(base, tiling_.common.planes.length[kIndices], tiling_.common.planes.length[kData], tiling_.lanes);
            if (tiling_.together == 1) {
                AscendC::Duplicate(base, 0, tiling_.lanes);
                AscendC::PipeBarrier<PIPE_V>();
            }
            return;
        }
        const int32_t width = tiling_.width;
        common::FillQuotients(base, 1, 1, tiling_.lanes);
        common::FillQuotients(part, width, width, tiling_.lanes);
        AscendC::Sub(base, base, part, tiling_.lanes);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* `rows` rows of one element each behind one another, or of a strip. */
    template <typename U>
    __aicore__ inline AscendC::DataCopyExtParams Copied(int64_t step, uint32_t rows, uint32_t width, bool isStore) const {
        if (tiling_.isLine) {
            return {1, static_cast<uint32_t>(rows * sizeof(U)), 0, 0, 0};
        }
        const uint32_t bytes = width * sizeof(U), apart = rows > 1 ? step * sizeof(U) - bytes : 0, unused = (tiling_.width - width) * sizeof(U) / 32;
        return {static_cast<uint16_t>(rows), bytes, isStore ? unused : apart, isStore ? apart : unused, 0};
    }

    __aicore__ inline int64_t CellStart(const Spot &spot) const {
        return common::PlaneStart(tiling_.common.planes, kData, spot.plane) + spot.row * tiling_.common.planes.step[kData] + spot.column;
    }

    __aicore__ inline void LoadCells(int64_t item) {
        const Spot spot = SpotOf(item);
        auto cells = cells_.template AllocTensor<T>();
        if (spot.rows > 0) {
            AscendC::DataCopyPad(cells, data_[CellStart(spot)], Copied<T>(tiling_.common.planes.step[kData], spot.rows * spot.planes, spot.width, false),
                                 AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        }
        cells_.EnQue(cells);
    }

    /* Rows of the item's indices, of all its planes. */
    __aicore__ inline int64_t RowsOf(const Spot &spot) const { return tiling_.common.planes.length[kIndices] * spot.planes; }

    __aicore__ inline uint32_t ChunkAt(const Spot &spot, int64_t row) const {
        const int64_t left = RowsOf(spot) - row;
        return left < tiling_.perChunk ? left : tiling_.perChunk;
    }

    __aicore__ inline void LoadChunk(int64_t item, int64_t row) {
        const auto &planes = tiling_.common.planes;
        const Spot spot = SpotOf(item);
        if (tiling_.common.indexBytes == 8) {
            LoadIndices<int64_t>(spot, row);
        } else {
            LoadIndices<int32_t>(spot, row);
        }
        auto values = values_.template AllocTensor<T>();
        const int64_t start = common::PlaneStart(planes, kUpdates, spot.plane) + row * planes.step[kUpdates] + spot.column;
        AscendC::DataCopyPad(values, updates_[start], Copied<T>(planes.step[kUpdates], ChunkAt(spot, row), spot.width, false),
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        values_.EnQue(values);
    }

    template <typename Index>
    __aicore__ inline void LoadIndices(const Spot &spot, int64_t row) {
        const auto &planes = tiling_.common.planes;
        AscendC::GlobalTensor<Index> indices;
        indices.SetGlobalBuffer((__gm__ Index *)indices_);
        auto tile = indexTile_.template AllocTensor<Index>();
        const int64_t start = common::PlaneStart(planes, kIndices, spot.plane) + row * planes.step[kIndices] + spot.column;
        AscendC::DataCopyPad(tile, indices[start], Copied<Index>(planes.step[kIndices], ChunkAt(spot, row), spot.width, false),
                             AscendC::DataCopyPadExtParams<Index>{false, 0, 0, 0});
        indexTile_.EnQue(tile);
    }

    __aicore__ inline void Item(int64_t item, int64_t last) {
        const Spot spot = SpotOf(item);
        const auto sum = sum_.template Get<Wide>();
        TakeCells(sum);
        if (item + 1 < last) {
            LoadCells(item + 1);
        }
        for (int64_t row = 0; row < RowsOf(spot); row += tiling_.perChunk) {
            const uint32_t count = ChunkAt(spot, row) * tiling_.width;
            TakePlaces(spot, count);
            TakeValues(count);
            if (row + tiling_.perChunk < RowsOf(spot)) {
                LoadChunk(item, row + tiling_.perChunk);
            } else if (item + 1 < last) {
                LoadChunk(item + 1, 0);
            }
            Combine(sum, count);
        }
        Store(spot, sum);
    }

    __aicore__ inline void TakeCells(const AscendC::LocalTensor<Wide> &sum) {
        auto cells = cells_.template DeQue<T>();
        if constexpr (kIsNarrow) {
            AscendC::Cast(sum, cells, AscendC::RoundMode::CAST_NONE, tiling_.places);
        } else {
            AscendC::DataCopy(sum, cells, tiling_.places);
        }
        AscendC::PipeBarrier<PIPE_V>();
        cells_.FreeTensor(cells);
    }

    __aicore__ inline void TakePlaces(const Spot &spot, uint32_t count) {
        const auto places = sorted_.Places()[tiling_.places];
        if (tiling_.common.indexBytes == 8) {
            auto tile = indexTile_.template DeQue<int64_t>();
            AscendC::Cast(places, tile, AscendC::RoundMode::CAST_NONE, count);
            indexTile_.FreeTensor(tile);
        } else {
            auto tile = indexTile_.template DeQue<int32_t>();
            AscendC::Adds(places, tile, 0, count);
            indexTile_.FreeTensor(tile);
        }
        AscendC::PipeBarrier<PIPE_V>();
        if (tiling_.ranges > 1) {
            common::LimitPlaces(places, sorted_.Payloads().template ReinterpretCast<int32_t>(), spot.row, tiling_.perRange, count);
        }
        if (!tiling_.isLine) {
            AscendC::Muls(places, places, static_cast<int32_t>(tiling_.width), count);
            AscendC::PipeBarrier<PIPE_V>();
        }
        AscendC::Add(places, places, base_.template Get<int32_t>(), count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void TakeValues(uint32_t count) {
        auto values = values_.template DeQue<T>();
        const auto payloads = sorted_.Payloads()[tiling_.places].template ReinterpretCast<Wide>();
        if constexpr (kIsNarrow) {
            AscendC::Cast(payloads, values, AscendC::RoundMode::CAST_NONE, count);
        } else {
            AscendC::DataCopy(payloads, values, (count + 7) / 8 * 8);
        }
        AscendC::PipeBarrier<PIPE_V>();
        values_.FreeTensor(values);
    }

    __aicore__ inline void Combine(const AscendC::LocalTensor<Wide> &sum, uint32_t count) {
        const auto reduction = tiling_.common.reduction;
        const auto neutral = sorted_.Payloads().template ReinterpretCast<Wide>();
        const uint32_t places = tiling_.places;
        if (reduction == Reduction::kNone) {
            AscendC::DataCopy(neutral, sum, places);
        } else {
            AscendC::Duplicate(neutral, Neutral<Wide>(reduction), places);
        }
        AscendC::PipeBarrier<PIPE_V>();
        sorted_.Arrange(places, count);
        if (reduction == Reduction::kNone) {
            sorted_.Take(sum, places);
            return;
        }
        const auto part = part_.template Get<Wide>();
        const uint32_t most = sorted_.Most(tiling_.ranges > 1 ? tiling_.perRange * tiling_.width : places);
        for (uint32_t done = 0; done < most; ++done) {
            sorted_.Take(part, places);
            CombineVector<Wide>(reduction, sum, part, places);
            sorted_.Back(places);
        }
    }

    __aicore__ inline void Store(const Spot &spot, const AscendC::LocalTensor<Wide> &sum) {
        auto y = results_.template AllocTensor<T>();
        if constexpr (kIsNarrow) {
            AscendC::Cast(y, sum, AscendC::RoundMode::CAST_RINT, tiling_.places);
        } else {
            AscendC::DataCopy(y, sum, tiling_.places);
        }
        AscendC::PipeBarrier<PIPE_V>();
        results_.EnQue(y);
        auto stored = results_.template DeQue<T>();
        if (spot.rows > 0) {
            AscendC::DataCopyPad(y_[CellStart(spot)], stored, Copied<T>(tiling_.common.planes.step[kData], spot.rows * spot.planes, spot.width, true));
        }
        results_.FreeTensor(stored);
    }

    common::SortedPlaces sorted_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> cells_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> indexTile_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> values_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> results_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sum_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> part_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> base_;
    AscendC::GlobalTensor<T> data_;
    AscendC::GlobalTensor<T> updates_;
    AscendC::GlobalTensor<T> y_;
    GM_ADDR indices_;
    ItemTiling tiling_;
};

#endif  // REFERENCE_SCATTER_SORT_H
