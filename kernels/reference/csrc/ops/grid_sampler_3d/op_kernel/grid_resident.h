/*
 * Points sampled from volumes that fit into the unified buffer: a core loads the box of one channel after another (the next one while it works, where there is
 * room for two) and gathers all points of its share from it, tile by tile of the table (grid_table.h).
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
    static constexpr int64_t TileBytes(bool isNearest, int64_t tile) {
        const int64_t fields = isNearest ? 1 : kGridFields, work = isNearest ? 0 : kWorkTensors * sizeof(float) + (kIsFloat ? 0 : 2 * sizeof(T));
        return tile * (kBuffers * (fields * sizeof(float) + sizeof(T)) + work);
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
        pipe_.InitBuffer(entries_, kBuffers, table.fields * table.tile * sizeof(float));
        pipe_.InitBuffer(out_, kBuffers, table.tile * sizeof(T));
        if (!tensors.isNearest) {
            pipe_.InitBuffer(work_, kWorkTensors * table.tile * sizeof(float));
            if constexpr (!kIsFloat) {
                pipe_.InitBuffer(narrow_, 2 * table.tile * sizeof(T));
            }
        }
        // Copies fill the voxels only: what is zero now remains zero.
        for (uint32_t number = 0; number < volumes; ++number) {
            auto volume = in_.template AllocTensor<T>();
            AscendC::Duplicate(volume, static_cast<T>(0), box.elements);
            in_.FreeTensor(volume);
        }
    }

    /* An item is one tile of one channel. */
    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tensors_.batch * tensors_.channels * table_.tiles);
        const int64_t end = share.first + share.count, lastVolume = (end - 1) / table_.tiles;
        if (share.count == 0) {
            return;
        }
        LoadVolume(share.first / table_.tiles);
        LoadEntries(share.first);
        for (int64_t item = share.first; item < end;) {
            const int64_t number = item / table_.tiles, stop = (number + 1) * table_.tiles < end ? (number + 1) * table_.tiles : end;
            if (volumes_ > 1 && number < lastVolume) {
                LoadVolume(number + 1);
            }
            auto volume = in_.template DeQue<T>();
            for (; item < stop; ++item) {
                if (item + 1 < end) {
                    LoadEntries(item + 1);
                }
                Sample(volume, item);
            }
            in_.FreeTensor(volume);
            if (volumes_ == 1 && number < lastVolume) {
                LoadVolume(number + 1);
            }
        }
    }

private:
    static constexpr int64_t kWorkTensors = 4;

    /* Plane by plane; the zeros behind a row come with it. */
    __aicore__ inline void LoadVolume(int64_t number) {
        auto volume = in_.template AllocTensor<T>();
        const uint32_t bytes = box_.size[0] * sizeof(T), skipped = (tensors_.width - box_.size[0]) * sizeof(T);
        const AscendC::DataCopyExtParams copied{static_cast<uint16_t>(box_.size[1]), bytes, skipped, 0, 0};
        const AscendC::DataCopyPadExtParams<T> padded{true, 0, static_cast<uint8_t>(box_.row - box_.size[0]), static_cast<T>(0)};
        for (int32_t plane = 0; plane < box_.size[2]; ++plane) {
            const int64_t from = ((number * tensors_.depth + box_.first[2] + plane) * tensors_.height + box_.first[1]) * tensors_.width + box_.first[0];
            AscendC::DataCopyPad(volume[box_.lead + 2 * box_.row + plane * box_.plane], x_[from], copied, padded);
        }
        in_.EnQue(volume);
    }

    __aicore__ inline void LoadEntries(int64_t item) {
        const int64_t batch = item / table_.tiles / tensors_.channels;
        const uint32_t number = item % table_.tiles;
        auto entries = entries_.template AllocTensor<float>();
        AscendC::DataCopyPad(entries, stored_[table_.Place(batch, number)], table_.Copied(number, false),
                             AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});
        entries_.EnQue(entries);
    }

    __aicore__ inline void Sample(const AscendC::LocalTensor<T> &volume, int64_t item) {
        const uint32_t number = item % table_.tiles, count = table_.Count(number), bytes = count * sizeof(T);
        auto entries = entries_.template DeQue<float>();
        auto made = out_.template AllocTensor<T>();
        if (tensors_.isNearest) {
            AscendC::Gather(made, volume, entries.template ReinterpretCast<uint32_t>(), 0, count);
        } else {
            Mix(made, volume, entries, count);
        }
        entries_.FreeTensor(entries);
        out_.EnQue(made);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[item / table_.tiles * tensors_.points + static_cast<int64_t>(number) * table_.tile], stored,
                             AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        out_.FreeTensor(stored);
    }

    /* Along w, then h, then d; the shares are products' factors, so that an infinite voxel with share 0 gives NaN. */
    __aicore__ inline void Mix(const AscendC::LocalTensor<T> &made, const AscendC::LocalTensor<T> &volume, const GridFloats &entries, uint32_t count) {
        const uint32_t tile = table_.tile;
        const auto work = work_.template Get<float>();
        const auto lower = work, upper = work[tile];
        const auto result = [&]() {
            if constexpr (kIsFloat) {
                return made;
            } else {
                return lower;
            }
        }();
        AscendC::PipeBarrier<PIPE_V>();  // what the last tile left in the work tensors has been read
        MixPlane(result, volume, entries, 0, count);
        MixPlane(upper, volume, entries, 1, count);
        Blend(result, upper, entries[6 * tile], entries[7 * tile], count);
        if constexpr (!kIsFloat) {
            AscendC::Cast(made, result, AscendC::RoundMode::CAST_RINT, count);
        }
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

    __aicore__ inline void MixRow(const GridFloats &result, const AscendC::LocalTensor<T> &volume, const AscendC::LocalTensor<uint32_t> &offsets,
                                  uint32_t base, const GridFloats &entries, uint32_t count) {
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
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<float> stored_;
    GridTensors tensors_;
    GridBox box_;
    GridTable table_;
    uint32_t volumes_;
};

#endif  // REFERENCE_GRID_RESIDENT_H
