/*
 * Points sampled from volumes in the unified buffer: a core loads the box of one channel after another (the next one while it works, where there is room for
 * two) and gathers all points of its share from it, tile by tile of the table (grid_table.h).
 *
 * Of a box in slabs it visits one after another for a group of tiles: in all slabs but its own a point has zeros, so that the results of the slabs are added
 * up. Nothing is sorted: that costs each point a gather per slab, still far less than fetching its voxels one by one.
 */
#ifndef REFERENCE_GRID_RESIDENT_H
#define REFERENCE_GRID_RESIDENT_H

#include "grid_table.h"

template <typename T>
class GridResident {
public:
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;

    /* What a tile of so many points takes in the unified buffer, without volumes. */
    static constexpr int64_t TileBytes(bool isNearest, int64_t tile, bool hasSlabs) {
        const int64_t fields = isNearest ? 1 : kGridShares + kGridOffsets, work = isNearest ? 0 : kWorkTensors * sizeof(float);
        const int64_t narrow = isNearest ? sizeof(T) : kIsFloat ? 0 : 2 * sizeof(T), sums = hasSlabs ? kGroup * sizeof(float) : 0;
        return tile * (kBuffers * (fields * sizeof(float) + sizeof(T)) + work + narrow + sums);
    }

    __aicore__ inline void Init(const GridTensors &tensors, const GridBox &box, const GridTable &table, uint32_t volumes) {
        tensors_ = tensors;
        box_ = box;
        table_ = table;
        volumes_ = volumes;
        x_.SetGlobalBuffer((__gm__ T *)tensors.x);
        y_.SetGlobalBuffer((__gm__ T *)tensors.y);
        stored_.SetGlobalBuffer((__gm__ float *)tensors.workspace + kBoxBytes / sizeof(float));
        pipe_.InitBuffer(in_, volumes, box.elements * sizeof(T));
        pipe_.InitBuffer(entries_, kBuffers, (table.shares + table.offsets) * table.tile * sizeof(float));
        pipe_.InitBuffer(out_, kBuffers, table.tile * sizeof(T));
        if (!tensors.isNearest) {
            pipe_.InitBuffer(work_, kWorkTensors * table.tile * sizeof(float));
        }
        if (tensors.isNearest || !kIsFloat) {
            pipe_.InitBuffer(narrow_, (tensors.isNearest ? 1 : 2) * table.tile * sizeof(T));
        }
        if (table.slabs > 1) {
            pipe_.InitBuffer(sums_, kGroup * table.tile * sizeof(float));
        }
        // Copies fill the voxels only: what is zero now remains zero.
        for (uint32_t number = 0; number < volumes; ++number) {
            auto volume = in_.template AllocTensor<T>();
            AscendC::Duplicate(volume, static_cast<T>(0), box.elements);
            in_.FreeTensor(volume);
        }
    }

    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tensors_.batch * tensors_.channels * table_.tiles);
        end_ = share.first + share.count;
        Visit now{share.first, share.first, GroupEnd(share.first), 0};
        if (share.count == 0) {
            return;
        }
        LoadVolume(now);
        LoadEntries(now);
        AscendC::LocalTensor<T> volume;
        while (now.item < end_) {
            const Visit next = After(now), nextVolume = After({now.last - 1, now.first, now.last, now.slab});
            const bool isFirst = now.item == now.first, isLast = now.item + 1 == now.last, hasMore = nextVolume.item < end_;
            if (isFirst && volumes_ > 1 && hasMore) {
                LoadVolume(nextVolume);
            }
            if (isFirst) {
                volume = in_.template DeQue<T>();
            }
            if (next.item < end_) {
                LoadEntries(next);
            }
            Sample(volume, now);
            if (isLast) {
                in_.FreeTensor(volume);
            }
            if (isLast && volumes_ == 1 && hasMore) {
                LoadVolume(nextVolume);
            }
            now = next;
        }
    }

private:
    static constexpr int64_t kWorkTensors = 4;
    static constexpr int64_t kGroup = 8;  // tiles that visit the slabs together

    /* An item is one tile of one channel; those from `first` to `last` of one channel are done with one slab, then with the next. */
    struct Visit {
        int64_t item, first, last;
        uint32_t slab;
    };

    __aicore__ inline int64_t GroupEnd(int64_t first) const {
        const int64_t channelEnd = (first / table_.tiles + 1) * table_.tiles, groupEnd = table_.slabs > 1 ? first + kGroup : channelEnd;
        const int64_t least = channelEnd < groupEnd ? channelEnd : groupEnd;
        return least < end_ ? least : end_;
    }

    __aicore__ inline Visit After(const Visit &now) const {
        if (now.item + 1 < now.last) {
            return {now.item + 1, now.first, now.last, now.slab};
        }
        if (now.slab + 1 < table_.slabs) {
            return {now.first, now.first, now.last, now.slab + 1};
        }
        return {now.last, now.last, GroupEnd(now.last), 0};
    }

    /* Plane by plane; the zeros behind a row come with it. */
    __aicore__ inline void LoadVolume(const Visit &visit) {
        auto volume = in_.template AllocTensor<T>();
        const uint32_t bytes = box_.size[0] * sizeof(T), skipped = (tensors_.width - box_.size[0]) * sizeof(T);
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(box_.size[1]), bytes, skipped, 0, 0};
        const AscendC::DataCopyPadExtParams<T> padded{true, 0, static_cast<uint8_t>(box_.row - box_.size[0]), static_cast<T>(0)};
        const int64_t number = visit.item / table_.tiles, first = box_.first[2] + static_cast<int64_t>(visit.slab * table_.depth);
        const int64_t planes = table_.slabs > 1 ? table_.depth + 1 : box_.size[2];
        for (int64_t plane = 0; plane < planes && first + plane < tensors_.depth; ++plane) {
            const int64_t from = ((number * tensors_.depth + first + plane) * tensors_.height + box_.first[1]) * tensors_.width + box_.first[0];
            AscendC::DataCopyPad(volume[box_.lead + 2 * box_.row + plane * box_.plane], x_[from], copied, padded);
        }
        in_.EnQue(volume);
    }

    /* Offsets first, then shares. */
    __aicore__ inline void LoadEntries(const Visit &visit) {
        const int64_t batch = visit.item / table_.tiles / tensors_.channels;
        const uint32_t number = visit.item % table_.tiles;
        const AscendC::DataCopyPadExtParams<float> padded{false, 0, 0, 0};
        auto entries = entries_.template AllocTensor<float>();
        AscendC::DataCopyPad(entries, stored_[table_.Place(batch, number, visit.slab)], table_.Copied(number, table_.offsets, false), padded);
        if (table_.shares > 0) {
            AscendC::DataCopyPad(entries[table_.offsets * table_.tile], stored_[table_.Place(batch, number)], table_.Copied(number, table_.shares, false),
                                 padded);
        }
        entries_.EnQue(entries);
    }

    __aicore__ inline void Sample(const AscendC::LocalTensor<T> &volume, const Visit &visit) {
        const uint32_t number = visit.item % table_.tiles, count = table_.Count(number), bytes = count * sizeof(T);
        auto entries = entries_.template DeQue<float>();
        AscendC::LocalTensor<T> made;
        if (table_.slabs == 1) {
            made = out_.template AllocTensor<T>();
            SampleWhole(made, volume, entries, count);
        } else if (tensors_.isNearest) {
            AddNearest(volume, entries, visit, count);
        } else {
            AddMixed(volume, entries, visit, count);
        }
        entries_.FreeTensor(entries);
        if (visit.slab + 1 < table_.slabs) {
            return;
        }
        if (table_.slabs > 1) {
            made = out_.template AllocTensor<T>();
            TakeSum(made, visit, count);
        }
        out_.EnQue(made);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[visit.item / table_.tiles * tensors_.points + static_cast<int64_t>(number) * table_.tile], stored,
                             AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline void SampleWhole(const AscendC::LocalTensor<T> &made, const AscendC::LocalTensor<T> &volume, const GridFloats &entries, uint32_t count) {
        if (tensors_.isNearest) {
            AscendC::Gather(made, volume, entries.template ReinterpretCast<uint32_t>(), 0, count);
        } else if constexpr (kIsFloat) {
            Mix(made, volume, entries, count);
        } else {
            const auto mixed = work_.template Get<float>();
            Mix(mixed, volume, entries, count);
            AscendC::Cast(made, mixed, AscendC::RoundMode::CAST_RINT, count);
        }
    }

    /* The tile's sum over the slabs so far, in float32 (nearest: in the type of x, in the same place). */
    __aicore__ inline GridFloats Sum(const Visit &visit) { return sums_.template Get<float>()[(visit.item - visit.first) * table_.tile]; }

    __aicore__ inline void AddNearest(const AscendC::LocalTensor<T> &volume, const GridFloats &entries, const Visit &visit, uint32_t count) {
        const auto sum = Sum(visit).template ReinterpretCast<T>(), seen = narrow_.template Get<T>();
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Gather(visit.slab == 0 ? sum : seen, volume, entries.template ReinterpretCast<uint32_t>(), 0, count);
        if (visit.slab > 0) {
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Add(sum, sum, seen, count);
        }
    }

    __aicore__ inline void AddMixed(const AscendC::LocalTensor<T> &volume, const GridFloats &entries, const Visit &visit, uint32_t count) {
        const auto sum = Sum(visit), mixed = work_.template Get<float>();
        Mix(visit.slab == 0 ? sum : mixed, volume, entries, count);
        if (visit.slab > 0) {
            AscendC::Add(sum, sum, mixed, count);
        }
    }

    __aicore__ inline void TakeSum(const AscendC::LocalTensor<T> &made, const Visit &visit, uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();
        if (kIsFloat || tensors_.isNearest) {
            AscendC::Adds(made, Sum(visit).template ReinterpretCast<T>(), static_cast<T>(0), count);
        } else if constexpr (!kIsFloat) {
            AscendC::Cast(made, Sum(visit), AscendC::RoundMode::CAST_RINT, count);
        }
    }

    /* Along w, then h, then d; the shares are products' factors, so that an infinite voxel with share 0 gives NaN. */
    __aicore__ inline void Mix(const GridFloats &result, const AscendC::LocalTensor<T> &volume, const GridFloats &entries, uint32_t count) {
        const auto upper = work_.template Get<float>()[table_.tile];
        AscendC::PipeBarrier<PIPE_V>();  // what the last tile left in the work tensors has been read
        MixPlane(result, volume, entries, 0, count);
        MixPlane(upper, volume, entries, 1, count);
        Blend(result, upper, entries[6 * table_.tile], entries[7 * table_.tile], count);
    }

    /* The four voxels of a point in its lower (0) or upper (1) plane. */
    __aicore__ inline void MixPlane(const GridFloats &result, const AscendC::LocalTensor<T> &volume, const GridFloats &entries, uint32_t plane,
                                    uint32_t count) {
        const uint32_t tile = table_.tile;
        const auto offsets = entries[plane * tile].template ReinterpretCast<uint32_t>();
        const auto row = work_.template Get<float>()[2 * tile];
        MixRow(result, volume, offsets, 0, entries, count);
        MixRow(row, volume, offsets, box_.row * sizeof(T), entries, count);
        Blend(result, row, entries[4 * tile], entries[5 * tile], count);
    }

    __aicore__ inline void MixRow(const GridFloats &result, const AscendC::LocalTensor<T> &volume, const AscendC::LocalTensor<uint32_t> &offsets, uint32_t base,
                                  const GridFloats &entries, uint32_t count) {
        const uint32_t tile = table_.tile;
        const auto next = work_.template Get<float>()[3 * tile];
        if constexpr (kIsFloat) {
            AscendC::Gather(result, volume, offsets, base, count);
            AscendC::Gather(next, volume, offsets, base + sizeof(T), count);
        } else {
            const auto narrow = narrow_.template Get<T>();
            AscendC::Gather(narrow, volume, offsets, base, count);
            AscendC::Gather(narrow[tile], volume, offsets, base + sizeof(T), count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(result, narrow, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(next, narrow[tile], AscendC::RoundMode::CAST_NONE, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        Blend(result, next, entries[2 * tile], entries[3 * tile], count);
    }

    /* low = low * lowShare + high * highShare. */
    __aicore__ inline void Blend(const GridFloats &low, const GridFloats &high, const GridFloats &lowShare, const GridFloats &highShare, uint32_t count) {
        AscendC::Mul(low, low, lowShare, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::MulAddDst(low, high, highShare, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> entries_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;  // the lower and the upper plane's result, a row's, and the next voxels
    AscendC::TBuf<AscendC::TPosition::VECCALC> narrow_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sums_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<float> stored_;
    GridTensors tensors_;
    GridBox box_;
    GridTable table_;
    uint32_t volumes_;
    int64_t end_;  // of this core's items
};

#endif  // REFERENCE_GRID_RESIDENT_H
