/* A product on a cube core, through L1, L0A, L0B and L0C (engine_seeded.h). */
#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

/* out[16, 16] = twice the sum over tiles of A B^T, both 16 x 16 halves, one behind the other in `in`. The compiler inserts nothing on a cube core. */
void product(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    constexpr uint32_t n = 16 * 16;
    GlobalTensor<half> from;
    from.SetGlobalBuffer(reinterpret_cast<half *>(scene.in));
    const LocalTensor<half> a1(TPosition::A1, 0, n), b1(TPosition::B1, 512, n), a2(TPosition::A2, 0, n), b2(TPosition::B2, 0, n);
    const LocalTensor<float> c(TPosition::CO1, 0, n);
    const LoadData2DParams fractal(0, 1, 1, 0, 0, false, 0);
    for (uint32_t tile = 0; tile < scene.tiles; ++tile) {
        DataCopy(a1, from[2 * tile * n], n);  // [56 earlier] [59 here]
        DataCopy(b1, from[(2 * tile + 1) * n], n);
        if (scene.Keep(56)) Order<HardEvent::MTE2_MTE1>();
        LoadData(a2, a1, fractal);  // [56 here] [57 earlier] [58 here] [59 earlier]
        LoadData(b2, b1, fractal);
        if (scene.Keep(59)) Order<HardEvent::MTE1_MTE2>();
        if (scene.Keep(57)) Order<HardEvent::MTE1_M>();
        Mmad(c, a2, b2, MmadParams(16, 16, 16, 0, false, tile == 0));  // [57 here] [61 earlier]
        if (scene.Keep(61)) PipeBarrier<PIPE_M>();
        Mmad(c, a2, b2, MmadParams(16, 16, 16, 0, false, false));  // [58 earlier] [60 earlier] [61 here]
        if (scene.Keep(58)) Order<HardEvent::M_MTE1>();
    }
    if (scene.Keep(60)) Order<HardEvent::M_FIX>();
    Fixpipe(scene.To(), c, FixpipeParamsV220(16, 16, 16, 16, false));  // [60 here]
}

}  // namespace seeded
