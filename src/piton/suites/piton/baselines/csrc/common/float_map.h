/*
 * The plain frame of y = formula(x), element by element: one tile after the other, one buffer per queue, 16-bit types computed in float32 and rounded once.
 *
 * Formula has Init(pipe, arguments...) and Evaluate(y, x, count) on float32 tensors of at most kTileElements.
 */
#ifndef BASELINE_FLOAT_MAP_H
#define BASELINE_FLOAT_MAP_H

#include <type_traits>

#include "kernel_operator.h"

#include "tiling.h"

namespace baseline {

template <typename T, typename Formula>
class FloatMap {
public:
    static constexpr int32_t kBufferNum = 1;
    static constexpr uint32_t kTile = kTileElements;

    template <typename... Arguments>
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int64_t elements, Arguments... arguments) {
        const int64_t perBlock = (elements + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t start = perBlock * AscendC::GetBlockIdx();
        length_ = elements - start < perBlock ? elements - start : perBlock;
        x_.SetGlobalBuffer((__gm__ T *)x + start);
        y_.SetGlobalBuffer((__gm__ T *)y + start);
        pipe_.InitBuffer(in_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(out_, kBufferNum, kTile * sizeof(T));
        pipe_.InitBuffer(wideX_, kTile * sizeof(float));
        pipe_.InitBuffer(wideY_, kTile * sizeof(float));
        formula_.Init(pipe_, arguments...);
    }

    __aicore__ inline void Process() {
        for (int64_t start = 0; start < length_; start += kTile) {
            const uint32_t count = length_ - start < kTile ? length_ - start : kTile;
            CopyIn(start, count);
            Compute(count);
            CopyOut(start, count);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t start, uint32_t count) {
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(x, x_[start], shape, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto x = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        if constexpr (std::is_same_v<T, float>) {
            formula_.Evaluate(y, x, count);
        } else {
            auto wideX = wideX_.template Get<float>();
            auto wideY = wideY_.template Get<float>();
            AscendC::Cast(wideX, x, AscendC::RoundMode::CAST_NONE, count);
            formula_.Evaluate(wideY, wideX, count);
            AscendC::Cast(y, wideY, AscendC::RoundMode::CAST_RINT, count);
        }
        out_.EnQue(y);
        in_.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[start], y, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBufferNum> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBufferNum> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideX_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideY_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    int64_t length_;
    Formula formula_;
};

}  // namespace baseline

#endif  // BASELINE_FLOAT_MAP_H
