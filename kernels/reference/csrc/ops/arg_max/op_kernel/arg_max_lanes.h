/*
 * arg_max over lanes that know nothing of each other.
 *
 * Problem: along a row neighbours would have to be compared, which vector instructions do not do; along another axis lines lie side by side already.
 * Approach: a tile is some lines of lanes. Lines of another axis are loaded as they are; rows are turned so that a segment of eight elements becomes a column
 * (lanes.h), and a lane stands for a segment of each tile. The lines of a tile meet in duels, half of them against the other half until one is left, which
 * meets the best so far. At the end of a row the lanes of its segments do the same. A part of a row is handled as eight rows; the scalar unit compares these.
 * Limits: places are 32-bit while they are looked for. Where a NaN was met, the unit is read again and the place of a NaN looked for.
 */
#ifndef REFERENCE_ARG_MAX_LANES_H
#define REFERENCE_ARG_MAX_LANES_H

#include <limits>

#include "../../../common/axis_tiles.h"
#include "../../../common/row_vector.h"
#include "arg_max_duel.h"
#include "arg_max_mapping.h"
#include "arg_max_parts.h"

template <typename T>
class ArgMaxLanes {
public:
    using Keys = ArgMaxKeys<T>;
    using Words = common::Words;

    /* Per element of a tile: two buffers, keys where they are not the elements as they lie, the lines' places twice. Per lane: the best so far, places,
     * results. */
    static constexpr int64_t kMapped = (Keys::kWords + 2) * sizeof(int32_t) + (Keys::kIsWide ? 3 : 1);
    static constexpr int64_t kBytesOfRows = 2 * sizeof(T) + kMapped;
    static constexpr int64_t kBytesOfLines = 2 * sizeof(T) + (Keys::kWords == 1 && !Keys::kIsNarrow ? kMapped - 4 : kMapped);
    static constexpr int64_t kBytesPerLane = (Keys::kWords + 2) * sizeof(int32_t) + 2 * sizeof(int64_t) + sizeof(int32_t) + 1;
    static constexpr int64_t kFixedBytes = 6144;  // lanes' rounding, records of parts

    __aicore__ inline void Init(GM_ADDR input, GM_ADDR indices, GM_ADDR workspace, const common::AxisTiling &tiling) {
        tiling_ = tiling;
        tiles_.Init(tiling);
        input_.SetGlobalBuffer((__gm__ T *)input);
        indices_.SetGlobalBuffer((__gm__ int64_t *)indices);
        isLines_ = tiling.mode == common::AxisMode::kLines;
        mapping_.Init(pipe_, tiling, tiling.perTile - tiles_.LengthAt(0));
        isSingle_ = mapping_.IsNeeded() && tiles_.Chunks() == 1 && tiling.lines > 1;
        if (tiling.mode == common::AxisMode::kParts) {
            parts_.Init(pipe_, indices, workspace, tiling);
        }
        InitBuffers();
        MakeRamp();
        if (tiles_.LeavesGaps()) {
            common::ClearBuffers<T>(in_, tiling_.lines * tiling_.lanes);
        }
    }

    /* A step handles one tile; its data was asked for one step earlier. */
    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tiling_.units);
        CopyIn(share.first, 0);
        for (int64_t unit = share.first; unit < share.first + share.count; ++unit) {
            const int64_t next = unit + 1 < share.first + share.count ? unit + 1 : -1;
            Search(unit, next, false);
            if (HasNan()) {
                FindNan(unit, next);
            }
            Finish(unit);
        }
        if (tiling_.mode == common::AxisMode::kParts && tiling_.perOuter > 1) {
            parts_.Join();
        }
    }

private:
    static __aicore__ inline auto Floats(const Words &words) { return words.ReinterpretCast<float>(); }

    __aicore__ inline void InitBuffers() {
        const uint32_t perLine = tiling_.lanes, all = tiling_.lines * perLine, slack = common::kWordLanes;
        pipe_.InitBuffer(in_, 2, all * sizeof(T));
        if (mapping_.IsNeeded()) {
            pipe_.InitBuffer(keys_, (all * Keys::kWords + slack) * sizeof(int32_t));
            AscendC::Duplicate(keys_.template Get<int32_t>()[all * Keys::kWords], 0, static_cast<int32_t>(slack));
        }
        pipe_.InitBuffer(ramp_, all * sizeof(int32_t));
        pipe_.InitBuffer(places_, (all + slack) * sizeof(int32_t));
        pipe_.InitBuffer(bestKey_, (perLine + slack) * sizeof(int32_t));
        if constexpr (Keys::kIsWide) {
            pipe_.InitBuffer(bestLow_, (perLine + slack) * sizeof(int32_t));
        }
        pipe_.InitBuffer(bestPlace_, (perLine + slack) * sizeof(int32_t));
        pipe_.InitBuffer(kept_, perLine * sizeof(int32_t));
        pipe_.InitBuffer(numbers_, perLine / 8 < 32 ? 32 : perLine / 8);
        pipe_.InitBuffer(out_, 2, perLine * sizeof(int64_t));
        const uint32_t met = Keys::kIsFloat ? all : all / 2;
        duel_.Init(pipe_, met > perLine ? met : perLine);
    }

    /* The place of each lane of each line: its line, or in a row the element of its segment. */
    __aicore__ inline void MakeRamp() {
        const auto ramp = ramp_.template Get<int32_t>();
        const uint32_t group = isLines_ ? tiling_.lanes : tiling_.outers;
        AscendC::Duplicate(ramp, 0, group);
        AscendC::PipeBarrier<PIPE_V>();
        common::ContinueRamp(ramp, group, tiling_.lanes / group, Keys::kPerSegment);
        common::ContinueRamp(ramp, tiling_.lanes, tiling_.lines, 1);
    }

    __aicore__ inline void CopyIn(int64_t unit, uint32_t chunk) {
        if (unit < 0) {
            return;
        }
        auto x = in_.template AllocTensor<T>();
        tiles_.Load(x, input_, unit, chunk);
        in_.EnQue(x);
    }

    /* The best so far; where a unit has but one tile, what is left of that, unless its keys are the elements that the next load overwrites. */
    __aicore__ inline Contestants Best() {
        if (!isSingle_) {
            return {bestKey_.template Get<int32_t>(), BestLow(), bestPlace_.template Get<int32_t>()};
        }
        const auto keys = keys_.template Get<int32_t>();
        const Words low = Keys::kIsWide ? keys[tiling_.lines * tiling_.lanes] : keys;
        return Contestants{keys, low, places_.template Get<int32_t>()}[(tiling_.lines - 1) * tiling_.lanes];
    }

    __aicore__ inline Words BestLow() {
        if constexpr (Keys::kIsWide) {
            return bestLow_.template Get<int32_t>();
        } else {
            return bestKey_.template Get<int32_t>();
        }
    }

    __aicore__ inline void Begin() {
        if (isSingle_) {
            return AscendC::PipeBarrier<PIPE_V>();
        }
        const auto best = Best();
        const int32_t lanes = tiling_.lanes + common::kWordLanes;  // keys are read in whole repeats
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Duplicate(best.key, Keys::kLowest, lanes);
        if constexpr (Keys::kIsWide) {
            AscendC::Duplicate(best.low, kLowestInt, lanes);
        }
        AscendC::Duplicate(best.place, 0, lanes);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* The tile that is next in the queue. */
    __aicore__ inline void Take(uint32_t chunk, bool isForNan) {
        auto x = in_.template DeQue<T>();
        auto keys = x.template ReinterpretCast<int32_t>();
        const uint32_t lines = tiles_.LinesAt(chunk);
        if (mapping_.IsNeeded()) {
            keys = keys_.template Get<int32_t>();
            mapping_.Map(keys, x, lines, places_.template Get<int32_t>());
        }
        if (isForNan) {
            MarkNan(keys, lines * tiling_.lanes);
        }
        Reduce(keys, lines, tiles_.StartOf(chunk));
        in_.FreeTensor(x);
    }

    /* The lines of a tile against each other, the last one against the best so far. */
    __aicore__ inline void Reduce(const Words &keys, uint32_t lines, int64_t start) {
        const auto places = places_.template Get<int32_t>();
        const Words low = Keys::kIsWide ? keys[tiling_.lines * tiling_.lanes] : keys;
        Contestants all{keys, low, ramp_.template Get<int32_t>()};
        const uint32_t lanes = tiling_.lanes, last = (lines - 1) * lanes;
        for (uint32_t first = 0; lines - first > 1;) {
            const uint32_t half = (lines - first) / 2, late = (lines - half) * lanes;
            if (first == 0 && lines % 2 != 0) {
                AscendC::Adds(places[half * lanes], all.place[half * lanes], 0, static_cast<int32_t>(lanes));
            }
            duel_.Run(all[late], all[first * lanes], places[late], half * lanes);
            all.place = places;
            first += half;
        }
        if (isSingle_) {
            return;
        }
        AscendC::Adds(places[last], all.place[last], static_cast<int32_t>(start), static_cast<int32_t>(lanes));
        AscendC::PipeBarrier<PIPE_V>();
        all.place = places;
        duel_.Run(Best(), all[last], Best().place, lanes);
    }

    /* All tiles of a unit. What it finds stands in the last lanes of Best: of rows a lane each, else all of them. */
    __aicore__ inline void Search(int64_t unit, int64_t next, bool isForNan) {
        const uint32_t chunks = tiles_.Chunks();
        Begin();
        for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
            const bool isLast = chunk + 1 == chunks;
            CopyIn(isLast ? next : unit, isLast ? 0 : chunk + 1);
            Take(chunk, isForNan);
        }
        if (isLines_) {
            return;
        }
        const uint32_t rows = tiling_.outers, segments = tiling_.lanes / rows;
        for (uint32_t first = 0; segments - first > 1;) {
            const uint32_t half = (segments - first) / 2, late = (segments - half) * rows;
            duel_.Run(Best()[late], Best()[first * rows], Best().place[late], half * rows);
            first += half;
        }
    }

    /* The lanes of Best that hold results, in whole vector instructions. */
    __aicore__ inline uint32_t ResultLanes() const {
        return isLines_ ? tiling_.lanes : (tiling_.outers + common::kWordLanes - 1) / common::kWordLanes * common::kWordLanes;
    }

    __aicore__ inline Contestants Results() { return Best()[tiling_.lanes - ResultLanes()]; }

    /* Also says of each lane whether it holds a number. */
    __aicore__ inline bool HasNan() {
        if constexpr (Keys::kIsFloat) {
            const uint32_t lanes = ResultLanes();
            AscendC::Compare(numbers_.template Get<uint8_t>(), Floats(Results().key), Floats(Results().key), AscendC::CMPMODE::EQ, lanes);
            common::Await<AscendC::HardEvent::V_S>();
            const auto words = numbers_.template Get<uint64_t>();
            bool isNumber = true;
            for (uint32_t word = 0; word < lanes / common::kWordLanes; ++word) {
                isNumber = isNumber && words.GetValue(word) == ~0ULL;
            }
            common::Await<AscendC::HardEvent::S_V>();
            return !isNumber;
        } else {
            return false;
        }
    }

    /* Reads the unit once more; the tile that was asked for meanwhile is asked for again. */
    __aicore__ inline void FindNan(int64_t unit, int64_t next) {
        const int32_t lanes = ResultLanes();
        const auto kept = kept_.template Get<int32_t>();
        if (next >= 0) {
            auto dropped = in_.template DeQue<T>();
            in_.FreeTensor(dropped);
        }
        AscendC::Adds(kept, Results().place, 0, lanes);
        AscendC::PipeBarrier<PIPE_V>();
        CopyIn(unit, 0);
        Search(unit, next, true);
        const auto found = Results();
        const auto numbers = numbers_.template Get<uint8_t>();
        AscendC::Select(Floats(found.place), numbers, Floats(kept), Floats(found.place), AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, lanes);
        AscendC::Select(Floats(found.key), numbers, Floats(found.key), std::numeric_limits<float>::quiet_NaN(), AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE,
                        lanes);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* 1 for a NaN, less for a number: the places as floats are tiny. */
    __aicore__ inline void MarkNan(const Words &keys, uint32_t count) {
        const auto bits = duel_.Scratch();
        AscendC::Compare(bits, Floats(keys), Floats(keys), AscendC::CMPMODE::EQ, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Select(Floats(keys), bits, Floats(ramp_.template Get<int32_t>()), 1.0f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Finish(int64_t unit) {
        if (tiling_.mode == common::AxisMode::kParts) {
            return parts_.Finish(unit, Best()[tiling_.lanes - tiling_.outers], tiles_.PartStart(unit));
        }
        auto indices = out_.template AllocTensor<int64_t>();
        const uint32_t count = isLines_ ? tiling_.lanes : tiling_.outers;
        mapping_.ToIndices(indices, Best().place[tiling_.lanes - count], count, kept_.template Get<int32_t>());
        out_.EnQue(indices);
        auto stored = out_.template DeQue<int64_t>();
        tiles_.StoreReduced(indices_, stored, unit);
        out_.FreeTensor(stored);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> keys_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> ramp_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> places_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bestKey_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bestLow_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bestPlace_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> kept_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> numbers_;
    AscendC::GlobalTensor<T> input_;
    AscendC::GlobalTensor<int64_t> indices_;
    common::AxisTiles<false> tiles_;
    ArgMaxMapping<T> mapping_;
    ArgMaxDuel<T> duel_;
    ArgMaxParts<T> parts_;
    common::AxisTiling tiling_;
    bool isLines_;
    bool isSingle_;
};

#endif  // REFERENCE_ARG_MAX_LANES_H
