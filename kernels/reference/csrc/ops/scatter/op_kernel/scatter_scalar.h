/*
 * scatter by the scalar unit: about 40 cycles per update. For what the vector unit cannot do: int64 with a reduction, and axes far longer than the unified
 * buffer.
 *
 * An item keeps a range of places (all of them where they fit) of a strip of a plane. Where there are several ranges, the vector unit looks for the indices
 * that fall into this one, so that the scalar unit has its own share of the updates only.
 */
#ifndef REFERENCE_SCATTER_SCALAR_H
#define REFERENCE_SCATTER_SCALAR_H

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "scatter_element.h"
#include "scatter_tiling.h"

template <typename T>
class ScatterScalar {
public:
    using Element = ScatterElement<T>;
    using Wide = typename Element::Wide;

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR *tensors, const ItemTiling &tiling) {
        tiling_ = tiling;
        data_.SetGlobalBuffer((__gm__ T *)tensors[kData]);
        updates_.SetGlobalBuffer((__gm__ T *)tensors[kUpdates]);
        y_.SetGlobalBuffer((__gm__ T *)tensors[3]);
        indices_ = tensors[kIndices];
        const uint32_t cells = (tiling.perRange * tiling.width + 63) / 64 * 64;
        lanes_ = (tiling.perChunk * tiling.width + 63) / 64 * 64;
        pipe.InitBuffer(cells_, cells * sizeof(T));
        pipe.InitBuffer(wideCells_, Element::kIsNarrow ? cells * 4 : 32);
        pipe.InitBuffer(places_, lanes_ * tiling.common.indexBytes);
        pipe.InitBuffer(values_, lanes_ * sizeof(T));
        pipe.InitBuffer(wideValues_, Element::kIsNarrow ? lanes_ * 4 : 32);
        if (tiling.ranges > 1) {
            pipe.InitBuffer(local_, lanes_ * 4);
            pipe.InitBuffer(limited_, lanes_ * 4);
            pipe.InitBuffer(found_, lanes_ * 4);
            pipe.InitBuffer(bits_, (lanes_ + 255) / 256 * 32);
            AscendC::Duplicate(places_.template Get<int32_t>(), 0, lanes_ * tiling.common.indexBytes / 4);  // of lanes beside the columns
        }
    }

    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tiling_.items);
        for (int64_t item = share.first; item < share.first + share.count; ++item) {
            Item(item);
        }
    }

private:
    __aicore__ inline void Item(int64_t item) {
        const auto &planes = tiling_.common.planes;
        const int64_t strip = item / tiling_.ranges, plane = strip / tiling_.strips, column = strip % tiling_.strips * tiling_.columns;
        firstRow_ = item % tiling_.ranges * tiling_.perRange;
        const int64_t rowsLeft = planes.length[kData] - firstRow_, columnsLeft = planes.width - column;
        rows_ = rowsLeft < tiling_.perRange ? rowsLeft : tiling_.perRange;
        width_ = columnsLeft < tiling_.columns ? columnsLeft : tiling_.columns;
        const int64_t start = common::PlaneStart(planes, kData, plane) + firstRow_ * planes.step[kData] + column;
        LoadCells(start);
        for (int64_t row = 0; row < planes.length[kIndices]; row += tiling_.perChunk) {
            const int64_t left = planes.length[kIndices] - row;
            const uint32_t count = left < tiling_.perChunk ? left : tiling_.perChunk;
            LoadChunk(common::PlaneStart(planes, kIndices, plane) + row * planes.step[kIndices] + column,
                      common::PlaneStart(planes, kUpdates, plane) + row * planes.step[kUpdates] + column, count);
            if (tiling_.common.indexBytes == 8) {
                Update<int64_t>(count);
            } else {
                Update<int32_t>(count);
            }
        }
        StoreCells(start);
    }

    /* A strip of rows; a plane of width 1 whose rows are side by side is one stretch. */
    template <typename U>
    __aicore__ inline void Load(const AscendC::LocalTensor<U> &to, const AscendC::GlobalTensor<U> &from, int64_t step, uint32_t rows) {
        const AscendC::DataCopyPadExtParams<U> pad{false, 0, 0, 0};
        if (tiling_.width == 1 && step == 1) {
            AscendC::DataCopyPad(to, from, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(rows * sizeof(U)), 0, 0, 0}, pad);
            return;
        }
        const uint32_t bytes = width_ * sizeof(U), apart = step * sizeof(U) - bytes, unused = (tiling_.width - width_) * sizeof(U) / 32;
        for (uint32_t row = 0; row < rows; row += scatter_tiling::kMostRows) {
            const uint16_t count = rows - row < scatter_tiling::kMostRows ? rows - row : scatter_tiling::kMostRows;
            AscendC::DataCopyPad(to[row * tiling_.width], from[row * step], AscendC::DataCopyExtParams{count, bytes, apart, unused, 0}, pad);
        }
    }

    __aicore__ inline void LoadCells(int64_t start) {
        const auto cells = cells_.template Get<T>();
        Load(cells, (tiling_.common.isInPlace ? y_ : data_)[start], tiling_.common.planes.step[kData], rows_);
        AscendC::PipeBarrier<PIPE_ALL>();
        if constexpr (Element::kIsNarrow) {
            AscendC::Cast(wideCells_.template Get<float>(), cells, AscendC::RoundMode::CAST_NONE, rows_ * tiling_.width);
            AscendC::PipeBarrier<PIPE_ALL>();
        }
    }

    __aicore__ inline void StoreCells(int64_t start) {
        const auto cells = cells_.template Get<T>();
        const int64_t step = tiling_.common.planes.step[kData];
        AscendC::PipeBarrier<PIPE_ALL>();
        if constexpr (Element::kIsNarrow) {
            AscendC::Cast(cells, wideCells_.template Get<float>(), AscendC::RoundMode::CAST_RINT, rows_ * tiling_.width);
            AscendC::PipeBarrier<PIPE_ALL>();
        }
        if (tiling_.width == 1 && step == 1) {
            AscendC::DataCopyPad(y_[start], cells, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(rows_ * sizeof(T)), 0, 0, 0});
        } else {
            const uint32_t bytes = width_ * sizeof(T), apart = step * sizeof(T) - bytes, unused = (tiling_.width - width_) * sizeof(T) / 32;
            for (uint32_t row = 0; row < rows_; row += scatter_tiling::kMostRows) {
                const uint16_t count = rows_ - row < scatter_tiling::kMostRows ? rows_ - row : scatter_tiling::kMostRows;
                AscendC::DataCopyPad(y_[start + row * step], cells[row * tiling_.width], AscendC::DataCopyExtParams{count, bytes, unused, apart, 0});
            }
        }
        AscendC::PipeBarrier<PIPE_ALL>();
    }

    __aicore__ inline void LoadChunk(int64_t indexStart, int64_t updateStart, uint32_t rows) {
        const auto &planes = tiling_.common.planes;
        AscendC::PipeBarrier<PIPE_ALL>();
        if (tiling_.common.indexBytes == 8) {
            LoadPlaces<int64_t>(indexStart, rows);
        } else {
            LoadPlaces<int32_t>(indexStart, rows);
        }
        const auto values = values_.template Get<T>();
        Load(values, updates_[updateStart], planes.step[kUpdates], rows);
        AscendC::PipeBarrier<PIPE_ALL>();
        if constexpr (Element::kIsNarrow) {
            AscendC::Cast(wideValues_.template Get<float>(), values, AscendC::RoundMode::CAST_NONE, rows * tiling_.width);
            AscendC::PipeBarrier<PIPE_ALL>();
        }
    }

    template <typename Index>
    __aicore__ inline void LoadPlaces(int64_t start, uint32_t rows) {
        AscendC::GlobalTensor<Index> indices;
        indices.SetGlobalBuffer((__gm__ Index *)indices_);
        Load(places_.template Get<Index>(), indices[start], tiling_.common.planes.step[kIndices], rows);
    }

    __aicore__ inline AscendC::LocalTensor<Wide> Cells() { return Element::kIsNarrow ? wideCells_.template Get<Wide>() : cells_.template Get<Wide>(); }
    __aicore__ inline AscendC::LocalTensor<Wide> Values() { return Element::kIsNarrow ? wideValues_.template Get<Wide>() : values_.template Get<Wide>(); }

    template <typename Index>
    __aicore__ inline void Update(uint32_t rows) {
        const auto places = places_.template Get<Index>();
        if (tiling_.ranges > 1) {
            UpdateFound(places, rows * tiling_.width);
            return;
        }
        for (uint32_t row = 0; row < rows; ++row) {
            for (uint32_t column = 0; column < width_; ++column) {
                UpdateOne(places, row * tiling_.width + column, column);
            }
        }
    }

    template <typename Index>
    __aicore__ inline void UpdateOne(const AscendC::LocalTensor<Index> &places, uint32_t at, uint32_t column) {
        const auto cells = Cells(), values = Values();
        const auto cell = static_cast<uint32_t>((places.GetValue(at) - firstRow_) * tiling_.width + column);
        const Wide update = values.GetValue(at);
        if (tiling_.common.reduction == Reduction::kNone) {
            cells.SetValue(cell, update);
        } else {
            cells.SetValue(cell, Combined(tiling_.common.reduction, cells.GetValue(cell), update));
        }
    }

    /* Of `count` indices those in range: where limiting them changes nothing. */
    template <typename Index>
    __aicore__ inline void UpdateFound(const AscendC::LocalTensor<Index> &places, uint32_t count) {
        const auto local = local_.template Get<int32_t>(), limited = limited_.template Get<int32_t>(), found = found_.template Get<int32_t>();
        const auto bits = bits_.template Get<uint8_t>();
        const uint32_t whole = (count + 63) / 64 * 64;
        AscendC::Duplicate(local[whole - 64], -1, 64);
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (sizeof(Index) == 8) {
            AscendC::Cast(local, places, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Adds(local, local, -static_cast<int32_t>(firstRow_), count);
        } else {
            AscendC::Adds(local, places, -static_cast<int32_t>(firstRow_), count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Maxs(limited, local, 0, whole);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mins(limited, limited, static_cast<int32_t>(rows_) - 1, whole);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Compare(bits, local, limited, AscendC::CMPMODE::EQ, whole);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::CreateVecIndex(limited, 0, whole);
        AscendC::PipeBarrier<PIPE_V>();
        uint64_t hits = 0;
        AscendC::GatherMask(found, limited, bits.template ReinterpretCast<uint32_t>(), true, whole, AscendC::GatherMaskParams(1, 1, 0, 0), hits);
        AscendC::SetFlag<AscendC::HardEvent::V_S>(0);
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(0);
        for (uint32_t hit = 0; hit < hits; ++hit) {
            const uint32_t at = found.GetValue(hit), column = tiling_.width == 1 ? 0 : at % tiling_.width;
            if (column < width_) {
                UpdateOne(places, at, column);
            }
        }
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> cells_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideCells_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> places_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> values_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideValues_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> local_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> limited_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> found_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bits_;
    AscendC::GlobalTensor<T> data_;
    AscendC::GlobalTensor<T> updates_;
    AscendC::GlobalTensor<T> y_;
    GM_ADDR indices_;
    ItemTiling tiling_;
    int64_t firstRow_;
    uint32_t rows_;   // of the item
    uint32_t width_;  // columns of the item
    uint32_t lanes_;
};

#endif  // REFERENCE_SCATTER_SCALAR_H
