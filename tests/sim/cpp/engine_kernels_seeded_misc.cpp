/* Kernels whose ids, scratch memory, freed tensors or register modes matter (engine_seeded.h). */
#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

/* An id of the kernel's own beside those of a queue; the second half of `out` is filled by it. */
void own_id(const Scene &scene) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inputs;
    TBuf<> buffer;
    pipe.InitBuffer(inputs, 1, kTileBytes);
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> b = buffer.Get<float>();
    DataCopy(b, scene.From()[kTile], kTile);
    const TEventID id = scene.Only(47) ? pipe.FetchEventID<HardEvent::MTE2_V>() : pipe.AllocEventID<HardEvent::MTE2_V>();
    SetFlag<HardEvent::MTE2_V>(id);  // [47 earlier]
    LocalTensor<float> a = inputs.AllocTensor<float>();
    DataCopy(a, scene.From(), kTile);
    inputs.EnQue(a);  // [47 here]
    WaitFlag<HardEvent::MTE2_V>(id);
    a = inputs.DeQue<float>();
    Add(b, a, b, kTile);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), b, kTile);
    inputs.FreeTensor(a);
    pipe.ReleaseEventID<HardEvent::MTE2_V>(id);
}

/* Eight loads of 64 elements in flight, one id each. */
void many(const Scene &scene) {
    TPipe pipe;
    TQue<TPosition::VECIN, 9> inputs;
    TBuf<> buffer;
    pipe.InitBuffer(inputs, 9, 256);
    pipe.InitBuffer(buffer, 256);
    const LocalTensor<float> sum = buffer.Get<float>();
    const uint32_t loads = scene.Only(48) ? 9 : 8;
    Duplicate(sum, 0.0f, 64);
    for (uint32_t i = 0; i < loads; ++i) {
        LocalTensor<float> a = inputs.AllocTensor<float>();
        DataCopy(a, scene.From()[64 * i], 64);
        inputs.EnQue(a);  // [48 here]
    }
    for (uint32_t i = 0; i < loads; ++i) {
        LocalTensor<float> a = inputs.DeQue<float>();
        Add(sum, sum, a, 64);
        inputs.FreeTensor(a);
    }
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), sum, 64);
}

/* out = floor(in) through half, with scratch memory behind the tensor. */
void scratch(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 4 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    const LocalTensor<half> b = a[kTile].ReinterpretCast<half>();
    const LocalTensor<uint8_t> room = a[scene.Only(49) ? kTile + 64 : 2 * kTile].ReinterpretCast<uint8_t>();
    DataCopy(a, scene.From(), kTile);
    Order<HardEvent::MTE2_V>();
    Cast(b, a, RoundMode::CAST_NONE, kTile);
    Floor(b, b, room, kTile);  // [49 here]
    Cast(a, b, RoundMode::CAST_NONE, kTile);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), a, kTile);
}

/* Every element of a column of 16 becomes a row of 8; the scratch memory lies behind the result. */
void spread(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 4 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>(), b = a[kTile];
    LocalTensor<uint8_t> room = a[scene.Only(55) ? kTile + 64 : 2 * kTile].ReinterpretCast<uint8_t>();
    const uint32_t to[2] = {16, 8}, from[2] = {16, 1};
    DataCopy(a, scene.From(), 16);
    Order<HardEvent::MTE2_V>();
    Broadcast<float, 2, 1>(b, a, to, from, room);  // [55 here]
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), b, 128);
}

/* One tile by queues, so that no later load runs into it. */
void single(const Scene &scene) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inputs;
    TQue<TPosition::VECOUT, 1> outputs;
    pipe.InitBuffer(inputs, 1, kTileBytes);
    pipe.InitBuffer(outputs, 1, kTileBytes);
    LocalTensor<float> a = inputs.AllocTensor<float>();
    DataCopy(a, scene.From(), kTile);
    inputs.EnQue(a);
    a = inputs.DeQue<float>();
    LocalTensor<float> b = outputs.AllocTensor<float>();
    if (scene.Only(50)) inputs.FreeTensor(a);  // [50 earlier]
    Muls(b, a, 2.0f, kTile);                   // [50 here]
    if (scene.Keep(50)) inputs.FreeTensor(a);
    outputs.EnQue(b);
    b = outputs.DeQue<float>();
    DataCopy(scene.To(), b, kTile);
    outputs.FreeTensor(b);
}

/* out = in + in by atomic stores onto a cleared tile. */
void combine(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>(), zero = a[kTile];
    DataCopy(a, scene.From(), kTile);
    Duplicate(zero, 0.0f, kTile);
    Order<HardEvent::V_MTE3>();
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To(), zero, kTile);
    PipeBarrier<PIPE_MTE3>();
    SetAtomicAdd<float>();  // [51 here]
    DataCopy(scene.To(), a, kTile);
    DataCopy(scene.To(), a, kTile);
    if (scene.Keep(51)) SetAtomicNone();
}

/* out = |in| + 1: Abs in counter mode, Adds by repeats. */
void counter(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    DataCopy(a, scene.From(), kTile);
    Order<HardEvent::MTE2_V>();
    SetMaskCount();
    Abs(a, a, kTile, 1, {1, 1, 8, 8});
    if (scene.Keep(52)) SetMaskNorm();
    Adds(a, a, 1.0f, 64, kTile / 64, {1, 1, 8, 8});  // [52 here]
    if (scene.Only(52)) SetMaskNorm();
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), a, kTile);
}

}  // namespace seeded
