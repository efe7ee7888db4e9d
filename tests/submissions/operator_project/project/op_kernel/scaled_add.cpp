#include "kernel_operator.h"

constexpr uint32_t kMost = 2048;

class ScaledAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint64_t first) {
        x_.SetGlobalBuffer((__gm__ DTYPE_X *)x + first);
        y_.SetGlobalBuffer((__gm__ DTYPE_Y *)y + first);
        z_.SetGlobalBuffer((__gm__ DTYPE_Z *)z + first);
        pipe_.InitBuffer(inputs_, 1, 2 * kMost * sizeof(DTYPE_X));
        pipe_.InitBuffer(outputs_, 1, kMost * sizeof(DTYPE_Z));
    }
    __aicore__ inline void Tile(uint64_t at, uint32_t count, float alpha) {
        const AscendC::DataCopyExtParams copy(1, count * sizeof(DTYPE_X), 0, 0, 0);
        const AscendC::DataCopyPadExtParams<DTYPE_X> pad(false, 0, 0, 0);
        AscendC::LocalTensor<DTYPE_X> in = inputs_.AllocTensor<DTYPE_X>();
        AscendC::DataCopyPad(in, x_[at], copy, pad);
        AscendC::DataCopyPad(in[kMost], y_[at], copy, pad);
        inputs_.EnQue(in);
        in = inputs_.DeQue<DTYPE_X>();
        AscendC::LocalTensor<DTYPE_Z> out = outputs_.AllocTensor<DTYPE_Z>();
        AscendC::Muls(out, in[kMost], static_cast<DTYPE_X>(alpha), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(out, out, in, count);
        inputs_.FreeTensor(in);
        outputs_.EnQue(out);
        out = outputs_.DeQue<DTYPE_Z>();
        AscendC::DataCopyPad(z_[at], out, copy);
        outputs_.FreeTensor(out);
    }

private:
    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> inputs_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outputs_;
    AscendC::GlobalTensor<DTYPE_X> x_, y_, z_;
};

extern "C" __global__ __aicore__ void scaled_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const uint64_t first = static_cast<uint64_t>(data.perBlock[0]) * AscendC::GetBlockIdx();
    ScaledAdd op;
    op.Init(x, y, z, first);
    if (TILING_KEY_IS(1)) {
        op.Tile(0, static_cast<uint32_t>(data.total), data.alpha);
    } else if (TILING_KEY_IS(2)) {
        const uint64_t left = data.total - first;
        const uint64_t own = left < data.perBlock[0] ? left : data.perBlock[0];
        for (uint64_t at = 0; at < own; at += data.perBlock[1]) {
            op.Tile(at, static_cast<uint32_t>(own - at < kMost ? own - at : kMost), data.alpha);
        }
    }
}
