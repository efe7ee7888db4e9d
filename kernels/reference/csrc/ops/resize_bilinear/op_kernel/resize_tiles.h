/*
 * The tiles of resize_bilinear: new rows from old ones, then new columns from old ones.
 *
 * Problem: along a row the neighbours of a new pixel lie anywhere, and Gather, which fetches them, takes 14 cycles for 64.
 * Approach: rows first (two old rows with a share each, dense vectors), then columns by TransDataTo5HD, which reads 16 blocks at free addresses and turns
 * them. The lines of a tile are turned once, so that a column of eight lines is a block; then 16 columns, those that 16 new pixels come from, are turned back:
 * this gathers at some three cycles for 64. Shares of columns lie in one row for all lines. A tile's old rows are loaded once each, while the tile before is
 * computed. Everything is float32, rounded once; as the definition has it, a neighbour with share 0 takes part (an infinite one gives NaN).
 * Limits: sizes as in the operator's desc.md (a row of one plane may be cut into stretches); reads and writes of rows that do not start at 512 bytes move more
 * than they use.
 */
#ifndef REFERENCE_RESIZE_TILES_H
#define REFERENCE_RESIZE_TILES_H

#include <type_traits>
#include <utility>

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "resize_bilinear_launch.h"
#include "resize_positions.h"
#include "resize_tiling.h"

using common::FloatRows;

template <typename T>
class ResizeKernel {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr uint64_t kBlockBytes = 32;
    static constexpr int64_t kElementsPerLaunch = 1500;

    __aicore__ inline void Init(const ResizeTensors &tensors, const ResizeTiling &tiling) {
        tile_ = tiling;
        planes_ = tensors.planes;
        oldRows_ = tensors.rows.old;
        oldColumns_ = tensors.columns.old;
        newRows_ = tensors.rows.size;
        newColumns_ = tensors.columns.size;
        rowPlaces_.Init(tensors.rows);
        columnPlaces_.Init(tensors.columns);
        x_.SetGlobalBuffer((__gm__ T *)tensors.x, planes_ * oldRows_ * oldColumns_);
        y_.SetGlobalBuffer((__gm__ T *)tensors.y, planes_ * newRows_ * newColumns_);
        const uint32_t loaded = tile_.slots * tile_.planes * tile_.width, seen = tile_.lines * tile_.width, made = tile_.lines * tile_.newWidth;
        pipe_.InitBuffer(in_, kBuffers, loaded * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, made * sizeof(T));
        pipe_.InitBuffer(turned_, (kIsFloat || seen > loaded ? seen : loaded) * sizeof(float));
        pipe_.InitBuffer(lines_, (seen > made ? seen : made) * sizeof(float));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, made * sizeof(float));
        }
        pipe_.InitBuffer(shares_, 2 * tile_.newWidth * sizeof(float));
    }

    __aicore__ inline void Process() {
        const auto share = common::ShareOf(static_cast<int64_t>(tile_.chunks) * tile_.planeGroups * tile_.rowGroups);
        CopyIn(share.first);
        uint32_t chunk = tile_.chunks;
        for (int64_t item = share.first; item < share.first + share.count; ++item) {
            if (item + 1 < share.first + share.count) {
                CopyIn(item + 1);
            }
            const Part part = PartOf(item);
            if (part.chunk != chunk) {
                chunk = part.chunk;
                FormShares(part);
            }
            Compute(part);
            CopyOut(part);
        }
    }

private:
    /* What a tile covers. */
    struct Part {
        uint32_t chunk;
        uint32_t plane, planes;
        uint32_t row, rows;
        uint32_t column, columns;  // new ones
        uint32_t oldColumn, oldCount;
    };

    /* One new row of a tile: which of the loaded rows it lies between. */
    struct Between {
        uint32_t low, high;  // slots
        ResizeShares shares;
    };

    __aicore__ inline uint32_t Least(uint32_t a, uint32_t b) const { return a < b ? a : b; }

    __aicore__ inline Part PartOf(int64_t item) const {
        Part part;
        part.row = item % tile_.rowGroups * tile_.rows;
        const uint32_t rest = item / tile_.rowGroups;
        part.plane = rest % tile_.planeGroups * tile_.planes;
        part.chunk = rest / tile_.planeGroups;
        part.column = part.chunk * tile_.columns;
        part.planes = Least(tile_.planes, planes_ - part.plane);
        part.rows = Least(tile_.rows, newRows_ - part.row);
        part.columns = Least(tile_.columns, newColumns_ - part.column);
        part.oldColumn = columnPlaces_.Low(part.column);
        part.oldCount = columnPlaces_.Above(columnPlaces_.Low(part.column + part.columns - 1)) + 1 - part.oldColumn;
        return part;
    }

    /* Calls load(row, slot) for each old row of the tile and use(row, between) for each new one; old rows come in order, each once. */
    template <typename Load, typename Use>
    __aicore__ inline void WalkRows(const Part &part, Load load, Use use) const {
        uint32_t slots = 0, last = 0;
        for (uint32_t row = 0; row < part.rows; ++row) {
            const uint32_t low = rowPlaces_.Low(part.row + row), high = rowPlaces_.Above(low);
            if (slots == 0 || low > last) {
                last = low;
                load(low, slots++);
            }
            const uint32_t lowSlot = slots - (low == last ? 1 : 2);
            if (high > last) {
                last = high;
                load(high, slots++);
            }
            use(row, lowSlot, slots - 1);
        }
    }

    /* The same old row of all planes of the tile. */
    __aicore__ inline void CopyIn(int64_t item) {
        const Part part = PartOf(item);
        auto x = in_.template AllocTensor<T>();
        const uint32_t bytes = part.oldCount * sizeof(T), room = tile_.width * sizeof(T);
        const uint32_t skipped = (oldRows_ * oldColumns_ - part.oldCount) * sizeof(T), gap = (room - bytes) / 32;
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(part.planes), bytes, skipped, gap, 0};
        const auto load = [&](uint32_t row, uint32_t slot) {
            AscendC::DataCopyPad(x[slot * tile_.planes * tile_.width], x_[(part.plane * oldRows_ + row) * oldColumns_ + part.oldColumn], copied,
                                 AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        };
        WalkRows(part, load, [](uint32_t, uint32_t, uint32_t) {});
        in_.EnQue(x);
    }

    /* Shares of the chunk's new columns. */
    __aicore__ inline void FormShares(const Part &part) {
        const auto low = shares_.template Get<float>(), high = low[tile_.newWidth];
        columnPlaces_.Fill(low, high, lines_.template Get<int32_t>(), part.column, tile_.newWidth);
    }

    __aicore__ inline void Compute(const Part &part) {
        auto x = in_.template DeQue<T>();
        const auto lines = lines_.template Get<float>(), turned = turned_.template Get<float>();
        if constexpr (kIsFloat) {
            MixRows(lines, x, part);
            in_.FreeTensor(x);
        } else {
            AscendC::Cast(turned, x, AscendC::RoundMode::CAST_NONE, Slots(part) * tile_.planes * tile_.width);
            in_.FreeTensor(x);
            AscendC::PipeBarrier<PIPE_V>();
            MixRows(lines, turned, part);
        }
        AscendC::PipeBarrier<PIPE_V>();
        Turn(turned, lines);
        AscendC::PipeBarrier<PIPE_V>();
        auto y = out_.template AllocTensor<T>();
        if constexpr (kIsFloat) {
            MixColumns(y, lines, turned, part);
        } else {
            const auto wide = wide_.template Get<float>();
            MixColumns(wide, lines, turned, part);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, part.rows * tile_.planes * tile_.newWidth);
        }
        AscendC::PipeBarrier<PIPE_V>();
        out_.EnQue(y);
    }

    __aicore__ inline uint32_t Slots(const Part &part) const {
        uint32_t slots = 0;
        WalkRows(part, [&](uint32_t, uint32_t slot) { slots = slot + 1; }, [](uint32_t, uint32_t, uint32_t) {});
        return slots;
    }

    /* Each new row of all planes: two old ones with their shares. */
    __aicore__ inline void MixRows(const FloatRows &lines, const FloatRows &x, const Part &part) {
        const uint32_t count = tile_.planes * tile_.width;
        WalkRows(
            part, [](uint32_t, uint32_t) {},
            [&](uint32_t row, uint32_t low, uint32_t) { AscendC::Muls(lines[row * count], x[low * count], rowPlaces_.Shares(part.row + row).low, count); });
        AscendC::PipeBarrier<PIPE_V>();
        WalkRows(
            part, [](uint32_t, uint32_t) {},
            [&](uint32_t row, uint32_t, uint32_t high) { AscendC::Axpy(lines[row * count], x[high * count], rowPlaces_.Shares(part.row + row).high, count); });
    }

    /* Lines to columns: turned holds, for each eight lines, their columns one after another, a block each. */
    __aicore__ inline void Turn(const FloatRows &turned, const FloatRows &lines) {
        const uint32_t width = tile_.width;
        uint64_t from[NCHW_CONV_ADDR_LIST_SIZE], to[NCHW_CONV_ADDR_LIST_SIZE];
        const AscendC::TransDataTo5HDParams params(false, false, width / common::kBlockFloats, common::kBlockFloats, 1);
        for (uint32_t line = 0; line < tile_.lines; line += kResizeLines) {
            TurnAll(from, to, lines.GetPhyAddr(line * width), turned.GetPhyAddr(line * width), width, std::make_index_sequence<kResizeLines>());
            AscendC::TransDataTo5HD<float>(to, from, params);
        }
    }
    template <size_t... each>
    __aicore__ inline void TurnAll(uint64_t *from, uint64_t *to, uint64_t lines, uint64_t turned, uint32_t width, std::index_sequence<each...>) {
        ((from[each] = lines + each * width * sizeof(float), to[each] = turned + each / 2 * kBlockBytes + each % 2 * width * kBlockBytes), ...);
    }

    /* Addresses of the columns that 16 new pixels come from. */
    struct Sources {
        uint64_t start;  // of the first column
        uint32_t firstColumn, mostColumn;
        uint64_t low[NCHW_CONV_ADDR_LIST_SIZE], high[NCHW_CONV_ADDR_LIST_SIZE];

        __aicore__ inline __attribute__((always_inline)) void Set(uint32_t each, uint32_t column) {
            const uint32_t above = column < mostColumn ? column + 1 : mostColumn;
            low[each] = start + (column - firstColumn) * kBlockBytes;
            high[each] = start + (above - firstColumn) * kBlockBytes;
        }
    };

    /* Unrolled by hand: these lists keep the scalar unit busy. */
    template <size_t... each>
    __aicore__ inline void SetAll(Sources &sources, ResizeWalk &walk, std::index_sequence<each...>) {
        (sources.Set(each, walk.Next()), ...);
    }
    template <size_t... each>
    __aicore__ inline void AimAll(uint64_t *to, uint64_t start, uint32_t newWidth, std::index_sequence<each...>) {
        ((to[each] = start + each / 2 * newWidth * sizeof(float) + each % 2 * kBlockBytes), ...);
    }

    /* 16 new pixels of all lines at a time: their lower neighbours into y, the upper ones over the lines, then both with their shares. */
    __aicore__ inline void MixColumns(const FloatRows &y, const FloatRows &upper, const FloatRows &turned, const Part &part) {
        using namespace common;
        const uint32_t newWidth = tile_.newWidth;
        const AscendC::TransDataTo5HDParams params(false, false, tile_.lines / kBlockFloats, newWidth, tile_.width);
        const uint32_t mostColumn = part.oldColumn + part.oldCount - 1;
        auto walk = columnPlaces_.WalkFrom(part.column, mostColumn);
        Sources sources{turned.GetPhyAddr(), part.oldColumn, mostColumn, {}, {}};
        uint64_t to[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t first = 0; first < part.columns; first += kResizeLines) {
            SetAll(sources, walk, std::make_index_sequence<kResizeLines>());
            AimAll(to, y.GetPhyAddr(first), newWidth, std::make_index_sequence<kResizeLines>());
            AscendC::TransDataTo5HD<float>(to, sources.low, params);
            AimAll(to, upper.GetPhyAddr(first), newWidth, std::make_index_sequence<kResizeLines>());
            AscendC::TransDataTo5HD<float>(to, sources.high, params);
        }
        AscendC::PipeBarrier<PIPE_V>();
        const uint32_t lines = part.rows * tile_.planes;
        const auto share = shares_.template Get<float>();
        Apply<Step::kMul>(Matrix(y, newWidth), Matrix(y, newWidth), OneRow(share), lines, newWidth);
        Apply<Step::kMul>(Matrix(upper, newWidth), Matrix(upper, newWidth), OneRow(share[newWidth]), lines, newWidth);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(y, y, upper, lines * newWidth);
    }

    /* Lines are ordered by row, then plane; the longer of the two goes into one copy. */
    __aicore__ inline void CopyOut(const Part &part) {
        auto y = out_.template DeQue<T>();
        const bool isByRow = part.planes >= part.rows;
        const uint32_t bytes = part.columns * sizeof(T), room = tile_.newWidth * sizeof(T), unused = (room - bytes) / 32;
        const uint32_t count = isByRow ? part.planes : part.rows, between = isByRow ? 0 : (tile_.planes - 1) * room / 32;
        const uint32_t skipped = ((isByRow ? newRows_ * newColumns_ : newColumns_) - part.columns) * sizeof(T);
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(count), bytes, unused + between, skipped, 0};
        for (uint32_t each = 0; each < (isByRow ? part.rows : part.planes); ++each) {
            const int64_t plane = part.plane + (isByRow ? 0 : each), row = part.row + (isByRow ? each : 0);
            const uint32_t line = isByRow ? each * tile_.planes : each;
            AscendC::DataCopyPad(y_[(plane * newRows_ + row) * newColumns_ + part.column], y[line * tile_.newWidth], copied);
        }
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> turned_;  // first the old rows in float32, for the 16-bit types
    AscendC::TBuf<AscendC::TPosition::VECCALC> lines_;   // then the upper neighbours
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> shares_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    ResizePositions rowPlaces_;
    ResizePositions columnPlaces_;
    ResizeTiling tile_;
    int64_t planes_;
    int64_t oldRows_;
    int64_t oldColumns_;
    int64_t newRows_;
    int64_t newColumns_;
};

#endif  // REFERENCE_RESIZE_TILES_H
