/*
 * Running minimum along an axis with its place, over lanes that know nothing of each other.
 *
 * Approach: two scans (cummin_scan.h). The first gives the running minimum v. An element that equals it, or is NaN, is where the minimum was found last, so
 * that the running maximum of the places of such elements, 0 for others, is an index of v. Tiles are lines of lanes; rows are turned into lanes and back
 * (lanes.h), since neighbours along a row can't be compared by vector instructions. Between the tiles of a unit the last line goes on.
 *
 * A row in parts is read twice: first each part's minimum and place are found and written to device memory, for the core itself and all that follow; then, when
 * all cores have done so, a part is scanned starting with the best of those before it.
 * Limits: 16-bit types are compared as float32, which is exact; places are 32-bit until they are stored.
 */
#ifndef REFERENCE_CUMMIN_LANES_H
#define REFERENCE_CUMMIN_LANES_H

#include <type_traits>

#include "../../../common/axis_tiles.h"
#include "../../../common/row_vector.h"
#include "cummin_launch.h"
#include "cummin_parts.h"
#include "cummin_scan.h"

template <typename T>
class CumminLanes {
public:
    using Key = std::conditional_t<std::is_same_v<T, int32_t>, int32_t, float>;
    using Keys = AscendC::LocalTensor<Key>;
    static constexpr bool kIsFloat = std::is_same_v<Key, float>;
    static constexpr bool kIsNarrow = sizeof(T) == 2;

    /* Per element of a tile: two buffers of x, values and indices each; places twice; keys and values where they are not x and the result. */
    static constexpr int64_t kBuffers = 2 * (2 * sizeof(T) + sizeof(int64_t)) + 2 * sizeof(int32_t) + 1;
    static constexpr int64_t kBytesOfRows = kBuffers + 2 * sizeof(Key);
    static constexpr int64_t kBytesOfLines = kBuffers + (kIsNarrow ? 2 * sizeof(Key) : 0);
    static constexpr int64_t kBytesPerLane = CumminScan<Key, true>::kBytesPerLane + CumminScan<int32_t, false>::kBytesPerLane;
    static constexpr int64_t kFixedBytes = 8192;  // lanes' rounding, records of parts, what is loaded ahead

    __aicore__ inline void Init(const CumminTensors &tensors, const common::AxisTiling &tiling) {
        tiling_ = tiling;
        workspace_ = (GM_ADDR)tensors.workspace;
        tiles_.Init(tiling);
        input_.SetGlobalBuffer((__gm__ T *)tensors.input);
        values_.SetGlobalBuffer((__gm__ T *)tensors.values);
        indices_.SetGlobalBuffer((__gm__ int64_t *)tensors.indices);
        isLines_ = tiling.mode == common::AxisMode::kLines;
        InitBuffers();
        MakeRamp();
        if (tiles_.LeavesGaps()) {
            common::ClearBuffers<T>(in_, tiling_.lines * tiling_.lanes);
        }
    }

    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tiling_.units);
        const bool isInParts = tiling_.mode == common::AxisMode::kParts;
        if (isInParts) {
            ScanUnits(share, true);
            AscendC::SyncAll();
        }
        ScanUnits(share, false);
    }

private:
    /* A step handles one tile; its data was asked for one step earlier. `isProbe`: only what a part comes to. */
    __aicore__ inline void ScanUnits(const common::Share &share, bool isProbe) {
        const uint32_t chunks = tiles_.Chunks();
        const int64_t steps = share.count * chunks;
        CopyIn(share.first, 0);
        for (int64_t step = 0; step < steps; ++step) {
            const int64_t unit = share.first + step / chunks, next = step + 1;
            const uint32_t chunk = step % chunks;
            if (next < steps) {
                CopyIn(share.first + next / chunks, next % chunks);
            }
            if (chunk == 0) {
                Begin(unit, isProbe);
            }
            Scan(unit, chunk, isProbe);
            if (isProbe && chunk + 1 == chunks) {
                parts_.Store(unit, minimum_.Before(), place_.Before());
            }
        }
    }

    __aicore__ inline void InitBuffers() {
        const uint32_t lanes = tiling_.lanes, all = tiling_.lines * lanes, group = isLines_ ? lanes : tiling_.outers;
        pipe_.InitBuffer(in_, 2, all * sizeof(T));
        pipe_.InitBuffer(outValues_, 2, all * sizeof(T));
        pipe_.InitBuffer(outIndices_, 2, all * sizeof(int64_t));
        if (!isLines_ || kIsNarrow) {
            pipe_.InitBuffer(keys_, all * sizeof(Key));
            pipe_.InitBuffer(least_, all * sizeof(Key));
        }
        pipe_.InitBuffer(ramp_, all * sizeof(int32_t));
        pipe_.InitBuffer(places_, all * sizeof(int32_t));
        pipe_.InitBuffer(bits_, all / 8);
        pipe_.InitBuffer(nanBits_, all / 8);
        if (tiling_.mode == common::AxisMode::kParts) {
            parts_.Init(pipe_, workspace_, tiling_.perOuter, Highest());
        }
        aheadBytes_ = tiles_.PrepareAhead(sizeof(T));
        if (aheadBytes_ > 0) {
            pipe_.InitBuffer(ahead_, aheadBytes_);
        }
        minimum_.Init(pipe_, lanes, group, Highest());
        place_.Init(pipe_, lanes, group, 0);
    }

    static __aicore__ inline Key Highest() {
        if constexpr (kIsFloat) {
            return FloatOf(0x7f800000);
        } else {
            return 0x7fffffff;
        }
    }

    static __aicore__ inline float FloatOf(int32_t bits) { return *reinterpret_cast<const float *>(&bits); }

    /* The place of each lane of each line in the first tile; in parts rows start `pitch` apart. */
    __aicore__ inline void MakeRamp() {
        const auto ramp = ramp_.template Get<int32_t>();
        const int32_t group = isLines_ ? tiling_.lanes : tiling_.outers;
        if (tiling_.mode == common::AxisMode::kParts) {
            AscendC::CreateVecIndex(ramp, 0, group);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Muls(ramp, ramp, static_cast<int32_t>(tiling_.pitch), group);
        } else {
            AscendC::Duplicate(ramp, 0, group);
        }
        AscendC::PipeBarrier<PIPE_V>();
        common::ContinueRamp(ramp, group, tiling_.lanes / group, common::kLines);
        common::ContinueRamp(ramp, tiling_.lanes, tiling_.lines, 1);
        rampStart_ = 0;
    }

    __aicore__ inline void MoveRamp(int64_t start) {
        if (start != rampStart_) {
            const auto ramp = ramp_.template Get<int32_t>();
            AscendC::Adds(ramp, ramp, static_cast<int32_t>(start - rampStart_), static_cast<int32_t>(tiling_.lines * tiling_.lanes));
            AscendC::PipeBarrier<PIPE_V>();
            rampStart_ = start;
        }
    }

    __aicore__ inline void CopyIn(int64_t unit, uint32_t chunk) {
        auto x = in_.template AllocTensor<T>();
        tiles_.Load(x, input_, unit, chunk);
        in_.EnQue(x);
        if (aheadBytes_ > 0) {
            tiles_.LoadAhead(ahead_.template Get<T>(), input_, unit, chunk + 1);
        }
    }

    __aicore__ inline void Begin(int64_t unit, bool isProbe) {
        if (!isProbe && tiling_.mode == common::AxisMode::kParts) {
            return parts_.Begin(unit, minimum_.Before(), place_.Before());
        }
        minimum_.Begin();
        place_.Begin();
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Scan(int64_t unit, uint32_t chunk, bool isProbe) {
        const uint32_t lines = tiles_.LinesAt(chunk);
        auto x = in_.template DeQue<T>();
        const Keys keys = KeysOf(x, lines * tiling_.lanes);
        auto values = outValues_.template AllocTensor<T>();
        const Keys least = isLines_ && !kIsNarrow ? values.template ReinterpretCast<Key>() : least_.template Get<Key>();
        MoveRamp(tiles_.StartOf(chunk) + (tiling_.mode == common::AxisMode::kParts ? tiles_.PartStart(unit) : 0));
        minimum_.Run(least, keys, lines);
        FindPlaces(keys, least, lines);
        in_.FreeTensor(x);
        if (isProbe) {
            outValues_.FreeTensor(values);
            return;
        }
        MapBack(values, least, lines * tiling_.lanes);
        outValues_.EnQue(values);
        StoreValues(unit, chunk);
        StoreIndices(unit, chunk, lines * tiling_.lanes);
    }

    /* Lines of keys. */
    __aicore__ inline Keys KeysOf(const AscendC::LocalTensor<T> &x, uint32_t count) {
        const auto keys = isLines_ && !kIsNarrow ? x.template ReinterpretCast<Key>() : keys_.template Get<Key>();
        auto rows = isLines_ ? keys : least_.template Get<Key>();
        if constexpr (kIsNarrow) {
            AscendC::Cast(rows, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
        } else {
            rows = x.template ReinterpretCast<Key>();
        }
        if (!isLines_) {
            common::RowsToLanes(Lines(keys), rows.template ReinterpretCast<int32_t>(), Shape());
            AscendC::PipeBarrier<PIPE_V>();
        }
        return keys;
    }

    template <typename Word>
    __aicore__ inline common::LaneLines Lines(const AscendC::LocalTensor<Word> &lines) const {
        return common::DenseLines(lines.template ReinterpretCast<int32_t>(), tiling_.lanes);
    }

    __aicore__ inline common::LaneShape Shape() const { return {tiling_.outers, tiling_.perTile / common::kLines, tiling_.perTile}; }

    /* Places of elements that equal the minimum, or are NaN; the last one so far. */
    __aicore__ inline void FindPlaces(const Keys &keys, const Keys &least, uint32_t lines) {
        const uint32_t count = lines * tiling_.lanes;
        const auto bits = bits_.template Get<uint8_t>();
        const auto places = places_.template Get<int32_t>();
        AscendC::Compare(bits, keys, least, AscendC::CMPMODE::EQ, count);
        if constexpr (kIsFloat) {
            const auto nanBits = nanBits_.template Get<uint8_t>();
            AscendC::Compare(nanBits, keys, keys, AscendC::CMPMODE::NE, count);
            AscendC::PipeBarrier<PIPE_V>();
            const auto halves = bits.template ReinterpretCast<uint16_t>();
            AscendC::Or(halves, halves, nanBits.template ReinterpretCast<uint16_t>(), static_cast<int32_t>(count / 16));
        }
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Select(places.template ReinterpretCast<float>(), bits, ramp_.template Get<float>(), 0.0f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
        AscendC::PipeBarrier<PIPE_V>();
        place_.Run(places, places, lines);
    }

    /* The minima as they are stored. The keys are of no more use. */
    __aicore__ inline void MapBack(const AscendC::LocalTensor<T> &values, const Keys &least, uint32_t count) {
        if (isLines_) {
            if constexpr (kIsNarrow) {
                AscendC::Cast(values, least, AscendC::RoundMode::CAST_RINT, count);
            }
            return;
        }
        const auto rows = kIsNarrow ? keys_.template Get<Key>() : values.template ReinterpretCast<Key>();
        common::LanesToRows(rows.template ReinterpretCast<int32_t>(), Lines(least), Shape());
        if constexpr (kIsNarrow) {
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(values, rows, AscendC::RoundMode::CAST_RINT, count);
        }
    }

    __aicore__ inline void StoreValues(int64_t unit, uint32_t chunk) {
        auto stored = outValues_.template DeQue<T>();
        tiles_.Store(values_, stored, unit, chunk);
        outValues_.FreeTensor(stored);
    }

    __aicore__ inline void StoreIndices(int64_t unit, uint32_t chunk, uint32_t count) {
        auto places = places_.template Get<int32_t>();
        auto indices = outIndices_.template AllocTensor<int64_t>();
        AscendC::PipeBarrier<PIPE_V>();
        if (!isLines_) {
            const auto rows = least_.template Get<int32_t>();
            common::LanesToRows(rows, Lines(places), Shape());
            AscendC::PipeBarrier<PIPE_V>();
            places = rows;
        }
        AscendC::Cast(indices, places, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        outIndices_.EnQue(indices);
        auto stored = outIndices_.template DeQue<int64_t>();
        tiles_.Store(indices_, stored, unit, chunk);
        outIndices_.FreeTensor(stored);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> outValues_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> outIndices_;
    AscendC::TBuf<AscendC::TPosition::VECIN> ahead_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> keys_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> least_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> ramp_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> places_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bits_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> nanBits_;
    AscendC::GlobalTensor<T> input_;
    AscendC::GlobalTensor<T> values_;
    AscendC::GlobalTensor<int64_t> indices_;
    CumminScan<Key, true> minimum_;
    CumminScan<int32_t, false> place_;
    CumminParts<Key> parts_;
    common::AxisTiles<true> tiles_;
    common::AxisTiling tiling_;
    GM_ADDR workspace_;
    int64_t rampStart_;
    uint32_t aheadBytes_;
    bool isLines_;
};

#endif  // REFERENCE_CUMMIN_LANES_H
