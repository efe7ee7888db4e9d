/*
 * scatter along lines far longer than the unified buffer, where updates need not meet on chip: y is a copy of data, and every update a store of its own, atomic
 * where it is added or the lesser or greater one stays. A store takes 20 cycles whatever its size.
 *
 * Updates are loaded as blocks of one element, since stores begin at multiples of 32 bytes of the unified buffer.
 */
#ifndef REFERENCE_SCATTER_STORE_H
#define REFERENCE_SCATTER_STORE_H

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "scatter_tiling.h"

template <typename T>
class ScatterStore {
public:
    static constexpr uint32_t kTile = 1024;  // updates
    static constexpr uint32_t kBlock = 32 / sizeof(T);

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR *tensors, const ItemTiling &tiling) {
        tiling_ = tiling;
        updates_.SetGlobalBuffer((__gm__ T *)tensors[kUpdates]);
        y_.SetGlobalBuffer((__gm__ T *)tensors[3]);
        indices_.SetGlobalBuffer((__gm__ int32_t *)tensors[kIndices]);
        pipe.InitBuffer(blocks_, 2, kTile * 32);
        pipe.InitBuffer(places_, 2 * kTile * tiling.common.indexBytes);
        perIndex_ = tiling.common.indexBytes / 4;
    }

    __aicore__ inline void Process() {
        const auto share = common::ShareOf(tiling_.items);
        last_ = share.first + share.count;
        SetAtomic();
        if (share.count > 0) {
            Load(share.first, 0);
        }
        for (int64_t item = share.first; item < last_; ++item) {
            const int32_t buffer = (item - share.first) % 2;
            if (item + 1 < last_) {
                if (item > share.first) {
                    AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(1 - buffer);
                }
                Load(item + 1, 1 - buffer);
            }
            AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(buffer);
            StoreEach(item, buffer);
            if (item + 2 < last_) {
                AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(buffer);
            }
        }
        AscendC::SetAtomicNone();
    }

private:
    __aicore__ inline void SetAtomic() {
        if constexpr (sizeof(T) == 4) {
            switch (tiling_.common.reduction) {
                case Reduction::kAdd:
                    AscendC::SetAtomicAdd<T>();
                    break;
                case Reduction::kMin:
                    AscendC::SetAtomicMin<T>();
                    break;
                case Reduction::kMax:
                    AscendC::SetAtomicMax<T>();
                    break;
                default:
                    break;
            }
        }
    }

    __aicore__ inline int64_t First(int64_t item) const { return item % tiling_.ranges * kTile; }

    __aicore__ inline uint32_t CountOf(int64_t item) const {
        const int64_t left = tiling_.common.planes.length[kIndices] - First(item);
        return left < kTile ? left : kTile;
    }

    __aicore__ inline void Load(int64_t item, int32_t buffer) {
        const auto &planes = tiling_.common.planes;
        const int64_t plane = item / tiling_.ranges, index = common::PlaneStart(planes, kIndices, plane) + First(item);
        const uint32_t count = CountOf(item);
        AscendC::DataCopyPad(places_.template Get<int32_t>()[buffer * kTile * perIndex_], indices_[index * perIndex_],
                             AscendC::DataCopyExtParams{1, count * perIndex_ * 4, 0, 0, 0}, AscendC::DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
        AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(buffer);
        auto blocks = blocks_.template AllocTensor<T>();
        AscendC::DataCopyPad(blocks, updates_[common::PlaneStart(planes, kUpdates, plane) + First(item)],
                             AscendC::DataCopyExtParams{static_cast<uint16_t>(count), sizeof(T), 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        blocks_.EnQue(blocks);
    }

    __aicore__ inline void StoreEach(int64_t item, int32_t buffer) {
        const auto places = places_.template Get<int32_t>()[buffer * kTile * perIndex_];
        const int64_t start = common::PlaneStart(tiling_.common.planes, kData, item / tiling_.ranges);
        const uint32_t count = CountOf(item);
        const AscendC::DataCopyExtParams one{1, sizeof(T), 0, 0, 0};
        auto blocks = blocks_.template DeQue<T>();
        for (uint32_t at = 0; at < count; ++at) {  // an index of 8 bytes is below 2^31: its lower word is all of it
            AscendC::DataCopyPad(y_[start + places.GetValue(at * perIndex_)], blocks[at * kBlock], one);
        }
        blocks_.FreeTensor(blocks);
    }

    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 2> blocks_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> places_;
    AscendC::GlobalTensor<T> updates_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<int32_t> indices_;
    ItemTiling tiling_;
    int64_t last_;
    uint32_t perIndex_;
};

#endif  // REFERENCE_SCATTER_STORE_H
