/*
 * unsorted_segment_sum of single elements: tiles are sorted by segment (sorted_places.h), and the sums of all segments grow by one element each at a time.
 *
 * Where there are few segments each has several copies, which elements of a tile take in turn, so that the vector unit has lanes to fill and groups stay small;
 * they are added up at the end. Where there are many, they are handled in passes: elements of other passes go to a place that nobody reads. What a core has
 * summed goes to global memory by atomic stores.
 */
#ifndef REFERENCE_SEGMENT_SORT_H
#define REFERENCE_SEGMENT_SORT_H

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "../../../common/sorted_places.h"
#include "segment_element.h"
#include "segment_tiling.h"

template <typename T>
class SegmentSort {
public:
    using Element = SegmentElement<T>;
    using Sum = typename Element::Sum;
    static constexpr uint32_t kSums = Element::kPlanes * Element::kWords;  // per segment: lower words' low halves, upper words', lower words' high halves, ...
    static constexpr uint32_t kSettled = 1024;
    static constexpr uint32_t kEmpty = 8;  // elements behind a tile, of which the first is zero

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR data, GM_ADDR ids, GM_ADDR sums, const SortTiling &tiling) {
        tiling_ = tiling;
        share_ = common::ShareOf(tiling.shape.rows);
        ids_ = ids;
        data_.SetGlobalBuffer((__gm__ T *)data);
        sums_.SetGlobalBuffer((__gm__ Sum *)sums);
        const uint32_t perTile = (tiling.perTile + 63) / 64 * 64;
        uint32_t pairs = perTile + tiling.places + common::SortedPlaces::kGroup;
        if (Element::kIsLong) {  // what FlushLong lays over them
            pairs = pairs > 2 * tiling.places ? pairs : 2 * tiling.places;
            pairs = pairs > 2 * kSettled ? pairs : 2 * kSettled;
        }
        sorted_.Init(pipe, pairs, tiling.places);
        pipe.InitBuffer(tileIds_, 1, perTile * tiling.idBytes);
        pipe.InitBuffer(tile_, 1, (perTile + kEmpty) * sizeof(T));
        pipe.InitBuffer(total_, tiling.places * 4 * kSums);
        pipe.InitBuffer(part_, tiling.places * 4 * (Element::kIsLong ? 3 : 1));
        pipe.InitBuffer(copy_, tiling.copies > 1 ? perTile * 4 : 32);
        if (tiling.copies > 1) {
            FillCopies(perTile);
        }
        emptyAt_ = perTile;
    }

    __aicore__ inline void Process() {
        for (uint32_t pass = 0; pass < tiling_.passes; ++pass) {
            Clear();
            uint32_t tiles = 0;
            Load(0);
            for (int64_t at = 0; at < share_.count; at += tiling_.perTile) {
                Tile(at, pass);
                if (Element::kIsLong && ++tiles % kTilesPerFlush == 0) {
                    Flush(pass);
                    Clear();
                }
            }
            Flush(pass);
        }
    }

private:
    static constexpr uint32_t kTilesPerFlush = 12;  // fewer than 2^16 elements

    /* Segments of a pass: with several passes, the last place takes what belongs elsewhere. */
    __aicore__ inline uint32_t PerPass() const { return tiling_.places - (tiling_.passes > 1 ? 1 : 0); }

    __aicore__ inline AscendC::LocalTensor<Sum> Total(uint32_t sum) { return total_.template Get<Sum>()[sum * tiling_.places]; }

    /* Element i counts for copy i % copies. */
    __aicore__ inline void FillCopies(uint32_t count) {
        const auto copy = copy_.template Get<int32_t>(), part = sorted_.Places();
        common::FillQuotients(copy, 1, tiling_.padded, count);
        common::FillQuotients(part, tiling_.copies, tiling_.copies * tiling_.padded, count);
        AscendC::Sub(copy, copy, part, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Clear() {
        AscendC::Duplicate(total_.template Get<Sum>(), static_cast<Sum>(0), tiling_.places * kSums);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline uint32_t CountAt(int64_t at) const { return share_.count - at < tiling_.perTile ? share_.count - at : tiling_.perTile; }

    __aicore__ inline void Load(int64_t at) {
        if (at >= share_.count) {
            return;
        }
        if (tiling_.idBytes == 8) {
            LoadIds<int64_t>(at);
        } else {
            LoadIds<int32_t>(at);
        }
        auto x = tile_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, data_[share_.first + at], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(CountAt(at) * sizeof(T)), 0, 0, 0},
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        tile_.EnQue(x);
    }

    template <typename Id>
    __aicore__ inline void LoadIds(int64_t at) {
        AscendC::GlobalTensor<Id> ids;
        ids.SetGlobalBuffer((__gm__ Id *)ids_);
        auto to = tileIds_.template AllocTensor<Id>();
        AscendC::DataCopyPad(to, ids[share_.first + at], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(CountAt(at) * sizeof(Id)), 0, 0, 0},
                             AscendC::DataCopyPadExtParams<Id>{false, 0, 0, 0});
        tileIds_.EnQue(to);
    }

    __aicore__ inline void Tile(int64_t at, uint32_t pass) {
        const uint32_t count = CountAt(at), places = tiling_.places;
        TakeIds(count, pass);
        auto x = tile_.template DeQue<T>();
        TakeElements(x, count);
        if constexpr (!Element::kIsLong) {
            tile_.FreeTensor(x);
            Load(at + tiling_.perTile);
        }
        sorted_.Arrange(places, count);
        const uint32_t most = sorted_.Most(PerPass());
        for (uint32_t done = 0; done < most; ++done) {
            if constexpr (Element::kIsLong) {
                AddLong(x.template ReinterpretCast<int32_t>());
            } else {
                const auto part = part_.template Get<Sum>();
                sorted_.Take(part, places);
                AscendC::Add(Total(0), Total(0), part, places);
            }
            sorted_.Back(places);
        }
        if constexpr (Element::kIsLong) {
            tile_.FreeTensor(x);
            Load(at + tiling_.perTile);
        }
    }

    /* Ids to places of this pass. */
    __aicore__ inline void TakeIds(uint32_t count, uint32_t pass) {
        const auto places = sorted_.Places()[tiling_.places];
        if (tiling_.idBytes == 8) {
            auto ids = tileIds_.template DeQue<int64_t>();
            AscendC::Cast(places, ids, AscendC::RoundMode::CAST_NONE, count);
            tileIds_.FreeTensor(ids);
        } else {
            auto ids = tileIds_.template DeQue<int32_t>();
            AscendC::Adds(places, ids, 0, count);
            tileIds_.FreeTensor(ids);
        }
        AscendC::PipeBarrier<PIPE_V>();
        if (tiling_.copies > 1) {
            AscendC::Add(places, places, copy_.template Get<int32_t>(), count);
            AscendC::PipeBarrier<PIPE_V>();
        }
        if (tiling_.passes > 1) {
            common::LimitPlaces(places, sorted_.Payloads().template ReinterpretCast<int32_t>(), pass * PerPass(), PerPass(), count);
        }
    }

    /* The payload is the element; of an int64 its byte offset in the tile, and the neutral one that of a zero behind it. */
    __aicore__ inline void TakeElements(const AscendC::LocalTensor<T> &x, uint32_t count) {
        const auto neutral = sorted_.Payloads(), payloads = sorted_.Payloads()[tiling_.places];
        if constexpr (Element::kIsLong) {
            AscendC::Duplicate(x[emptyAt_].template ReinterpretCast<int32_t>(), 0, kEmpty);
            AscendC::Duplicate(neutral, static_cast<uint32_t>(emptyAt_ * sizeof(T)), tiling_.places);
            common::FillQuotients(payloads.template ReinterpretCast<int32_t>(), 1, sizeof(T), count);
        } else {
            AscendC::Duplicate(neutral, static_cast<uint32_t>(0), tiling_.places);
            if constexpr (Element::kIsNarrow) {
                AscendC::Cast(payloads.template ReinterpretCast<float>(), x, AscendC::RoundMode::CAST_NONE, count);
            } else {
                AscendC::DataCopy(payloads.template ReinterpretCast<T>(), x, (count + 7) / 8 * 8);
            }
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    /* The upper and the lower word of an element per place, by the offsets that the sorted list holds. */
    __aicore__ inline void AddLong(const SumWords &x) {
        const uint32_t places = tiling_.places;
        const auto offsets = part_.template Get<int32_t>(), word = offsets[places], high = offsets[2 * places];
        sorted_.Take(offsets, places);
        for (uint32_t half = 0; half < 2; ++half) {
            AscendC::Gather(word, x, offsets.template ReinterpretCast<uint32_t>(), half * 4, places);
            AscendC::PipeBarrier<PIPE_V>();
            SplitWords(word, high, places);
            AscendC::Add(Total(half), Total(half), word, places);
            AscendC::Add(Total(2 + half), Total(2 + half), high, places);
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void Flush(uint32_t pass) {
        for (uint32_t sum = 0; sum < kSums; ++sum) {
            for (uint32_t copy = 1; copy < tiling_.copies; ++copy) {
                AscendC::Add(Total(sum), Total(sum), Total(sum)[copy * tiling_.padded], tiling_.padded);
                AscendC::PipeBarrier<PIPE_V>();
            }
        }
        const int64_t first = static_cast<int64_t>(pass) * PerPass(), left = tiling_.shape.segments - first;
        const uint32_t count = left < PerPass() ? left : PerPass();
        if constexpr (Element::kIsLong) {
            FlushLong(first, count);
        } else {
            AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(0);
            AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);
            Store(Total(0), first, count);
        }
        AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(0);
    }

    __aicore__ inline void Store(const AscendC::LocalTensor<Sum> &sums, int64_t to, uint32_t count) {
        AscendC::SetAtomicAdd<Sum>();
        AscendC::DataCopyPad(sums_[to], sums, AscendC::DataCopyExtParams{1, count * 4, 0, 0, 0});
        AscendC::SetAtomicNone();
    }

    /* Halves of lower and upper words are put side by side, and settled, since many cores add to what they go to. */
    __aicore__ inline void FlushLong(int64_t first, uint32_t count) {
        const uint32_t places = tiling_.places, words = 2 * places;
        const auto low = sorted_.Free(), high = low[words], order = sorted_.Pairs().template ReinterpretCast<int32_t>(), part = order[words];
        common::FillQuotients(order, 1, 4 * places, words);  // word i lies at 4 places (i % 2) + 4 (i / 2)
        common::FillQuotients(part, 2, 4 - 8 * static_cast<int32_t>(places), words);
        AscendC::Add(order, order, part, words);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Gather(low, total_.template Get<int32_t>(), order.template ReinterpretCast<uint32_t>(), 0, words);
        AscendC::Gather(high, total_.template Get<int32_t>(), order.template ReinterpretCast<uint32_t>(), 8 * places, words);
        AscendC::PipeBarrier<PIPE_V>();
        const CarryWork work{order, order[kSettled]};
        FillPrevious(work.previous, kSettled);
        for (uint32_t done = 0; done < words; done += kSettled) {
            const uint32_t now = words - done < kSettled ? words - done : kSettled;
            NormaliseLong(low[done], high[done], work, order[2 * kSettled], now);
        }
        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(0);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);
        Store(low, 2 * first, 2 * count);
        Store(high, 2 * (tiling_.shape.segments + first), 2 * count);
    }

    common::SortedPlaces sorted_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> tileIds_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> tile_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> total_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> part_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> copy_;
    AscendC::GlobalTensor<T> data_;
    AscendC::GlobalTensor<Sum> sums_;
    GM_ADDR ids_;
    SortTiling tiling_;
    common::Share share_;
    uint32_t emptyAt_;
};

#endif  // REFERENCE_SEGMENT_SORT_H
