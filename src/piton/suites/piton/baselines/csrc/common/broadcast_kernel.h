/*
 * The plain kernel of two broadcast sides (broadcast_rows.h): for each row, for each tile of it, load both sides, compute, store. A side with one number for
 * the row gets a tile of it. Body::Run(y, a, b, count) computes a tile.
 */
#ifndef BASELINE_BROADCAST_KERNEL_H
#define BASELINE_BROADCAST_KERNEL_H

#include "kernel_operator.h"

#include "broadcast_rows.h"
#include "tiling.h"

namespace baseline {

template <typename T, typename Body>
class BroadcastKernel {
public:
    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, const BroadcastRows &rows) {
        rows_ = rows;
        sides_[0].SetGlobalBuffer((__gm__ T *)x1);
        sides_[1].SetGlobalBuffer((__gm__ T *)x2);
        y_.SetGlobalBuffer((__gm__ T *)y);
        pipe_.InitBuffer(in_[0], 1, kTileElements * sizeof(T));
        pipe_.InitBuffer(in_[1], 1, kTileElements * sizeof(T));
        pipe_.InitBuffer(out_, 1, kTileElements * sizeof(T));
        body_.Init(pipe_);
    }

    __aicore__ inline void Process() {
        const int64_t tiles = (rows_.length + kTileElements - 1) / kTileElements, all = rows_.rows * tiles;
        const int64_t perBlock = (all + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum(), first = perBlock * AscendC::GetBlockIdx();
        for (int64_t item = first; item < first + perBlock && item < all; ++item) {
            const int64_t start = item % tiles * kTileElements;
            Tile(item / tiles, start, rows_.length - start < kTileElements ? rows_.length - start : kTileElements);
        }
    }

private:
    __aicore__ inline void Tile(int64_t row, int64_t start, uint32_t count) {
        CopyIn(0, row, start, count);
        CopyIn(1, row, start, count);
        auto a = in_[0].template DeQue<T>(), b = in_[1].template DeQue<T>(), y = out_.template AllocTensor<T>();
        FillNumber(a, 0, count);
        FillNumber(b, 1, count);
        body_.Run(y, a, b, count);
        out_.EnQue(y);
        in_[0].FreeTensor(a);
        in_[1].FreeTensor(b);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[row * rows_.length + start], stored, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline void CopyIn(int32_t side, int64_t row, int64_t start, uint32_t count) {
        int64_t offset = rows_.isNumber[side] ? 0 : start;
        for (int32_t axis = rows_.axes - 1; axis >= 0; --axis) {
            offset += row % rows_.sizes[axis] * rows_.steps[side][axis];
            row /= rows_.sizes[axis];
        }
        auto x = in_[side].template AllocTensor<T>();
        const uint32_t bytes = (rows_.isNumber[side] ? 1 : count) * sizeof(T);
        AscendC::DataCopyPad(x, sides_[side][offset], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_[side].EnQue(x);
    }

    /* The number in the first place to all others. */
    __aicore__ inline void FillNumber(const AscendC::LocalTensor<T> &x, int32_t side, uint32_t count) {
        if (!rows_.isNumber[side]) {
            return;
        }
        const T number = x.GetValue(0);
        if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
            AscendC::Duplicate(x, number, count);
        } else {
            for (uint32_t i = 1; i < count; ++i) {
                x.SetValue(i, number);
            }
        }
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in_[2];
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_;
    AscendC::GlobalTensor<T> sides_[2];
    AscendC::GlobalTensor<T> y_;
    Body body_;
    BroadcastRows rows_;
};

}  // namespace baseline

#endif  // BASELINE_BROADCAST_KERNEL_H
