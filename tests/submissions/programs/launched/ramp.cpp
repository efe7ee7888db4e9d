#include "kernel_operator.h"

extern "C" __global__ __aicore__ void ramp(GM_ADDR z, float value, const uint32_t count) {
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, count * sizeof(float));
    AscendC::GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)z);
    AscendC::LocalTensor<float> tile = buffer.Get<float>();
    AscendC::Duplicate(tile, value, count);
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::DataCopy(to, tile, count);
}
