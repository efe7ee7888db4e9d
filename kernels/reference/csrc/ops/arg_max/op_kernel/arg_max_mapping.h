/* From a tile as it was loaded to lines of keys, and from places to indices. */
#ifndef REFERENCE_ARG_MAX_MAPPING_H
#define REFERENCE_ARG_MAX_MAPPING_H

#include "../../../common/axis_tiles.h"
#include "../../../common/row_vector.h"
#include "arg_max_duel.h"

template <typename T>
class ArgMaxMapping {
public:
    using Keys = ArgMaxKeys<T>;
    using Words = common::Words;

    /* `missing`: elements that a row lacks to fill its tile. */
    __aicore__ inline void Init(AscendC::TPipe &pipe, const common::AxisTiling &tiling, uint32_t missing) {
        tiling_ = tiling;
        missing_ = missing;
        isLines_ = tiling.mode == common::AxisMode::kLines;
        pipe.InitBuffer(sign_, common::kWordLanes * sizeof(int32_t));
        AscendC::Duplicate(sign_.template Get<int32_t>(), kLowestInt, static_cast<int32_t>(common::kWordLanes));
    }

    /* Are the keys of a tile other than the elements as they lie? */
    __aicore__ inline bool IsNeeded() const { return !isLines_ || Keys::kIsNarrow || Keys::kIsWide; }

    /* Keys of a tile, line by line; those of int64 in two parts, upper halves first. Of the scratch memory a tile's 32-bit words are used. */
    __aicore__ inline void Map(const Words &keys, const AscendC::LocalTensor<T> &x, uint32_t lines, const Words &scratch) {
        if constexpr (Keys::kIsNarrow) {
            const auto wide = isLines_ ? keys : scratch;
            AscendC::Cast(Floats(wide), x, AscendC::RoundMode::CAST_NONE, static_cast<int32_t>(lines * tiling_.lanes));
            AscendC::PipeBarrier<PIPE_V>();
            if (!isLines_) {
                MapRows(keys, wide);
            }
        } else {
            const auto words = x.template ReinterpretCast<int32_t>();
            if (isLines_) {
                MapWideLines(keys, words, lines);
            } else {
                MapRows(keys, words);
            }
        }
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (Keys::kIsWide) {
            OrderLow(keys[tiling_.lines * tiling_.lanes], lines * tiling_.lanes, scratch);
        }
    }

    /* Places as they are stored; those of lines of int64 lie in the order of their keys. */
    __aicore__ inline void ToIndices(const AscendC::LocalTensor<int64_t> &indices, const Words &places, uint32_t count, const Words &zeros) const {
        if (!Keys::kIsWide || !isLines_) {
            AscendC::Cast(indices, places, AscendC::RoundMode::CAST_NONE, count);
            return;
        }
        AscendC::Duplicate(zeros, 0, static_cast<int32_t>(count));
        AscendC::PipeBarrier<PIPE_V>();
        common::LanesToRows(indices.template ReinterpretCast<int32_t>(), WideLines(zeros, places, count / 4), WideShape());
    }

private:
    static __aicore__ inline auto Floats(const Words &words) { return words.ReinterpretCast<float>(); }

    __aicore__ inline void MapRows(const Words &keys, const Words &rows) {
        const uint32_t pitch = tiling_.perTile * Keys::kWords, missing = missing_ * Keys::kWords;
        if (missing > 0) {
            FillGaps(rows, pitch, missing);
            AscendC::PipeBarrier<PIPE_V>();
        }
        common::RowsToLanes(LinesOf(keys), rows, {tiling_.outers, pitch / common::kLines, pitch});
    }

    /* What a row lacks is the lowest key. */
    __aicore__ inline void FillGaps(const Words &rows, uint32_t pitch, uint32_t missing) {
        constexpr uint64_t kUpper = 0xaaaaaaaaaaaaaaaaULL;
        common::FillRowEnds(rows, tiling_.outers, pitch, missing, Keys::kLowest, Keys::kIsWide ? kUpper : ~0ULL);
        if constexpr (Keys::kIsWide) {
            common::FillRowEnds(rows, tiling_.outers, pitch, missing, 0, ~kUpper);
        }
    }

    /* Of int64 every other line holds upper halves; these come first. */
    __aicore__ inline common::LaneLines LinesOf(const Words &keys) const {
        if constexpr (!Keys::kIsWide) {
            return common::DenseLines(keys, tiling_.lanes);
        } else {
            return WideLines(keys, keys[tiling_.lines * tiling_.lanes], tiling_.lanes);
        }
    }

    static __aicore__ inline common::LaneLines WideLines(const Words &upper, const Words &lower, uint32_t lanes) {
        common::LaneLines lines;
        for (uint32_t element = 0; element < common::kLines / 2; ++element) {
            lines.line[2 * element] = lower[element * lanes];
            lines.line[2 * element + 1] = upper[element * lanes];
        }
        return lines;
    }

    /* How int64 of one line lie as eight rows: lane (element of its block) * lanes / 4 + (block) afterwards. */
    __aicore__ inline common::LaneShape WideShape() const {
        const uint32_t segments = tiling_.lanes / (4 * common::kLines);
        return {common::kLines, segments, segments * common::kLines};
    }

    __aicore__ inline void MapWideLines(const Words &keys, const Words &words, uint32_t lines) {
        const auto lower = keys[tiling_.lines * tiling_.lanes];
        for (uint32_t line = 0; line < lines; ++line) {
            const uint32_t first = line * tiling_.lanes;
            common::RowsToLanes(WideLines(keys[first], lower[first], tiling_.lanes / 4), words[2 * first], WideShape());
        }
    }

    /* Lower halves are unsigned: with the highest bit the other way round, which is x | sign - x & sign, they compare as int32 does. */
    __aicore__ inline void OrderLow(const Words &low, uint32_t count, const Words &with) {
        const auto halves = low.template ReinterpretCast<uint16_t>(), withHalves = with.template ReinterpretCast<uint16_t>();
        const auto sign = sign_.template Get<uint16_t>();
        const AscendC::BinaryRepeatParams oneSign(1, 1, 1, 8, 8, 0);
        for (uint32_t done = 0; done < count; done += common::kMostRepeats * common::kWordLanes) {
            const uint32_t left = (count - done) / common::kWordLanes, repeats = left < common::kMostRepeats ? left : common::kMostRepeats;
            AscendC::Or(withHalves[2 * done], halves[2 * done], sign, 2 * common::kWordLanes, repeats, oneSign);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::And(halves[2 * done], halves[2 * done], sign, 2 * common::kWordLanes, repeats, oneSign);
        }
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sub(low, with, low, static_cast<int32_t>(count));
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> sign_;
    common::AxisTiling tiling_;
    uint32_t missing_;
    bool isLines_;
};

#endif  // REFERENCE_ARG_MAX_MAPPING_H
