/* Kernels ordered by flags and barriers of their own (engine_seeded.h). */
#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

/* out = 2 in, tile after tile through one buffer each way. */
void flags(const Scene &scene) {
    TPipe pipe;
    TBuf<TPosition::VECIN> inputs;
    TBuf<TPosition::VECOUT> outputs;
    pipe.InitBuffer(inputs, kTileBytes);
    pipe.InitBuffer(outputs, kTileBytes);
    const LocalTensor<float> a = inputs.Get<float>(), b = outputs.Get<float>();
    SetFlag<HardEvent::V_MTE2>(0);
    SetFlag<HardEvent::MTE3_V>(scene.Only(8) ? 8 : 0);  // [8 here]
    for (uint32_t tile = 0; tile < scene.tiles; ++tile) {
        if (scene.Keep(1)) WaitFlag<HardEvent::V_MTE2>(0);
        DataCopy(a, scene.From()[tile * kTile], kTile);  // [1 here] [2 earlier]
        if (scene.Keep(2)) Order<HardEvent::MTE2_V>();
        if (scene.Keep(5)) WaitFlag<HardEvent::MTE3_V>(0);
        if (scene.Only(3)) SetFlag<HardEvent::V_MTE3>(0);
        Muls(b, a, 2.0f, kTile);  // [1 earlier] [2 here] [3 earlier] [4 earlier] [5 here]
        SetFlag<HardEvent::V_MTE2>(0);
        if (scene.Only(4)) SetFlag<HardEvent::MTE3_MTE2>(0);
        if (scene.Keep(3) && scene.Keep(4)) SetFlag<HardEvent::V_MTE3>(0);
        if (scene.Only(4)) WaitFlag<HardEvent::MTE3_MTE2>(0);
        if (scene.Keep(4)) WaitFlag<HardEvent::V_MTE3>(scene.Only(6) ? 1 : 0);  // [6 here]
        DataCopy(scene.To()[tile * kTile], b, kTile);                           // [3 here] [4 here] [5 earlier]
        SetFlag<HardEvent::MTE3_V>(0);                                          // [7 here]
    }
    WaitFlag<HardEvent::V_MTE2>(0);
    if (scene.Keep(7)) WaitFlag<HardEvent::MTE3_V>(0);
}

/* out = first tile + second tile: two loads in flight, each with an id of its own. */
void pairs(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 3 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>(), b = a[kTile], sum = a[2 * kTile];
    const int32_t second = scene.Only(9) ? 0 : 1;
    DataCopy(a, scene.From(), kTile);
    SetFlag<HardEvent::MTE2_V>(0);  // [9 earlier]
    DataCopy(b, scene.From()[kTile], kTile);
    SetFlag<HardEvent::MTE2_V>(second);  // [9 here]
    WaitFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(second);
    Add(sum, a, b, kTile);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), sum, kTile);
}

/* out = 2 in + 1, element 1 = element 0 + 1, all elements + element 0, last element 7: for a build with the compiler's auto-sync off. */
void chain(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    DataCopy(a, scene.From(), kTile);
    Order<HardEvent::MTE2_V>();
    Muls(a, a, 2.0f, kTile);  // [20 earlier]
    if (scene.Keep(20)) PipeBarrier<PIPE_V>();
    Adds(a, a, 1.0f, kTile);  // [20 here] [21 earlier]
    if (scene.Keep(21)) Order<HardEvent::V_S>();
    const float first = a.GetValue(0);  // [21 here] [22 earlier]
    a.SetValue(1, first + 1.0f);
    if (scene.Keep(22)) Order<HardEvent::S_V>();
    Adds(a, a, first, kTile);  // [22 here]
    Order<HardEvent::V_S>();
    a.SetValue(kTile - 1, 7.0f);  // [23 earlier]
    if (scene.Keep(23)) Order<HardEvent::S_MTE3>();
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), a, kTile);  // [23 here]
}

/* A tile of which the second load replaces the first 64 elements. */
void reload(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    DataCopy(a, scene.From(), kTile);  // [24 earlier]
    if (scene.Keep(24)) PipeBarrier<PIPE_MTE2>();
    DataCopy(a, scene.From()[kTile], 64);  // [24 here]
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To(), a, kTile);
}

/* A tile is stored, then its first 64 elements again with those of the second tile. */
void rewrite(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    DataCopy(a, scene.From(), 2 * kTile);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To(), a, kTile);  // [25 earlier]
    if (scene.Keep(25)) PipeBarrier<PIPE_MTE3>();
    DataCopy(scene.To(), a[kTile], 64);  // [25 here]
}

/* Through global memory and back: out[1] = out[0] = in. */
void back(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>(), b = a[kTile];
    DataCopy(a, scene.From(), kTile);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To(), a, kTile);  // [26 earlier]
    if (scene.Keep(26)) Order<HardEvent::MTE3_MTE2>();
    DataCopy(b, scene.To(), kTile);  // [26 here]
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To()[kTile], b, kTile);
}

}  // namespace seeded
