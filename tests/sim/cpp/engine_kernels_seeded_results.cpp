/* What a cube core does around its products: bias, results by way of L1 and global memory, parameters of columns, queues (engine_seeded.h). */
#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

namespace {

constexpr uint32_t kSide = 16, kMatrix = kSide * kSide;
const LoadData2DParams kFractal(0, 1, 1, 0, 0, false, 0);
const FixpipeParamsV220 kWhole(kSide, kSide, kSide, kSide, false);

GlobalTensor<half> Halves(uint8_t *address) {
    GlobalTensor<half> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<half *>(address));
    return tensor;
}

/* 16 x 16 halves as an image of 16 pixels in a row with 16 channels. */
LoadData3DParamsV2<half> Image() {
    const uint8_t nothing[4] = {0, 0, 0, 0};
    return LoadData3DParamsV2<half>(nothing, 1, kSide, kSide, kSide, kSide, 0, 0, 1, 1, 1, 1, 1, 1, false, false, half(0.0f));
}

}  // namespace

/* out = A B^T + bias, tile after tile: two matrices of halves and a row of floats each; A is loaded as an image. */
void biased(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    const GlobalTensor<half> from = Halves(scene.in);
    const LocalTensor<half> a1(TPosition::A1, 0, kMatrix), b1(TPosition::B1, 512, kMatrix), row(TPosition::C1, 1024, 2 * kSide);
    const LocalTensor<half> a2(TPosition::A2, 0, kMatrix), b2(TPosition::B2, 0, kMatrix);
    const LocalTensor<float> c(TPosition::CO1, 0, kMatrix), table(TPosition::C2, 0, kSide);
    for (uint32_t tile = 0; tile < scene.tiles; ++tile) {
        const GlobalTensor<half> here = from[tile * 2 * (kMatrix + kSide)];
        DataCopy(b1, here[kMatrix], kMatrix);
        DataCopy(row, here[2 * kMatrix], 2 * kSide);
        if (scene.Only(70)) Order<HardEvent::MTE2_MTE1>();
        DataCopy(a1, here, kMatrix);  // [70 earlier]
        if (scene.Keep(70)) Order<HardEvent::MTE2_MTE1>();
        LoadData(a2, a1, Image());  // [70 here]
        LoadData(b2, b1, kFractal);
        Order<HardEvent::MTE1_M>();
        DataCopy(table, row.ReinterpretCast<float>(), kSide);  // [71 earlier] [72 here]
        if (scene.Keep(71)) Order<HardEvent::MTE1_M>();
        Mmad(c, a2, b2, table, MmadParams(kSide, kSide, kSide, 0, false, false));  // [71 here] [72 earlier] [73 here]
        if (scene.Keep(72)) Order<HardEvent::M_MTE1>();
        Order<HardEvent::M_FIX>();
        Fixpipe(scene.To()[tile * kMatrix], c, kWhole);  // [73 earlier]
        if (scene.Keep(73)) Order<HardEvent::FIX_M>();
        Order<HardEvent::MTE1_MTE2>();
    }
}

/* out = (A B^T) B^T, the first product as halves by way of L1; behind it the same once more, by way of global memory and L1. */
void rounds(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    const GlobalTensor<half> from = Halves(scene.in);
    const LocalTensor<half> a1(TPosition::A1, 0, kMatrix), b1(TPosition::B1, 512, kMatrix), d1(TPosition::A1, 1024, kMatrix);
    const LocalTensor<half> a2(TPosition::A2, 0, kMatrix), b2(TPosition::B2, 0, kMatrix);
    const LocalTensor<float> c(TPosition::CO1, 0, kMatrix), d(TPosition::CO1, 1024, kMatrix), back(TPosition::A1, 2048, kMatrix);
    DataCopy(a1, from, kMatrix);
    DataCopy(b1, from[kMatrix], kMatrix);
    Order<HardEvent::MTE2_MTE1>();
    LoadData(a2, a1, kFractal);
    LoadData(b2, b1, kFractal);
    Order<HardEvent::MTE1_M>();
    Mmad(c, a2, b2, MmadParams(kSide, kSide, kSide, 0, false, true));
    Order<HardEvent::M_FIX>();
    Order<HardEvent::M_MTE1>();
    FixpipeParamsV220 toHalf(kSide, kSide, kSide, kSide, false);
    toHalf.quantPre = QuantMode_t::F322F16;
    Fixpipe(d1, c, toHalf);  // [74 earlier]
    if (scene.Keep(74)) Order<HardEvent::FIX_MTE1>();
    LoadData(a2, d1, kFractal);  // [74 here]
    Order<HardEvent::MTE1_M>();
    Mmad(d, a2, b2, MmadParams(kSide, kSide, kSide, 0, false, true));
    Order<HardEvent::M_FIX>();
    Fixpipe(scene.To(), d, kWhole);  // [75 earlier]
    if (scene.Keep(75)) Order<HardEvent::FIX_MTE2>();
    DataCopy(back, scene.To(), kMatrix);  // [75 here]
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To()[kMatrix], back, kMatrix);
}

/* Results as bytes, by a factor for each column: parameters in front of the matrices. What comes out is not looked at. */
void columns(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    const GlobalTensor<half> from = Halves(scene.in);
    const LocalTensor<half> a1(TPosition::A1, 0, kMatrix), b1(TPosition::B1, 512, kMatrix), raw(TPosition::C1, 1024, 4 * kSide);
    const LocalTensor<half> a2(TPosition::A2, 0, kMatrix), b2(TPosition::B2, 0, kMatrix);
    const LocalTensor<float> c(TPosition::CO1, 0, kMatrix);
    DataCopy(a1, from, kMatrix);
    DataCopy(b1, from[kMatrix], kMatrix);
    Order<HardEvent::MTE2_MTE1>();
    DataCopy(raw, from[2 * kMatrix], 4 * kSide);  // [76 earlier]
    if (scene.Keep(76)) Order<HardEvent::MTE2_FIX>();
    LoadData(a2, a1, kFractal);
    LoadData(b2, b1, kFractal);
    Order<HardEvent::MTE1_M>();
    Mmad(c, a2, b2, MmadParams(kSide, kSide, kSide, 0, false, true));
    Order<HardEvent::M_FIX>();
    FixpipeParamsV220 byColumn(kSide, kSide, kSide, kSide, false);
    byColumn.quantPre = QuantMode_t::VQF322B8_PRE;
    GlobalTensor<int8_t> to;
    to.SetGlobalBuffer(reinterpret_cast<int8_t *>(scene.out));
    Fixpipe(to, c, raw.ReinterpretCast<uint64_t>(), byColumn);  // [76 here]
}

/* out = in by way of a queue of L1. */
void ringed(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TQueBind<TPosition::GM, TPosition::A1, 1> queue;
    pipe.InitBuffer(queue, 2, kTileBytes);
    const LocalTensor<float> a2(TPosition::A2, 0, kTile), b2(TPosition::B2, 0, kTile), c(TPosition::CO1, 0, kMatrix);
    const LoadData2DParams two(0, 2, 1, 0, 0, false, 0);
    for (uint32_t tile = 0; tile < scene.tiles; ++tile) {
        LocalTensor<float> a = queue.AllocTensor<float>();  // [78 here]
        DataCopy(a, scene.From()[tile * kTile], kTile);     // [77 here]
        queue.EnQue(a);
        a = queue.DeQue<float>();
        if (scene.Only(77)) queue.FreeTensor(a);
        LoadData(a2, a, two);  // [77 earlier]
        LoadData(b2, a[kTile / 2], two);
        if (scene.Keep(77) && scene.Keep(78)) queue.FreeTensor(a);
        Order<HardEvent::MTE1_M>();
        Mmad(c, a2, b2, MmadParams(kSide, kSide, kSide, 0, false, true));
        OrderBy<HardEvent::M_MTE1>(3); /* TPipe keeps 0 to 2 */
        Order<HardEvent::M_FIX>();
        Fixpipe(scene.To()[tile * kMatrix], c, kWhole);
        Order<HardEvent::FIX_M>();
    }
}

}  // namespace seeded
