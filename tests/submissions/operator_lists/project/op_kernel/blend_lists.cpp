#include "kernel_operator.h"

constexpr uint32_t kMostElements = 2048;

extern "C" __global__ __aicore__ void blend_lists(GM_ADDR x, GM_ADDR bias, GM_ADDR weights, GM_ADDR factor, GM_ADDR y, GM_ADDR total, GM_ADDR spare,
                                                  GM_ADDR workspace, GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const uint32_t own = AscendC::GetBlockIdx();
    AscendC::ListTensorDesc inputs(x), outputs(y, 0xffffffff, data.count);
    uint64_t shape[8];
    AscendC::TensorDesc<float> described;
    described.SetShapeAddr(shape);
    inputs.GetDesc(described, own);
    uint32_t count = 1;
    for (uint32_t i = 0; i < described.GetDim(); ++i) {
        count *= static_cast<uint32_t>(described.GetShape(i));
    }
    AscendC::GlobalTensor<float> from, to, number;
    from.SetGlobalBuffer(described.GetDataPtr());
    to.SetGlobalBuffer(outputs.GetDataPtr<float>(own));
    number.SetGlobalBuffer((__gm__ float *)bias);
    const float offset = data.hasBias ? number.GetValue(0) : 0.0f;
    number.SetGlobalBuffer((__gm__ float *)factor);
    const float scale = number.GetValue(0);
    AscendC::GlobalTensor<int32_t> lengths;
    lengths.SetGlobalBuffer((__gm__ int32_t *)total);

    AscendC::TPipe pipe;
    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> tiles;
    AscendC::TBuf<AscendC::TPosition::VECCALC> length;
    pipe.InitBuffer(tiles, 1, kMostElements * sizeof(float));
    pipe.InitBuffer(length, 32);
    const AscendC::DataCopyExtParams copy(1, count * sizeof(float), 0, 0, 0);
    AscendC::LocalTensor<float> tile = tiles.AllocTensor<float>();
    AscendC::DataCopyPad(tile, from, copy, AscendC::DataCopyPadExtParams<float>(false, 0, 0, 0));
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    AscendC::Adds(tile, tile, offset, count);
    AscendC::Muls(tile, tile, scale, count);
    AscendC::Adds(tile, tile, data.weights[own], count);
    AscendC::Duplicate(length.Get<int32_t>(), static_cast<int32_t>(count), 8);
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::DataCopyPad(to, tile, copy);
    AscendC::SetAtomicAdd<int32_t>();
    AscendC::DataCopyPad(lengths[own], length.Get<int32_t>(), AscendC::DataCopyExtParams(1, sizeof(int32_t), 0, 0, 0));
    AscendC::SetAtomicNone();
    tiles.FreeTensor(tile);
}
