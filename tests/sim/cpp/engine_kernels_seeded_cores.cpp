/* Kernels whose cores share global memory, by copies and by their scalar units (engine_seeded.h). */
#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

namespace {

/* This core's tile of `out` gets its number, times ten, in every element. */
void StoreOwn(const Scene &scene, const LocalTensor<float> &a, piton::Location at) {
    Duplicate(a, 10.0f * GetBlockIdx(), kTile);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To()[GetBlockIdx() * kTile], a, kTile, at);
}

/* The neighbour's tile goes to the second half of `out`. */
void PassOn(const Scene &scene, const LocalTensor<float> &a, uint32_t from, piton::Location at) {
    DataCopy(a, scene.To()[from * kTile], kTile, at);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(scene.To()[(GetBlockNum() + GetBlockIdx()) * kTile], a, kTile);
}

uint32_t Neighbour() { return static_cast<uint32_t>((GetBlockIdx() + 1) % GetBlockNum()); }

}  // namespace

void share(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    StoreOwn(scene, a, {});                                                   // [27 here]
    if (scene.Keep(27) && (scene.Keep(28) || GetBlockIdx() != 0)) SyncAll();  // [28 here] [29 here]
    PassOn(scene, a[kTile], Neighbour(), {});                                 // [27 other]
}

void cross(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    StoreOwn(scene, a, {});  // [53 here]
    if (scene.Only(30)) CrossCoreSetFlag<0, PIPE_V>(0);
    if (scene.Keep(30)) CrossCoreSetFlag<0, PIPE_MTE3>(0);
    if (scene.Only(54)) CrossCoreSetFlag<0, PIPE_MTE3>(3);  // [54 here]
    if (scene.Keep(53)) CrossCoreWaitFlag(0);
    PassOn(scene, a[kTile], Neighbour(), {});  // [30 here] [53 other]
}

/* Core 1 waits for core 0. */
void turn(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    const LocalTensor<int32_t> local = buffer.Get<int32_t>();
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer(reinterpret_cast<int32_t *>(scene.in));
    const bool isFirst = GetBlockIdx() == 0;
    if (isFirst && scene.Only(31)) IBSet(words, local, 0, 0);
    StoreOwn(scene, a, {});
    if (isFirst && scene.Keep(31) && scene.Keep(89)) IBSet(words, local, 0, 0);
    if (!isFirst) {
        IBWait(words, local, 0, 0);      // [89 here]
        PassOn(scene, a[kTile], 0, {});  // [31 here]
    }
}

/* Every core its tile. */
void own_tiles(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 2 * kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    Duplicate(a, 1.0f + GetBlockIdx(), 2 * kTile);
    Order<HardEvent::V_MTE3>();
    DataCopy(scene.To()[GetBlockIdx() * kTile], a, scene.Only(32) ? kTile + 8 : kTile);  // [32 here] [32 earlier]
}

/* Every core one number, in a cache line of its own. */
void count(const Scene &scene) {
    GlobalTensor<float> to = scene.To();
    const uint64_t at = GetBlockIdx() * (scene.Only(34) ? 1 : 16);
    to.SetValue(at, 1.0f + GetBlockIdx());  // [33 here] [34 here]
    if (scene.Keep(33)) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(to[at]);
}

/* The scalar unit looks at a number before and after a copy has replaced it; what it saw the second time goes to the second tile. */
void fresh(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    GlobalTensor<float> to = scene.To();
    DataCopy(a, scene.From(), kTile);
    Order<HardEvent::MTE2_MTE3>();
    const float before = to.GetValue(0);
    Order<HardEvent::S_MTE3>();
    DataCopy(to, a, kTile);
    Order<HardEvent::MTE3_S>();
    if (scene.Keep(35)) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(to);
    const float after = to.GetValue(0);  // [35 here]
    to.SetValue(kTile, after);
    (void)before;
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(to[kTile]);
}

/* The scalar unit leaves a number that a copy then loads. */
void fetch(const Scene &scene) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, kTileBytes);
    const LocalTensor<float> a = buffer.Get<float>();
    GlobalTensor<float> to = scene.To();
    to.SetValue(0, 5.0f);
    if (scene.Keep(36)) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(to);
    Order<HardEvent::S_MTE2>();
    DataCopy(a, to, 16);  // [36 here]
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(to[kTile], a, 16);
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(to);
}

}  // namespace seeded
