/*
 * unsorted_segment_sum for many rows: they are read in the order in which they lie, long copies whatever the rows' length, and each is added where its id says.
 *
 * Where all sums fit into the unified buffer a core sums its share of the rows there, one vector instruction per row (and plane), and adds the sums to those of
 * the other cores in global memory at the end, by atomic stores. Otherwise every row is an atomic store.
 */
#ifndef REFERENCE_SEGMENT_ADD_H
#define REFERENCE_SEGMENT_ADD_H

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "segment_element.h"
#include "segment_tiling.h"

template <typename T>
class SegmentAdd {
public:
    using Element = SegmentElement<T>;
    using Sum = typename Element::Sum;
    static constexpr uint32_t kPlanes = Element::kPlanes, kWords = Element::kWords;
    static constexpr uint32_t kSettled = 1024;  // words that are settled at a time

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR data, GM_ADDR ids, GM_ADDR sums, const AddTiling &tiling) {
        tiling_ = tiling;
        ids_.SetGlobalBuffer((__gm__ int32_t *)ids);
        data_.SetGlobalBuffer((__gm__ T *)data);
        sums_.SetGlobalBuffer((__gm__ Sum *)sums);
        data_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the sums
        stride_ = tiling.stride * kWords;
        SetPart(0);
        idBytes_ = (tiling.perTile * tiling.idBytes + 31) / 32 * 32;
        tileWords_ = (tiling.perTile * stride_ + 63) / 64 * 64;
        localWords_ = (tiling.sums * stride_ + 63) / 64 * 64;
        pipe.InitBuffer(rows_, 2, tileWords_ / kWords * sizeof(T));
        pipe.InitBuffer(tileIds_, 2 * idBytes_);
        if (tiling.isLocal) {
            pipe.InitBuffer(local_, localWords_ * 4 * kPlanes);
            AscendC::Duplicate(local_.template Get<Sum>(), static_cast<Sum>(0), localWords_ * kPlanes);
            AscendC::PipeBarrier<PIPE_V>();
            pipe.InitBuffer(wide_, Element::kIsItself ? 32 : tileWords_ * 4);
            InitSettling(pipe);
        } else {
            pipe.InitBuffer(wideRows_, 2, tileWords_ * 4 * kPlanes);
        }
    }

    /* The columns that what follows is about. */
    __aicore__ inline void SetPart(uint32_t part) {
        column_ = static_cast<int64_t>(part) * tiling_.perPart;
        const int64_t left = tiling_.shape.columns - column_;
        width_ = left < tiling_.perPart ? left : tiling_.perPart;
    }

    /* This core's share of `count` rows from `first` on. */
    __aicore__ inline void Process(int64_t first, int64_t count) {
        const auto share = common::ShareOf(count);
        const int64_t last = first + share.first + share.count;
        first_ = first + share.first;
        if (share.count > 0) {
            Load(first_, last);
        }
        for (int64_t row = first_; row < last; row += tiling_.perTile) {
            const int64_t tile = (row - first_) / tiling_.perTile;
            const bool isNext = row + tiling_.perTile < last;
            if (isNext) {
                if (tile > 0) {
                    AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(1 - tile % 2);
                }
                Load(row + tiling_.perTile, last);
            }
            AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(tile % 2);
            const uint32_t rows = last - row < tiling_.perTile ? last - row : tiling_.perTile;
            if (tiling_.isLocal) {
                AddHere(tile % 2, rows);
            } else {
                AddThere(tile % 2, rows);
            }
            if (row + 2 * tiling_.perTile < last) {
                AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(tile % 2);
            }
        }
        AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(0);  // what comes next loads into the same buffers
        AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(0);
    }

    /* A core's own sums go to those of all cores. */
    __aicore__ inline void Flush() {
        if (!tiling_.isLocal) {
            return;
        }
        SettleLocal();
        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(0);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);
        const auto local = local_.template Get<Sum>();
        const uint32_t bytes = width_ * kWords * 4, unused = (stride_ * 4 - bytes) / 32;
        AscendC::SetAtomicAdd<Sum>();
        for (uint32_t plane = 0; plane < kPlanes; ++plane) {
            for (uint32_t segment = 0; segment < tiling_.sums; segment += kMostStored) {
                const uint32_t left = tiling_.sums - segment;
                const AscendC::DataCopyExtParams stored{static_cast<uint16_t>(left < kMostStored ? left : kMostStored), bytes, unused, 0, 0};
                AscendC::DataCopyPad(sums_[Target(plane, segment)], local[plane * localWords_ + segment * stride_], stored);
            }
        }
        AscendC::SetAtomicNone();
    }

private:
    static constexpr uint32_t kMostStored = 4095;

    __aicore__ inline int64_t Target(uint32_t plane, int64_t segment) const {
        return ((plane * tiling_.shape.segments + segment) * tiling_.shape.columns + column_) * kWords;
    }

    __aicore__ inline void InitSettling(AscendC::TPipe &pipe) {
        if constexpr (Element::kIsLong) {
            pipe.InitBuffer(part_, kSettled * 4);
            pipe.InitBuffer(previous_, kSettled * 4);
            pipe.InitBuffer(carried_, kSettled * 4);
            FillPrevious(previous_.template Get<int32_t>(), kSettled);
        }
    }

    __aicore__ inline void Load(int64_t row, int64_t last) {
        const int32_t buffer = (row - first_) / tiling_.perTile % 2;
        const uint32_t rows = last - row < tiling_.perTile ? last - row : tiling_.perTile, idBytes = rows * tiling_.idBytes;
        AscendC::DataCopyPad(tileIds_.template Get<int32_t>()[buffer * idBytes_ / 4], ids_[row * (tiling_.idBytes / 4)],
                             AscendC::DataCopyExtParams{1, idBytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
        AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(buffer);
        auto x = rows_.template AllocTensor<T>();
        const uint32_t bytes = width_ * sizeof(T), apart = (tiling_.shape.columns - width_) * sizeof(T), unused = (tiling_.stride * sizeof(T) - bytes) / 32;
        AscendC::DataCopyPad(x, data_[row * tiling_.shape.columns + column_], AscendC::DataCopyExtParams{static_cast<uint16_t>(rows), bytes, apart, unused, 0},
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        rows_.EnQue(x);
    }

    /* Ids of 8 bytes are below 2^31: their lower word is all of them. */
    __aicore__ inline int64_t IdAt(int32_t buffer, uint32_t row) const {
        return tileIds_.template Get<int32_t>().GetValue(buffer * idBytes_ / 4 + row * (tiling_.idBytes / 4));
    }

    __aicore__ inline void AddHere(int32_t buffer, uint32_t rows) {
        auto x = rows_.template DeQue<T>();
        const auto local = local_.template Get<Sum>();
        AscendC::LocalTensor<Sum> low, high;
        if constexpr (Element::kIsItself) {
            low = x;
        } else if constexpr (Element::kIsNarrow) {
            low = wide_.template Get<float>();
            AscendC::Cast(low, x, AscendC::RoundMode::CAST_NONE, rows * stride_);
            AscendC::PipeBarrier<PIPE_V>();
        } else {
            low = x.template ReinterpretCast<int32_t>();
            high = wide_.template Get<int32_t>();
            SplitWords(low, high, rows * stride_);
        }
        const uint32_t count = width_ * kWords;
        for (uint32_t row = 0; row < rows; ++row) {
            const uint32_t to = IdAt(buffer, row) * stride_;
            AscendC::Add(local[to], local[to], low[row * stride_], count);
            if constexpr (Element::kIsLong) {
                AscendC::Add(local[localWords_ + to], local[localWords_ + to], high[row * stride_], count);
            }
            AscendC::PipeBarrier<PIPE_V>();
        }
        rows_.FreeTensor(x);
        added_ += rows;
        if (added_ + tiling_.perTile > Element::kMostAdditions) {
            SettleLocal();
        }
    }

    __aicore__ inline void SettleLocal() {
        added_ = 0;
        if constexpr (Element::kIsLong) {
            const auto local = local_.template Get<int32_t>();
            const CarryWork work{previous_.template Get<int32_t>(), part_.template Get<int32_t>()};
            for (uint32_t done = 0; done < localWords_; done += kSettled) {
                const uint32_t words = localWords_ - done < kSettled ? localWords_ - done : kSettled;
                NormaliseLong(local[done], local[localWords_ + done], work, carried_.template Get<int32_t>(), words);
            }
        }
    }

    __aicore__ inline void AddThere(int32_t buffer, uint32_t rows) {
        auto x = rows_.template DeQue<T>();
        auto sums = wideRows_.template AllocTensor<Sum>();
        const uint32_t words = rows * stride_;
        if constexpr (Element::kIsNarrow) {
            AscendC::Cast(sums, x, AscendC::RoundMode::CAST_NONE, words);
        } else if constexpr (Element::kIsItself) {
            AscendC::DataCopy(sums, x, words);
        } else {
            AscendC::Adds(sums, x.template ReinterpretCast<int32_t>(), 0, words);
            AscendC::PipeBarrier<PIPE_V>();
            SplitWords(sums, sums[tileWords_], words);
        }
        rows_.FreeTensor(x);
        wideRows_.EnQue(sums);
        auto stored = wideRows_.template DeQue<Sum>();
        const AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(width_ * kWords * 4), 0, 0, 0};
        AscendC::SetAtomicAdd<Sum>();
        for (uint32_t at = 0; at < rows; ++at) {
            const int64_t to = Target(0, IdAt(buffer, at));
            AscendC::DataCopyPad(sums_[to], stored[at * stride_], row);
            if constexpr (Element::kIsLong) {
                AscendC::DataCopyPad(sums_[Target(1, 0) - Target(0, 0) + to], stored[tileWords_ + at * stride_], row);
            }
        }
        AscendC::SetAtomicNone();
        wideRows_.FreeTensor(stored);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> rows_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> wideRows_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> tileIds_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> local_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> part_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> previous_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> carried_;
    AscendC::GlobalTensor<T> data_;
    AscendC::GlobalTensor<int32_t> ids_;
    AscendC::GlobalTensor<Sum> sums_;
    AddTiling tiling_;
    int64_t first_;
    int64_t column_;
    uint32_t width_;
    uint32_t stride_;      // words of a row and plane
    uint32_t idBytes_;     // of a tile
    uint32_t tileWords_;   // of a plane
    uint32_t localWords_;  // of a plane
    uint32_t added_ = 0;   // rows since the last settlement
};

#endif  // REFERENCE_SEGMENT_ADD_H
