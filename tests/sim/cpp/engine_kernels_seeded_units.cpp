/* Kernels on cube cores (L1), and vector kernels whose parameters, bounds or lanes matter (engine_seeded.h). */
#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

/* Tiles through one buffer of L1 and out again. */
void matrix(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TBuf<TPosition::A1> buffer;
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    for (uint32_t tile = 0; tile < scene.tiles; ++tile) {
        DataCopy(a, scene.From()[tile * kTile], kTile);  // [37 earlier] [38 here]
        if (scene.Keep(37)) Order<HardEvent::MTE2_MTE3>();
        DataCopy(scene.To()[tile * kTile], a, kTile);  // [37 here] [38 earlier]
        if (scene.Keep(38)) Order<HardEvent::MTE3_MTE2>();
    }
}

/* Two matrices of 16 rows of 8 floats side by side in L1; the second starts where the first ends. */
void halves(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TBuf<TPosition::A1> buffer;
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    const Nd2NzParams shape(1, 16, 8, 0, 8, 16, 1, 0);
    DataCopy(a, scene.From(), shape);                                    // [39 earlier]
    DataCopy(a[scene.Only(39) ? 64 : 128], scene.From()[kTile], shape);  // [39 here]
    SetFlag<HardEvent::MTE2_MTE3>(0);
    WaitFlag<HardEvent::MTE2_MTE3>(0);
    DataCopy(scene.To(), a, scene.Only(39) ? 192 : 256);
    SetFlag<HardEvent::MTE3_MTE2>(2);  // [40 here]
    if (scene.Keep(40)) WaitFlag<HardEvent::MTE3_MTE2>(2);
}

namespace {

/* in -> a[0:n], `step`, a[40 tiles ..] -> out[0:m]. `step` may use the memory between and behind. */
template <typename Step>
void Around(const Scene &scene, uint32_t n, uint32_t m, const Step &step) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, (scene.Only(43) ? 192 : 184) * 1024);
    const LocalTensor<float> a = buffer.Get<float>(), from = scene.Only(43) ? a[184 * 1024 / sizeof(float)] : a;
    DataCopy(from, scene.From(), n);
    Order<HardEvent::MTE2_V>();
    step(a[40 * kTile], from);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), a[40 * kTile], m);
}

}  // namespace

/* out = |in| over 255 repeats. */
void repeats(const Scene &scene) {
    const uint32_t n = 255 * 64;
    Around(scene, n, n, [&](const LocalTensor<float> &to, const LocalTensor<float> &from) {
        const uint32_t times = scene.Only(41) ? n / 64 + 1 : n / 64;
        Abs(to, from, 64, times, {1, 1, 8, 8});  // [41 here]
    });
}

/* Computes on 100 lanes, copies 104 out, of which the last 4 come from a fill. */
void partial(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>(), b = a[kTile];
    DataCopy(a, scene.From(), kTile);
    if (scene.Keep(42)) Duplicate(b, 0.0f, 104);
    Order<HardEvent::MTE2_V>();
    Abs(b, a, 100);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), b, 104);  // [42 here]
}

/* out = in where in > 0, else 9. Select with a scalar uses the end of the unified buffer. */
void choose(const Scene &scene) {
    Around(scene, kTile, kTile, [&](const LocalTensor<float> &to, const LocalTensor<float> &from) {
        const LocalTensor<uint8_t> bits = to[kTile].ReinterpretCast<uint8_t>();
        CompareScalar(bits, from, 0.0f, CMPMODE::GT, kTile);
        Select(to, bits, from, 9.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, kTile);  // [43 here]
    });
}

/* The last tile has 8 elements. */
void tail(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    const uint32_t length = scene.Only(44) ? kTile : 8;
    DataCopy(a, scene.From()[scene.tiles * kTile - 8], length);  // [44 here]
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To(), a, 8);
}

/* out = |in|, in place; 64 elements further on the second repeat would find what the first wrote. */
void shift(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    DataCopy(a, scene.From(), kTile);
    Order<HardEvent::MTE2_V>();
    const LocalTensor<float> to = scene.Only(45) ? a[64] : a;
    Abs(to, a, kTile);  // [45 here]
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), to, kTile);
}

/* out[i] = in[2 i], by offsets. */
void pick(const Scene &scene) {
    Around(scene, kTile, 64, [&](const LocalTensor<float> &to, const LocalTensor<float> &from) {
        const LocalTensor<int32_t> places = to[kTile].ReinterpretCast<int32_t>();
        CreateVecIndex(places, 0, scene.Only(46) ? 56 : 64);
        Muls(places, places, 8, scene.Only(46) ? 56 : 64);
        Gather(to, from, places.ReinterpretCast<uint32_t>(), 0, 64);  // [46 here]
    });
}

}  // namespace seeded
