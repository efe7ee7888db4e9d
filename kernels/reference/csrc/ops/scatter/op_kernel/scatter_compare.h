/*
 * scatter along a short axis with many columns: every place is compared with every index, by the vector unit, all columns side by side.
 *
 * Row t of a tile is place t of the axis in a strip of columns, of one plane or of several behind one another; so are the rows of indices and updates. For each
 * t one instruction compares all rows of indices with t, one takes the updates where they agree (and the neutral number elsewhere), and one per row of them
 * combines these with row t. Without a reduction the updates are chosen straight into row t. That costs A / 10 cycles per update on an axis of length A, which
 * up to a length of eight or so is less than the memory takes. An int64 is two words that have the same place.
 */
#ifndef REFERENCE_SCATTER_COMPARE_H
#define REFERENCE_SCATTER_COMPARE_H

#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/lane_pattern.h"
#include "../../../common/row_vector.h"
#include "scatter_element.h"
#include "scatter_tiling.h"

template <typename T>
class ScatterCompare {
public:
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    static constexpr uint32_t kWords = sizeof(T) == 8 ? 2 : 1;
    using Wide = std::conditional_t<std::is_same_v<T, int32_t>, int32_t, float>;  // what is combined; an int64 is not
    using Cell = std::conditional_t<kIsNarrow, half, float>;                      // what is chosen: bits, whatever they mean

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR *tensors, const ItemTiling &tiling) {
        tiling_ = tiling;
        data_.SetGlobalBuffer((__gm__ T *)(tiling.common.isInPlace ? tensors[3] : tensors[kData]));
        updates_.SetGlobalBuffer((__gm__ T *)tensors[kUpdates]);
        y_.SetGlobalBuffer((__gm__ T *)tensors[3]);
        updates_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        indices_ = tensors[kIndices];
        lanes_ = tiling.lanes;
        const uint32_t length = tiling.perRange, cells = lanes_ * length, chunk = lanes_ * tiling.perChunk, words = chunk * kWords;
        pipe.InitBuffer(rows_, 1, cells * sizeof(T));
        pipe.InitBuffer(results_, 1, cells * sizeof(T));
        pipe.InitBuffer(places_, 1, chunk * tiling.common.indexBytes);
        pipe.InitBuffer(values_, 1, chunk * sizeof(T));
        pipe.InitBuffer(narrowPlaces_, words * 4);
        pipe.InitBuffer(bits_, words / 8);
        if (IsReduction()) {
            pipe.InitBuffer(chosen_, chunk * 4);
            pipe.InitBuffer(wideRows_, kIsNarrow ? cells * 4 : 32);
            pipe.InitBuffer(wideValues_, kIsNarrow ? chunk * 4 : 32);
        }
        if constexpr (kWords == 2) {
            pipe.InitBuffer(twice_, words * 4);
            common::FillQuotients(twice_.template Get<int32_t>(), 2, tiling.common.indexBytes, words);
        }
        ClearPlaces(chunk * tiling.common.indexBytes);
    }

    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tiling_.items);
        const int64_t last = share.first + share.count;
        if (share.count > 0) {
            LoadRows(share.first);
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
        uint32_t planes;
        uint32_t width;
    };

    __aicore__ inline bool IsReduction() const { return tiling_.common.reduction != Reduction::kNone; }

    __aicore__ inline Spot SpotOf(int64_t item) const {
        const auto &planes = tiling_.common.planes;
        const int64_t run = planes.axes > 0 ? planes.count[planes.axes - 1] : 1, group = item / tiling_.strips;
        const int64_t first = group % tiling_.itemsPerRun * tiling_.together, column = item % tiling_.strips * tiling_.columns;
        const int64_t planesLeft = run - first, columnsLeft = planes.width - column;
        return {group / tiling_.itemsPerRun * run + first, column, static_cast<uint32_t>(planesLeft < tiling_.together ? planesLeft : tiling_.together),
                static_cast<uint32_t>(columnsLeft < tiling_.columns ? columnsLeft : tiling_.columns)};
    }

    /* Lanes beside the columns are computed along: they need indices, if only once. */
    __aicore__ inline void ClearPlaces(uint32_t bytes) {
        auto places = places_.template AllocTensor<int32_t>();
        AscendC::Duplicate(places, 0, bytes / 4);
        places_.FreeTensor(places);
    }

    __aicore__ inline int64_t Apart(int32_t tensor) const {
        const auto &planes = tiling_.common.planes;
        return planes.axes > 0 ? planes.move[tensor][planes.axes - 1] : 0;
    }

    /* Row by row, each from all planes of the item. */
    template <typename U>
    __aicore__ inline void Load(const AscendC::LocalTensor<U> &to, const AscendC::GlobalTensor<U> &from, int32_t tensor, const Spot &spot, int64_t row,
                                uint32_t rows) {
        const auto &planes = tiling_.common.planes;
        const int64_t start = common::PlaneStart(planes, tensor, spot.plane) + row * planes.step[tensor] + spot.column;
        const bool isOne = spot.planes == 1;  // then the rows are the blocks of one copy
        const int64_t step = isOne ? planes.step[tensor] : Apart(tensor);
        const uint32_t count = isOne ? rows : spot.planes, bytes = spot.width * sizeof(U), unused = (Between(isOne) - spot.width) * sizeof(U) / 32;
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(count), bytes, static_cast<uint32_t>(count > 1 ? step * sizeof(U) - bytes : 0), unused,
                                                0};
        for (uint32_t done = 0; done < (isOne ? 1 : rows); ++done) {
            AscendC::DataCopyPad(to[done * lanes_], from[start + done * planes.step[tensor]], copied, AscendC::DataCopyPadExtParams<U>{false, 0, 0, 0});
        }
    }

    /* Elements from one block of a copy to the next. */
    __aicore__ inline uint32_t Between(bool isOne) const { return isOne ? lanes_ : tiling_.width; }

    __aicore__ inline void LoadRows(int64_t item) {
        auto rows = rows_.template AllocTensor<T>();
        Load(rows, data_, kData, SpotOf(item), 0, tiling_.perRange);
        rows_.EnQue(rows);
    }

    __aicore__ inline uint32_t ChunkAt(int64_t row) const {
        const int64_t left = tiling_.common.planes.length[kIndices] - row;
        return left < tiling_.perChunk ? left : tiling_.perChunk;
    }

    __aicore__ inline void LoadChunk(int64_t item, int64_t row) {
        const Spot spot = SpotOf(item);
        if (tiling_.common.indexBytes == 8) {
            LoadPlaces<int64_t>(spot, row);
        } else {
            LoadPlaces<int32_t>(spot, row);
        }
        auto values = values_.template AllocTensor<T>();
        Load(values, updates_, kUpdates, spot, row, ChunkAt(row));
        values_.EnQue(values);
    }

    template <typename Index>
    __aicore__ inline void LoadPlaces(const Spot &spot, int64_t row) {
        AscendC::GlobalTensor<Index> indices;
        indices.SetGlobalBuffer((__gm__ Index *)indices_);
        indices.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
        auto places = places_.template AllocTensor<Index>();
        Load(places, indices, kIndices, spot, row, ChunkAt(row));
        places_.EnQue(places);
    }

    __aicore__ inline void Item(int64_t item, int64_t last) {
        const int64_t length = tiling_.common.planes.length[kIndices];
        auto y = results_.template AllocTensor<T>();
        TakeRows(y, item, last);
        for (int64_t row = 0; row < length; row += tiling_.perChunk) {
            const uint32_t rows = ChunkAt(row);
            const bool isEnd = row + tiling_.perChunk >= length;
            TakePlaces(rows * lanes_);
            auto values = values_.template DeQue<T>();
            if (IsReduction() && kIsNarrow) {
                WidenValues(values, rows * lanes_);
            }
            if (!(IsReduction() && kIsNarrow)) {
                UpdateRows(y, values, rows);
                values_.FreeTensor(values);
                LoadAfter(item, row, isEnd, last);
            } else {
                values_.FreeTensor(values);
                LoadAfter(item, row, isEnd, last);
                UpdateRows(y, values, rows);
            }
        }
        if constexpr (kIsNarrow) {
            if (IsReduction()) {
                AscendC::Cast(y, wideRows_.template Get<float>(), AscendC::RoundMode::CAST_RINT, tiling_.perRange * lanes_);
            }
        }
        results_.EnQue(y);
        Store(item);
    }

    __aicore__ inline void LoadAfter(int64_t item, int64_t row, bool isEnd, int64_t last) {
        if (!isEnd) {
            LoadChunk(item, row + tiling_.perChunk);
        } else if (item + 1 < last) {
            LoadChunk(item + 1, 0);
        }
    }

    __aicore__ inline void TakeRows(const AscendC::LocalTensor<T> &y, int64_t item, int64_t last) {
        const uint32_t count = tiling_.perRange * lanes_;
        auto rows = rows_.template DeQue<T>();
        if constexpr (kIsNarrow) {
            if (IsReduction()) {
                AscendC::Cast(wideRows_.template Get<float>(), rows, AscendC::RoundMode::CAST_NONE, count);
            } else {
                AscendC::DataCopy(y, rows, count);
            }
        } else {
            AscendC::DataCopy(y, rows, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        rows_.FreeTensor(rows);
        if (item + 1 < last) {
            LoadRows(item + 1);
        }
    }

    /* Indices as int32, two for each int64. */
    __aicore__ inline void TakePlaces(uint32_t count) {
        const auto narrow = narrowPlaces_.template Get<int32_t>();
        if (tiling_.common.indexBytes == 8 && kWords == 1) {
            auto places = places_.template DeQue<int64_t>();
            AscendC::Cast(narrow, places, AscendC::RoundMode::CAST_NONE, count);
            places_.FreeTensor(places);
        } else {
            auto places = places_.template DeQue<int32_t>();
            if constexpr (kWords == 2) {
                AscendC::Gather(narrow, places, twice_.template Get<uint32_t>(), 0, count * 2);
            } else {
                AscendC::Adds(narrow, places, 0, count);
            }
            places_.FreeTensor(places);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void WidenValues(const AscendC::LocalTensor<T> &values, uint32_t count) {
        if constexpr (kIsNarrow) {
            AscendC::Cast(wideValues_.template Get<float>(), values, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void UpdateRows(const AscendC::LocalTensor<T> &y, const AscendC::LocalTensor<T> &values, uint32_t rows) {
        const uint32_t rowWords = lanes_ * kWords;
        const auto bits = bits_.template Get<uint8_t>();
        for (uint32_t place = 0; place < tiling_.perRange; ++place) {
            AscendC::CompareScalar(bits, narrowPlaces_.template Get<int32_t>(), static_cast<int32_t>(place), AscendC::CMPMODE::EQ, rows * rowWords);
            AscendC::PipeBarrier<PIPE_V>();
            if (!IsReduction()) {
                ChooseRows(y[place * lanes_].template ReinterpretCast<Cell>(), values.template ReinterpretCast<Cell>(), rows, rowWords);
            } else if constexpr (kWords == 1) {
                const auto to = kIsNarrow ? wideRows_.template Get<Wide>() : y.template ReinterpretCast<Wide>();
                const auto from = kIsNarrow ? wideValues_.template Get<Wide>() : values.template ReinterpretCast<Wide>();
                CombineRows(to[place * lanes_], from, rows, rowWords);
            }
        }
    }

    __aicore__ inline void ChooseRows(const AscendC::LocalTensor<Cell> &to, const AscendC::LocalTensor<Cell> &values, uint32_t rows, uint32_t words) {
        const auto bits = bits_.template Get<uint8_t>();
        for (uint32_t row = 0; row < rows; ++row) {
            AscendC::Select(to, bits[row * words / 8], values[row * words], to, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, words);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void CombineRows(const AscendC::LocalTensor<Wide> &to, const AscendC::LocalTensor<Wide> &values, uint32_t rows, uint32_t words) {
        const auto reduction = tiling_.common.reduction;
        const auto chosen = chosen_.template Get<float>();
        const float other = FloatOf(Neutral<Wide>(reduction));
        AscendC::Select(chosen, bits_.template Get<uint8_t>(), values.template ReinterpretCast<float>(), other, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE,
                        rows * words);
        AscendC::PipeBarrier<PIPE_V>();
        for (uint32_t row = 0; row < rows; ++row) {
            CombineVector<Wide>(reduction, to, chosen[row * words].template ReinterpretCast<Wide>(), words);
        }
    }

    /* The number with the same bits. */
    __aicore__ inline float FloatOf(Wide value) const {
        union {
            Wide wide;
            float number;
        } bits{value};
        return bits.number;
    }

    __aicore__ inline void Store(int64_t item) {
        const auto &planes = tiling_.common.planes;
        const Spot spot = SpotOf(item);
        const bool isOne = spot.planes == 1;
        const int64_t start = common::PlaneStart(planes, kData, spot.plane) + spot.column, step = isOne ? planes.step[kData] : Apart(kData);
        const uint32_t count = isOne ? tiling_.perRange : spot.planes, bytes = spot.width * sizeof(T), unused = (Between(isOne) - spot.width) * sizeof(T) / 32;
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(count), bytes, unused, static_cast<uint32_t>(count > 1 ? step * sizeof(T) - bytes : 0),
                                                0};
        auto y = results_.template DeQue<T>();
        for (uint32_t done = 0; done < (isOne ? 1 : tiling_.perRange); ++done) {
            AscendC::DataCopyPad(y_[start + done * planes.step[kData]], y[done * lanes_], copied);
        }
        results_.FreeTensor(y);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 1> rows_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> places_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> values_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> results_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> narrowPlaces_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bits_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> chosen_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideRows_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideValues_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> twice_;
    AscendC::GlobalTensor<T> data_;
    AscendC::GlobalTensor<T> updates_;
    AscendC::GlobalTensor<T> y_;
    GM_ADDR indices_;
    ItemTiling tiling_;
    uint32_t lanes_;
};

#endif  // REFERENCE_SCATTER_COMPARE_H
