/* Kernels whose kind, number of cores, ids or masks matter (engine_seeded.h). */
#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

namespace {

/* Tile `number` of `in` goes to `out`. */
void CopyTile(const Scene &scene, uint32_t number, piton::Location load, piton::Location store) {
    const LocalTensor<float> a(TPosition::VECCALC, 0, kTile);
    DataCopy(a, scene.From()[number * kTile], kTile, load);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To()[number * kTile], a, kTile, store);
    Order<HardEvent::MTE3_MTE2>();
}

}  // namespace

/* out = in, by the vector cores of a kernel with both kinds of core. */
void strided(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
        return;
    }
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum() * (scene.Only(79) ? 1 : GetTaskRatio()));
    for (uint32_t tile = static_cast<uint32_t>(GetBlockIdx()); tile < scene.tiles; tile += cores) {
        CopyTile(scene, tile, {}, {});  // [79 here] [79 earlier]
    }
}

/* The same, by a share for each core. */
void shares(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
        return;
    }
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum() * (scene.Only(80) ? 1 : GetTaskRatio())), share = scene.tiles / cores;
    for (uint32_t i = 0; i < share; ++i) {
        CopyTile(scene, static_cast<uint32_t>(GetBlockIdx()) * share + i, {}, {});  // [80 here]
    }
}

/* Every core's number goes to `out`; then each core gets its neighbour's. */
void gathered(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(scene.Only(81) ? KERNEL_TYPE_AIV_ONLY : KERNEL_TYPE_MIX_AIV_1_0);  // [81 earlier]
    if (scene.Only(82)) KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);                         // [82 earlier]
    const LocalTensor<float> a(TPosition::VECCALC, 0, kTile);
    const uint32_t number = static_cast<uint32_t>(GetBlockIdx()), cores = static_cast<uint32_t>(GetBlockNum());
    Duplicate(a, 10.0f * number, kTile);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To()[number * kTile], a, kTile);
    const uint16_t id = scene.Only(83) ? 21 : scene.Only(84) ? 12 : 5;
    if (scene.Keep(81)) CrossCoreSetFlag<0, PIPE_MTE3>(id);  // [82 here] [83 here] [84 here]
    if (scene.Keep(81)) CrossCoreWaitFlag(id);
    if (scene.Only(81)) SyncAll();  // [81 here]
    Order<HardEvent::MTE3_MTE2>();
    DataCopy(a, scene.To()[(number + 1) % cores * kTile], kTile);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To()[(cores + number) * kTile], a, kTile);
}

/* out = in + 1 in the first half of every repeat, 2 in in the other; the mask is in the register. */
void halved(const Scene &scene) {
    const LocalTensor<float> a(TPosition::VECCALC, 0, kTile), b(TPosition::VECCALC, kTileBytes, kTile);
    DataCopy(a, scene.From(), kTile);
    OrderBy<HardEvent::MTE2_V>(scene.Only(86) ? 6 : 1);  // [86 here]
    if (scene.Keep(85)) Muls(b, a, 2.0f, kTile);
    SetVectorMask<float>(0, 0xffffffff);
    if (scene.Only(85)) Muls(b, a, 2.0f, kTile);                                 // [85 earlier]
    Adds<float, false>(b, a, 1.0f, MASK_PLACEHOLDER, kTile / 64, {1, 1, 8, 8});  // [85 here]
    ResetMask();
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To(), b, kTile);
}

/* The scalar unit leaves 24 numbers, in two lines of the cache. */
void lines(const Scene &scene) {
    GlobalTensor<float> to = scene.To();
    for (uint32_t i = 0; i < 24; ++i) {
        to.SetValue(8 + i, 1.0f * i);  // [87 here]
    }
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(to[8]);
    if (scene.Keep(87)) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(to[16]);
}

}  // namespace seeded
