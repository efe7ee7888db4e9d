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

#include "../../../common/axis_tiles.h"
#include "../../../common/row_vector.h"
#include "arg_max_duel.h"

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
    static constexpr int64_t kFixedBytes = 4096;
    static constexpr int64_t kPartBytes = 32;  // in device memory: key and place of a part of a row

    __aicore__ inline void Init(GM_ADDR input, GM_ADDR indices, GM_ADDR workspace, const common::AxisTiling &tiling) {
        tiling_ = tiling;
        tiles_.Init(tiling);
        input_.SetGlobalBuffer((__gm__ T *)input);
        indices_.SetGlobalBuffer((__gm__ int64_t *)indices);
        parts_.SetGlobalBuffer((__gm__ int32_t *)workspace);
        isLines_ = tiling.mode == common::AxisMode::kLines;
        hasKeys_ = !isLines_ || Keys::kIsNarrow || Keys::kIsWide;
        InitBuffers();
        MakeRamp();
        if (tiles_.LeavesGaps()) {
            ClearInput();
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
            JoinParts();
        }
    }

private:
    static __aicore__ inline auto Floats(const Words &words) { return words.ReinterpretCast<float>(); }

    __aicore__ inline void InitBuffers() {
        const uint32_t perLine = tiling_.lanes, all = tiling_.lines * perLine, slack = common::kWordLanes;
        pipe_.InitBuffer(in_, 2, all * sizeof(T));
        if (hasKeys_) {
            pipe_.InitBuffer(keys_, (all * Keys::kWords + slack) * sizeof(int32_t));
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
        pipe_.InitBuffer(sign_, common::kWordLanes * sizeof(int32_t));
        pipe_.InitBuffer(record_, kPartBytes);
        const uint32_t met = Keys::kIsFloat ? all : all / 2;
        duel_.Init(pipe_, met > perLine ? met : perLine);
        AscendC::Duplicate(sign_.template Get<int32_t>(), kLowestInt, static_cast<int32_t>(common::kWordLanes));
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

    /* What a copy leaves out is computed along; it must be something. */
    __aicore__ inline void ClearInput() {
        for (uint32_t buffer = 0; buffer < 2; ++buffer) {
            auto x = in_.template AllocTensor<T>();
            AscendC::Duplicate(x.template ReinterpretCast<int32_t>(), 0, static_cast<int32_t>(tiling_.lines * tiling_.lanes * sizeof(T) / sizeof(int32_t)));
            in_.FreeTensor(x);
        }
    }

    __aicore__ inline void CopyIn(int64_t unit, uint32_t chunk) {
        if (unit < 0) {
            return;
        }
        auto x = in_.template AllocTensor<T>();
        tiles_.Load(x, input_, unit, chunk);
        in_.EnQue(x);
    }

    __aicore__ inline Contestants Best() { return {bestKey_.template Get<int32_t>(), BestLow(), bestPlace_.template Get<int32_t>()}; }

    __aicore__ inline Words BestLow() {
        if constexpr (Keys::kIsWide) {
            return bestLow_.template Get<int32_t>();
        } else {
            return bestKey_.template Get<int32_t>();
        }
    }

    __aicore__ inline void Begin() {
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
        if (hasKeys_) {
            keys = keys_.template Get<int32_t>();
            Map(keys, x, lines);
        }
        if (isForNan) {
            MarkNan(keys, lines * tiling_.lanes);
        }
        Reduce(keys, lines, tiles_.StartOf(chunk));
        in_.FreeTensor(x);
    }

    /* Keys of a tile, line by line; those of int64 in two parts. */
    __aicore__ inline void Map(const Words &keys, const AscendC::LocalTensor<T> &x, uint32_t lines) {
        if constexpr (Keys::kIsNarrow) {
            const auto wide = isLines_ ? keys : places_.template Get<int32_t>();
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
            OrderLow(keys[tiling_.lines * tiling_.lanes], lines * tiling_.lanes);
        }
    }

    __aicore__ inline void MapRows(const Words &keys, const Words &rows) {
        const uint32_t pitch = tiling_.perTile * Keys::kWords, missing = (tiling_.perTile - tiles_.LengthAt(0)) * Keys::kWords;
        if (missing > 0) {
            FillGaps(rows, pitch, missing);
            AscendC::PipeBarrier<PIPE_V>();
        }
        common::RowsToLanes(LinesOf(keys), rows, {tiling_.outers, pitch / common::kLines, pitch});
    }

    /* What a row lacks is the lowest key. A repeat reaches 64 words: the last ones of each row, or all of a shorter one. */
    __aicore__ inline void FillGaps(const Words &rows, uint32_t pitch, uint32_t missing) {
        const uint32_t first = pitch > common::kWordLanes ? pitch - common::kWordLanes : 0, lanes = pitch - first;
        const uint64_t gap = (lanes == common::kWordLanes ? ~0ULL : (1ULL << lanes) - 1) & ~((1ULL << (lanes - missing)) - 1);
        constexpr uint64_t kUpper = 0xaaaaaaaaaaaaaaaaULL;
        FillLanes(rows[first], Keys::kLowest, Keys::kIsWide ? gap & kUpper : gap, pitch);
        if constexpr (Keys::kIsWide) {
            FillLanes(rows[first], 0, gap & ~kUpper, pitch);
        }
    }

    __aicore__ inline void FillLanes(const Words &words, int32_t value, uint64_t lanes, uint32_t pitch) {
        const uint64_t mask[2] = {lanes, 0};
        const uint32_t blocks = pitch / common::kLines, step = blocks <= common::kMostStride ? tiling_.outers : 1;
        for (uint32_t row = 0; row < tiling_.outers; row += step) {
            AscendC::Duplicate(words[row * pitch], value, mask, step, 1, step > 1 ? blocks : 0);
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
    __aicore__ inline void OrderLow(const Words &low, uint32_t count) {
        const auto with = places_.template Get<int32_t>();
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
        AscendC::Select(Floats(found.key), numbers, Floats(found.key), NotANumber(), AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, lanes);
        AscendC::PipeBarrier<PIPE_V>();
    }

    static __aicore__ inline float NotANumber() {
        const uint32_t bits = 0x7fc00000;
        return *reinterpret_cast<const float *>(&bits);
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
            return FinishPart(unit);
        }
        auto indices = out_.template AllocTensor<int64_t>();
        const auto places = Best().place;
        if (Keys::kIsWide && isLines_) {
            common::LanesToRows(indices.template ReinterpretCast<int32_t>(), WideLines(Zeros(), places, tiling_.lanes / 4), WideShape());
        } else {
            const uint32_t count = isLines_ ? tiling_.lanes : tiling_.outers;
            AscendC::Cast(indices, places[tiling_.lanes - count], AscendC::RoundMode::CAST_NONE, count);
        }
        out_.EnQue(indices);
        auto stored = out_.template DeQue<int64_t>();
        tiles_.StoreReduced(indices_, stored, unit);
        out_.FreeTensor(stored);
    }

    /* Upper halves of places: what is kept for NaN elsewhere. */
    __aicore__ inline Words Zeros() {
        const auto zeros = kept_.template Get<int32_t>();
        AscendC::Duplicate(zeros, 0, static_cast<int32_t>(tiling_.lanes));
        AscendC::PipeBarrier<PIPE_V>();
        return zeros;
    }

    /* A contestant in the scalar unit. */
    struct Single {
        int32_t key;
        int32_t low;
        int32_t place;
    };

    static __aicore__ inline float FloatOf(int32_t bits) { return *reinterpret_cast<const float *>(&bits); }

    static __aicore__ inline bool IsLarger(const Single &a, const Single &b) {
        if constexpr (Keys::kIsFloat) {
            const float x = FloatOf(a.key), y = FloatOf(b.key);
            return x > y || (x != x && y == y);
        } else {
            return a.key > b.key || (a.key == b.key && a.low > b.low);
        }
    }

    __aicore__ inline void FinishPart(int64_t unit) {
        common::Await<AscendC::HardEvent::V_S>();
        const auto best = Best()[tiling_.lanes - tiling_.outers];
        const int32_t start = tiles_.PartStart(unit);
        Single most{};
        for (uint32_t row = 0; row < tiling_.outers; ++row) {
            const int32_t low = Keys::kIsWide ? best.low.GetValue(row) : 0, shift = start + row * tiling_.pitch;
            const Single one{best.key.GetValue(row), low, best.place.GetValue(row) + shift};
            most = row == 0 || IsLarger(one, most) ? one : most;
        }
        common::Await<AscendC::HardEvent::S_V>();
        if (tiling_.perOuter == 1) {
            return StoreIndex(unit, most.place);
        }
        const auto record = record_.template Get<int32_t>();
        record.SetValue(0, most.key);
        record.SetValue(1, most.low);
        record.SetValue(2, most.place);
        common::Await<AscendC::HardEvent::S_MTE3>();
        AscendC::DataCopyPad(parts_[unit * kPartWords], record, {1, 3 * sizeof(int32_t), 0, 0, 0});
        common::Await<AscendC::HardEvent::MTE3_S>();
    }

    __aicore__ inline void StoreIndex(int64_t row, int32_t place) {
        const auto index = record_.template Get<int64_t>();
        index.SetValue(0, place);
        common::Await<AscendC::HardEvent::S_MTE3>();
        AscendC::DataCopyPad(indices_[row], index, {1, sizeof(int64_t), 0, 0, 0});
        common::Await<AscendC::HardEvent::MTE3_S>();
    }

    /* The largest of the parts of a row, by a core per row. */
    __aicore__ inline void JoinParts() {
        AscendC::SyncAll();
        const uint32_t parts = tiling_.perOuter, bytes = 3 * sizeof(int32_t), apart = kPartWords * sizeof(int32_t) - bytes;
        const auto all = places_.template Get<int32_t>();
        for (int64_t row = AscendC::GetBlockIdx(); row < tiling_.outer; row += AscendC::GetBlockNum()) {
            AscendC::DataCopyPad(all, parts_[row * parts * kPartWords], AscendC::DataCopyExtParams{static_cast<uint16_t>(parts), bytes, apart, 0, 0},
                                 AscendC::DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
            common::Await<AscendC::HardEvent::MTE2_S>();
            Single most{};
            for (uint32_t part = 0; part < parts; ++part) {
                const uint32_t at = part * kPartWords;
                const Single one{all.GetValue(at), all.GetValue(at + 1), all.GetValue(at + 2)};
                most = part == 0 || IsLarger(one, most) ? one : most;
            }
            common::Await<AscendC::HardEvent::S_MTE2>();
            StoreIndex(row, most.place);
        }
    }

    static constexpr uint32_t kPartWords = kPartBytes / sizeof(int32_t);

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
    AscendC::TBuf<AscendC::TPosition::VECCALC> sign_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> record_;
    AscendC::GlobalTensor<T> input_;
    AscendC::GlobalTensor<int64_t> indices_;
    AscendC::GlobalTensor<int32_t> parts_;
    common::AxisTiles<false> tiles_;
    ArgMaxDuel<T> duel_;
    common::AxisTiling tiling_;
    bool isLines_;
    bool hasKeys_;
};

#endif  // REFERENCE_ARG_MAX_LANES_H
