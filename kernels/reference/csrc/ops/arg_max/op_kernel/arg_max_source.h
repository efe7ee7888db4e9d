/* Which elements make up the tiles of arg_max, and where the results go. */
#ifndef REFERENCE_ARG_MAX_SOURCE_H
#define REFERENCE_ARG_MAX_SOURCE_H

#include "kernel_operator.h"

#include "arg_max_tiling.h"

template <typename T>
class ArgMaxSource {
public:
    __aicore__ inline void Init(GM_ADDR input, const ArgMaxTiling &tiling) {
        tiling_ = tiling;
        isLines_ = tiling.mode == ArgMaxMode::kLines;
        along_ = isLines_ ? tiling.length : tiling.span;
        input_.SetGlobalBuffer((__gm__ T *)input);
    }

    /* Tiles of a unit, one after the other along the axis. */
    __aicore__ inline uint32_t Chunks() const { return (along_ + tiling_.perTile - 1) / tiling_.perTile; }

    /* Where a tile starts along the axis. The last one of rows is full, and starts earlier for it. */
    __aicore__ inline int64_t StartOf(uint32_t chunk) const {
        const int64_t start = static_cast<int64_t>(chunk) * tiling_.perTile, last = along_ - tiling_.perTile;
        return isLines_ || chunk == 0 || start < last ? start : last;
    }

    __aicore__ inline uint32_t LinesAt(uint32_t chunk) const {
        const int64_t left = along_ - StartOf(chunk);
        return isLines_ && left < tiling_.lines ? left : tiling_.lines;
    }

    /* Elements that a row lacks to fill its tile. */
    __aicore__ inline uint32_t Missing() const { return along_ < tiling_.perTile ? tiling_.perTile - along_ : 0; }

    /* Is there a tile of which some lanes are not loaded? */
    __aicore__ inline bool LeavesGaps() const {
        const bool hasPartialUnit = tiling_.mode != ArgMaxMode::kParts && tiling_.outer % tiling_.outers != 0;
        const bool hasGaps = tiling_.perOuter * tiling_.width != tiling_.inner || tiling_.outers * tiling_.width != tiling_.lanes;
        return hasPartialUnit || (isLines_ && hasGaps);
    }

    __aicore__ inline void Load(const AscendC::LocalTensor<T> &x, int64_t unit, uint32_t chunk) {
        if (!isLines_) {
            const uint32_t count = along_ < tiling_.perTile ? along_ : tiling_.perTile;
            return Copy(x, FirstOf(unit) + StartOf(chunk), CountOf(unit), count, tiling_.pitch, tiling_.perTile);
        }
        const uint32_t outers = CountOf(unit), lanes = LanesOf(unit), lines = LinesAt(chunk);
        for (uint32_t outer = 0; outer < outers; ++outer) {
            const int64_t first = FirstOf(unit) + (outer * tiling_.length + StartOf(chunk)) * tiling_.inner;
            Copy(x[outer * tiling_.width], first, lines, lanes, tiling_.inner, tiling_.lanes);
        }
    }

    /* Rows, or outer indices, of a unit. */
    __aicore__ inline uint32_t CountOf(int64_t unit) const {
        const int64_t left = tiling_.outer - unit / tiling_.perOuter * tiling_.outers;
        return tiling_.mode == ArgMaxMode::kParts || left > tiling_.outers ? tiling_.outers : left;
    }

    /* Lanes of one outer index. */
    __aicore__ inline uint32_t LanesOf(int64_t unit) const {
        const int64_t left = tiling_.inner - unit % tiling_.perOuter * tiling_.width;
        return left < tiling_.width ? left : tiling_.width;
    }

    /* First element of a part in its row. */
    __aicore__ inline int64_t PartStart(int64_t unit) const {
        const int64_t part = 7 * tiling_.pitch + tiling_.span, start = unit % tiling_.perOuter * part, last = tiling_.length - part;
        return start < last ? start : last;
    }

    /* Results of a unit that is no part of a row. */
    __aicore__ inline void Store(const AscendC::GlobalTensor<int64_t> &indices, const AscendC::LocalTensor<int64_t> &places, int64_t unit) {
        const uint32_t count = CountOf(unit);
        if (!isLines_) {
            AscendC::DataCopyPad(indices[unit * tiling_.outers], places, {1, static_cast<uint32_t>(count * sizeof(int64_t)), 0, 0, 0});
            return;
        }
        const uint32_t bytes = LanesOf(unit) * sizeof(int64_t), gap = (tiling_.width * sizeof(int64_t) - bytes) / 32;
        const int64_t first = unit / tiling_.perOuter * tiling_.outers * tiling_.inner + unit % tiling_.perOuter * tiling_.width;
        AscendC::DataCopyPad(indices[first], places, {static_cast<uint16_t>(count), bytes, gap, 0, 0});
    }

private:
    __aicore__ inline int64_t FirstOf(int64_t unit) const {
        if (tiling_.mode == ArgMaxMode::kParts) {
            return unit / tiling_.perOuter * tiling_.length + PartStart(unit);
        }
        return unit / tiling_.perOuter * tiling_.outers * tiling_.length * tiling_.inner + unit % tiling_.perOuter * tiling_.width;
    }

    /* `count` blocks of `elements`, `pitch` elements apart in device memory and `room` in the unified buffer; one by one where a copy can't have the distance. */
    __aicore__ inline void Copy(const AscendC::LocalTensor<T> &x, int64_t first, uint32_t count, uint32_t elements, int64_t pitch, uint32_t room) {
        constexpr int64_t kFarthest = 0xffffffffLL;
        const uint32_t bytes = elements * sizeof(T), rounded = (bytes + 31) / 32 * 32;
        const int64_t apart = (pitch - elements) * static_cast<int64_t>(sizeof(T));
        const AscendC::DataCopyPadExtParams<T> noPadding{false, 0, 0, 0};
        if (apart >= 0 && apart <= kFarthest) {
            const AscendC::DataCopyExtParams blocks{static_cast<uint16_t>(count), bytes, static_cast<uint32_t>(apart),
                                                    static_cast<uint32_t>((room * sizeof(T) - rounded) / 32), 0};
            AscendC::DataCopyPad(x, input_[first], blocks, noPadding);
            return;
        }
        for (uint32_t block = 0; block < count; ++block) {
            AscendC::DataCopyPad(x[block * room], input_[first + block * pitch], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, noPadding);
        }
    }

    AscendC::GlobalTensor<T> input_;
    ArgMaxTiling tiling_;
    int64_t along_;
    bool isLines_;
};

#endif  // REFERENCE_ARG_MAX_SOURCE_H
