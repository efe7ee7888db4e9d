/*
 * The frame of a kernel that computes a tensor from two tensors that are broadcast to each other, element by element (broadcast_plan.h, broadcast_input.h).
 *
 * A core takes a run of tiles. Two buffers for each side and for the result, and what the next tile needs is loaded before the current one is computed, so that
 * load, compute and store overlap. The second side and the body start 256 bytes off from the first side and the result: a vector instruction whose sources
 * share a bank group, that is whose addresses agree modulo 512, takes twice as long.
 *
 * Body has: Wide, the type to compute in, and Widen(wide, narrow, count) if that is not T; kBytesPerElement and kFixedBytes, what it keeps in the unified
 * buffer; kElementsPerLaunch, see KernelTraits; Init(pipe, perTile); Run(y, a, b, count), which leaves a and b as they are. Tiles have room for whole 512
 * bytes, and those of 64-bit numbers have values up to a multiple of eight of them.
 */
#ifndef REFERENCE_BROADCAST_KERNEL_H
#define REFERENCE_BROADCAST_KERNEL_H

#include "broadcast_input.h"
#include "row_vector.h"

namespace common {

template <typename T, typename Body>
class BroadcastKernel {
public:
    using Input = BroadcastInput<T, Body>;

    static constexpr BroadcastTraits Traits() {
        constexpr int64_t kPads = 4 * kBurstBytes;  // bank pads, and buffers rounded up to whole bursts
        constexpr int64_t kElementsPerTile = 1024;  // two dozen instructions of 23 cycles
        const int64_t perElement = 2 * sizeof(T) + Body::kBytesPerElement;
        return {sizeof(T), perElement, Input::kBytesPerWhole, Input::kBytesPerRepeated, kPads + Body::kFixedBytes, Body::kElementsPerLaunch, kElementsPerTile};
    }

    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, const BroadcastPlan &plan) {
        plan_ = plan;
        perTile_ = (plan.rows * plan.rowElements + Input::kGranule - 1) / Input::kGranule * Input::kGranule;
        y_.SetGlobalBuffer((__gm__ T *)y);
        sides_[0].Init(pipe_, x1, plan, 0, perTile_);
        pipe_.InitBuffer(out_, 2, perTile_ * sizeof(T));
        pipe_.InitBuffer(pad_, kBurstBytes / 2);
        sides_[1].Init(pipe_, x2, plan, 1, perTile_);
        body_.Init(pipe_, perTile_);
    }

    __aicore__ inline void Process() {
        const Share share = ShareOf(plan_.tiles);
        const int64_t end = share.first + share.count;
        Place next = PlaceOf(share.first);
        Load(next);
        for (int32_t side = 0; side < 2; ++side) {
            sides_[side].Prepare(plan_, perTile_);
        }
        for (int64_t tile = share.first; tile < end; ++tile) {
            const Place now = next;
            const bool isLast = tile + 1 == end;
            if (!isLast) {
                next = PlaceOf(tile + 1);
                Load(next);
            }
            Compute(now);
            CopyOut(now);
            Release(0, isLast || next.isNew[0]);
            Release(1, isLast || next.isNew[1]);
        }
    }

private:
    /* Where a tile lies on both sides and in the result. */
    struct Place {
        int64_t offsets[2];
        int64_t first;
        uint32_t rows;
        bool isNew[2];  // the side's piece is another one than the tile's before
    };

    __aicore__ inline Place PlaceOf(int64_t tile) const {
        const int32_t last = plan_.outerAxes - 1;
        int64_t rest = tile, chunk = 0, index = 0;
        if (plan_.isOuterFirst) {
            index = rest % plan_.outer[last];
            rest /= plan_.outer[last];
        }
        chunk = rest % plan_.chunks;
        rest /= plan_.chunks;
        const int64_t outer = plan_.isOuterFirst ? rest * plan_.outer[last] + index : rest, start = chunk * plan_.rows;
        Place place{{start * plan_.sides[0].row, start * plan_.sides[1].row}, (outer * plan_.length + start) * plan_.rowElements, 0, {false, false}};
        place.rows = plan_.length - start < plan_.rows ? plan_.length - start : plan_.rows;
        rest = outer;
        for (int32_t axis = last; axis >= 0; --axis) {
            const int64_t along = rest % plan_.outer[axis];
            rest /= plan_.outer[axis];
            place.offsets[0] += along * plan_.sides[0].outer[axis];
            place.offsets[1] += along * plan_.sides[1].outer[axis];
        }
        return place;
    }

    __aicore__ inline void Load(Place &place) {
        for (int32_t side = 0; side < 2; ++side) {
            place.isNew[side] = sides_[side].Load(place.offsets[side], place.rows);
        }
    }

    __aicore__ inline void Compute(const Place &place) {
        const auto a = sides_[0].Take(place.isNew[0], place.rows), b = sides_[1].Take(place.isNew[1], place.rows);
        auto y = out_.template AllocTensor<T>();
        body_.Run(y, a, b, place.rows * plan_.rowElements);
        out_.EnQue(y);
    }

    __aicore__ inline void CopyOut(const Place &place) {
        const uint32_t bytes = place.rows * plan_.rowElements * sizeof(T);
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[place.first], y, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        out_.FreeTensor(y);
    }

    __aicore__ inline void Release(int32_t side, bool isDue) {
        if (isDue) {
            sides_[side].Release();
        }
    }

    AscendC::TPipe pipe_;
    Input sides_[2];
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::GlobalTensor<T> y_;
    Body body_;
    BroadcastPlan plan_;
    uint32_t perTile_;
};

}  // namespace common

#endif  // REFERENCE_BROADCAST_KERNEL_H
