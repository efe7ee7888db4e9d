#include "kernel_operator.h"
#include "scale_tiling.h"

constexpr uint32_t kLongest = 256;

// Key 1 multiplies, key 2 adds.
extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR z, GM_ADDR tiling) {
    GET_TILING_DATA_WITH_STRUCT(ScaleTiling, data, tiling);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, kLongest * sizeof(float));
    AscendC::GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)x);
    to.SetGlobalBuffer((__gm__ float *)z);
    AscendC::LocalTensor<float> tile = buffer.Get<float>();
    AscendC::DataCopy(tile, from, data.count);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    if (TILING_KEY_IS(1)) {
        AscendC::Muls(tile, tile, data.factor, data.count);
    } else if (TILING_KEY_IS(2)) {
        AscendC::Adds(tile, tile, data.factor, data.count);
    }
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::DataCopy(to, tile, data.count);
}
