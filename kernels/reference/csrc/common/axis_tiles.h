/*
 * Which elements of a tensor make up the tiles of axis_tiling.h; loads and stores them.
 *
 * In the unified buffer a tile of rows has its rows `perTile` elements apart, one of lines its lines `lanes` elements; what there is not stays as it was.
 * `isExact`: every element is in one tile. Else the last tile of a row and the last part of one start earlier, so that they are full.
 */
#ifndef REFERENCE_AXIS_TILES_H
#define REFERENCE_AXIS_TILES_H

#include "kernel_operator.h"

#include "axis_tiling.h"

namespace common {

template <bool isExact>
class AxisTiles {
public:
    __aicore__ inline void Init(const AxisTiling &tiling) {
        tiling_ = tiling;
        isLines_ = tiling.mode == AxisMode::kLines;
        along_ = isLines_ ? tiling.length : tiling.span;
    }

    /* Tiles of a unit, one after the other along the axis. */
    __aicore__ inline uint32_t Chunks() const { return (along_ + tiling_.perTile - 1) / tiling_.perTile; }

    /* Where a tile starts along the axis. */
    __aicore__ inline int64_t StartOf(uint32_t chunk) const {
        const int64_t start = static_cast<int64_t>(chunk) * tiling_.perTile, last = along_ - tiling_.perTile;
        return isExact || isLines_ || chunk == 0 || start < last ? start : last;
    }

    /* Elements of a tile along the axis. */
    __aicore__ inline uint32_t LengthAt(uint32_t chunk) const {
        const int64_t left = along_ - StartOf(chunk);
        return left < tiling_.perTile ? left : tiling_.perTile;
    }

    __aicore__ inline uint32_t LinesAt(uint32_t chunk) const { return isLines_ ? LengthAt(chunk) : tiling_.lines; }

    /* Is there a tile of which something is not loaded? */
    __aicore__ inline bool LeavesGaps() const {
        if (!isLines_) {
            const bool isPartial = tiling_.mode == AxisMode::kParts ? isExact && tiling_.perOuter * tiling_.outers * tiling_.pitch != tiling_.length
                                                                    : tiling_.outer % tiling_.outers != 0;
            return isPartial || (isExact && along_ % tiling_.perTile != 0);
        }
        return tiling_.outer % tiling_.outers != 0 || tiling_.perOuter * tiling_.width != tiling_.inner || tiling_.outers * tiling_.width != tiling_.lanes;
    }

    template <typename T>
    __aicore__ inline void Load(const AscendC::LocalTensor<T> &x, const AscendC::GlobalTensor<T> &from, int64_t unit, uint32_t chunk) const {
        ForBlocks(unit, chunk, [&](uint32_t at, const Blocks &blocks) { CopyIn(x[at], from, blocks); });
    }

    /*
     * Brings a tile's lines into L2. A strip's pieces of lines start anywhere, so that up to twice their bytes would be fetched; neighbouring cores, whose
     * strips lie side by side, each fetch some of the lines for all of them, from a multiple of 128 bytes on. Nothing depends on who comes first. `scratch`
     * has as many bytes as PrepareAhead says, and what it holds is of no use.
     */
    template <typename T>
    __aicore__ inline void LoadAhead(const AscendC::LocalTensor<T> &scratch, const AscendC::GlobalTensor<T> &from, int64_t unit, uint32_t chunk) const {
        constexpr uint32_t kGranule = 128 / sizeof(T);
        if (!isAhead_ || chunk >= Chunks()) {
            return;
        }
        const uint32_t strip = unit % tiling_.perOuter, own = strip % kTogether;
        const int64_t line = unit / tiling_.perOuter * tiling_.length + StartOf(chunk), column = (strip - own) * static_cast<int64_t>(tiling_.width);
        const int64_t left = tiling_.inner - column, lanes = left < kTogether * tiling_.width ? left : kTogether * tiling_.width;
        for (uint32_t i = own; i < LengthAt(chunk); i += kTogether) {
            const int64_t start = (line + i) * tiling_.inner + column, aligned = start / kGranule * kGranule;
            const uint32_t bytes = (start + lanes - aligned) * sizeof(T);
            AscendC::DataCopyPad(scratch, from[aligned], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        }
    }

    /* What LoadAhead needs for elements of this size; 0 where it does nothing. */
    __aicore__ inline uint32_t PrepareAhead(uint32_t elementBytes) {
        const bool isSideBySide = isLines_ && tiling_.units == tiling_.blocks && tiling_.perOuter >= kTogether;
        isAhead_ = isSideBySide && tiling_.inner * elementBytes % 128 != 0 && tiling_.width * elementBytes <= kWideEnough;
        return isAhead_ ? kTogether * tiling_.width * elementBytes + 128 : 0;
    }

    template <typename T>
    __aicore__ inline void Store(const AscendC::GlobalTensor<T> &to, const AscendC::LocalTensor<T> &y, int64_t unit, uint32_t chunk) const {
        ForBlocks(unit, chunk, [&](uint32_t at, const Blocks &blocks) { CopyOut(to, y[at], blocks); });
    }

    /* One element for each lane, or row: `to` has the tensor's shape without the axis. */
    template <typename T>
    __aicore__ inline void StoreReduced(const AscendC::GlobalTensor<T> &to, const AscendC::LocalTensor<T> &y, int64_t unit) const {
        const uint32_t count = CountOf(unit);
        const int64_t first = unit / tiling_.perOuter * tiling_.outers * tiling_.inner + unit % tiling_.perOuter * tiling_.width;
        if (isLines_) {
            CopyOut(to, y, {first, count, LanesOf(unit), tiling_.inner, tiling_.width});
        } else {
            CopyOut(to, y, {first, 1, count, count, count});
        }
    }

    /* Rows, or outer indices, of a unit. */
    __aicore__ inline uint32_t CountOf(int64_t unit) const {
        const int64_t left = tiling_.outer - unit / tiling_.perOuter * tiling_.outers;
        return tiling_.mode == AxisMode::kParts || left > tiling_.outers ? tiling_.outers : left;
    }

    /* First element of a part in its row. */
    __aicore__ inline int64_t PartStart(int64_t unit) const {
        const int64_t part = (tiling_.outers - 1) * tiling_.pitch + tiling_.span, start = unit % tiling_.perOuter * part, last = tiling_.length - part;
        return isExact || start < last ? start : last;
    }

private:
    /* `count` blocks of `elements`, `pitch` elements apart in device memory and `room` in the unified buffer. */
    struct Blocks {
        int64_t first;
        uint32_t count;
        uint32_t elements;
        int64_t pitch;
        uint32_t room;
    };

    /* Lanes of one outer index. */
    __aicore__ inline uint32_t LanesOf(int64_t unit) const {
        const int64_t left = tiling_.inner - unit % tiling_.perOuter * tiling_.width;
        return left < tiling_.width ? left : tiling_.width;
    }

    template <typename Visit>
    __aicore__ inline void ForBlocks(int64_t unit, uint32_t chunk, const Visit &visit) const {
        const int64_t start = StartOf(chunk);
        if (isLines_) {
            const int64_t perOuter = tiling_.length * tiling_.inner, first = unit / tiling_.perOuter * tiling_.outers * perOuter;
            const int64_t column = unit % tiling_.perOuter * tiling_.width;
            for (uint32_t outer = 0; outer < CountOf(unit); ++outer) {
                const int64_t at = first + outer * perOuter + start * tiling_.inner + column;
                visit(outer * tiling_.width, Blocks{at, LengthAt(chunk), LanesOf(unit), tiling_.inner, tiling_.lanes});
            }
        } else if (tiling_.mode == AxisMode::kParts) {
            ForPart(unit, chunk, visit);
        } else {
            visit(0u, Blocks{unit * tiling_.outers * tiling_.length + start, CountOf(unit), LengthAt(chunk), tiling_.pitch, tiling_.perTile});
        }
    }

    /* The rows of a part one by one where they are not alike. */
    template <typename Visit>
    __aicore__ inline void ForPart(int64_t unit, uint32_t chunk, const Visit &visit) const {
        const int64_t start = PartStart(unit), first = unit / tiling_.perOuter * tiling_.length + start + StartOf(chunk);
        const int64_t end = tiling_.length - start - StartOf(chunk);  // of the row, seen from there
        const uint32_t length = LengthAt(chunk);
        if (tiling_.pitch >= length && (tiling_.outers - 1) * tiling_.pitch + length <= end) {
            return visit(0u, Blocks{first, tiling_.outers, length, tiling_.pitch, tiling_.perTile});
        }
        for (uint32_t row = 0; row < tiling_.outers && row * tiling_.pitch < end; ++row) {
            const int64_t left = end - row * tiling_.pitch;
            visit(row * tiling_.perTile, Blocks{first + row * tiling_.pitch, 1, left < length ? static_cast<uint32_t>(left) : length, length, length});
        }
    }

    /* One by one where a copy can't have the distance. */
    static constexpr int64_t kFarthest = 0xffffffffLL;

    template <typename T>
    static __aicore__ inline void CopyIn(const AscendC::LocalTensor<T> &x, const AscendC::GlobalTensor<T> &from, const Blocks &blocks) {
        const uint32_t bytes = blocks.elements * sizeof(T), rounded = (bytes + 31) / 32 * 32;
        const uint32_t gap = blocks.count > 1 ? (blocks.room * sizeof(T) - rounded) / 32 : 0;
        const int64_t apart = blocks.count > 1 ? (blocks.pitch - blocks.elements) * static_cast<int64_t>(sizeof(T)) : 0;
        const uint32_t atOnce = apart <= kFarthest ? blocks.count : 1;
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(atOnce), bytes, atOnce > 1 ? static_cast<uint32_t>(apart) : 0, gap, 0};
        for (uint32_t block = 0; block < blocks.count; block += atOnce) {
            AscendC::DataCopyPad(x[block * blocks.room], from[blocks.first + block * blocks.pitch], copied, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        }
    }

    template <typename T>
    static __aicore__ inline void CopyOut(const AscendC::GlobalTensor<T> &to, const AscendC::LocalTensor<T> &y, const Blocks &blocks) {
        const uint32_t bytes = blocks.elements * sizeof(T), rounded = (bytes + 31) / 32 * 32;
        const uint32_t gap = blocks.count > 1 ? (blocks.room * sizeof(T) - rounded) / 32 : 0;
        const int64_t apart = blocks.count > 1 ? (blocks.pitch - blocks.elements) * static_cast<int64_t>(sizeof(T)) : 0;
        const uint32_t atOnce = apart <= kFarthest ? blocks.count : 1;
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(atOnce), bytes, gap, atOnce > 1 ? static_cast<uint32_t>(apart) : 0, 0};
        for (uint32_t block = 0; block < blocks.count; block += atOnce) {
            AscendC::DataCopyPad(to[blocks.first + block * blocks.pitch], y[block * blocks.room], copied);
        }
    }

    static constexpr uint32_t kTogether = 4;       // strips that are loaded ahead together
    static constexpr uint32_t kWideEnough = 1024;  // bytes of a piece of a line; of longer ones little is fetched in vain

    AxisTiling tiling_;
    int64_t along_;
    bool isLines_;
    bool isAhead_ = false;
};

}  // namespace common

#endif  // REFERENCE_AXIS_TILES_H
