/* Kernels for a cube core and its two vector cores (engine_seeded.h): tiles go from vector cores through global memory to the cube core and back. */
#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

namespace {

constexpr uint32_t kThere = 1, kBack = 2, kTimes = 16;

/* Tile `to` of `out` gets `value` in every element. */
void StoreTile(const Scene &scene, uint32_t to, float value, piton::Location at) {
    const LocalTensor<float> a(TPosition::VECCALC, 0, kTile);
    Duplicate(a, value, kTile);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To()[to * kTile], a, kTile, at);
}

/* A cube core copies two tiles of `out` through L1. */
void Relay(const Scene &scene, uint32_t from, uint32_t to, piton::Location load, piton::Location store) {
    const LocalTensor<float> a(TPosition::A1, 0, 2 * kTile);
    DataCopy(a, scene.To()[from * kTile], 2 * kTile, load);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To()[to * kTile], a, 2 * kTile, store);
}

void Fetch(const Scene &scene, uint32_t from, uint32_t to, piton::Location at) {
    const LocalTensor<float> b(TPosition::VECCALC, kTileBytes, kTile);
    DataCopy(b, scene.To()[from * kTile], kTile, at);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To()[to * kTile], b, kTile);
}

void OnCube(const Scene &scene, uint32_t block, uint32_t tiles) {
    if (scene.Keep(62)) CrossCoreWaitFlag(kThere);       // [63 here] [65 here]
    Relay(scene, 2 * block, tiles + 2 * block, {}, {});  // [62 other] [66 other]
    if (scene.Keep(66)) CrossCoreSetFlag<2, PIPE_MTE3>(kBack);
    if (scene.Only(66)) CrossCoreSetFlag<2, PIPE_MTE2>(kBack);
    if (scene.Only(64)) CrossCoreSetFlag<2, PIPE_MTE3>(kBack);                                  // [64 here]
    for (uint32_t i = 0; i < kTimes && scene.Only(69); ++i) CrossCoreSetFlag<2, PIPE_MTE3>(3);  // [69 here]
}

void OnVector(const Scene &scene, uint32_t core, uint32_t tiles) {
    StoreTile(scene, core, 10.0f * core, {});  // [62 here]
    if (scene.Only(63)) CrossCoreSetFlag<1, PIPE_MTE3>(kThere);
    if (scene.Keep(63) && (scene.Keep(65) || GetSubBlockIdx() == 0)) CrossCoreSetFlag<2, PIPE_MTE3>(kThere);
    CrossCoreWaitFlag(kBack);
    Fetch(scene, tiles + core, 2 * tiles + core, {});  // [66 here]
    for (uint32_t i = 0; i < kTimes && scene.Only(69); ++i) CrossCoreWaitFlag(3);
}

}  // namespace

void relay(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    const uint32_t tiles = 2 * static_cast<uint32_t>(GetBlockNum()), number = static_cast<uint32_t>(GetBlockIdx());
    if ASCEND_IS_AIC {
        OnCube(scene, number, tiles);
    } else {
        OnVector(scene, number, tiles);
    }
}

/* The cube core copies the tiles of the next block. */
void meet(const Scene &scene) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    const uint32_t blocks = static_cast<uint32_t>(GetBlockNum()), number = static_cast<uint32_t>(GetBlockIdx());
    if ASCEND_IS_AIV {
        StoreTile(scene, number, 10.0f * number, {});  // [67 other]
    }
    if (scene.Only(67)) SyncAll<true>();
    if (scene.Keep(67) && (scene.Keep(68) || g_coreType == AIV)) SyncAll<false>();  // [68 here] [88 here]
    if ASCEND_IS_AIC {
        Relay(scene, 2 * ((number + 1) % blocks), 2 * (blocks + number), {}, {});  // [67 here]
    }
}

}  // namespace seeded
