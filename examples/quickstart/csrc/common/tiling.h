/*
 * How one elementwise operator is spread over the vector cores and cut into tiles; host code.
 *
 * Goals, in this order: every core gets the same amount; a core starts at a multiple of 512 bytes, the burst that global memory likes best; a tile fills
 * the unified buffer (long transfers and few instructions), but a core has a few tiles so that load, compute and store overlap; small inputs use fewer
 * cores, because starting a core costs time too.
 */
#ifndef QUICKSTART_TILING_H
#define QUICKSTART_TILING_H

#include <algorithm>
#include <cstdint>

#include "platform/platform_ascendc.h"

namespace quickstart {

constexpr int64_t kBurstBytes = 512;         // largest burst of the memory engine
constexpr int64_t kMinBytesPerCore = 16384;  // below this another core costs more than it saves
constexpr int64_t kMinTileBytes = 8192;      // below this the set-up of a transfer outweighs the overlap it allows
constexpr int64_t kTilesToOverlap = 4;       // enough to keep load, compute and store busy at once

struct Tiling {
    uint32_t blocks;   // vector cores used
    int64_t perBlock;  // elements per core; the last core may get fewer
    uint32_t perTile;  // elements per tile
};

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

inline int64_t VectorCores() { return std::max<int64_t>(platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreNumAiv(), 1); }

inline int64_t UnifiedBufferBytes() {
    uint64_t bytes = 0;
    platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
    return static_cast<int64_t>(bytes);
}

/* `bufferBytes` is what the kernel keeps in the unified buffer per element of a tile, `fixedBytes` what it keeps besides. */
inline Tiling PlanTiling(int64_t elements, int64_t elementBytes, int64_t bufferBytes, int64_t fixedBytes) {
    const int64_t granule = kBurstBytes / elementBytes;
    const int64_t cores = std::clamp<int64_t>(elements * elementBytes / kMinBytesPerCore, 1, VectorCores());
    const int64_t perBlock = RoundUp(CeilDiv(elements, cores), granule);
    const int64_t largestTile = (UnifiedBufferBytes() - fixedBytes) / bufferBytes / granule * granule;
    const int64_t worthwhile = std::clamp<int64_t>(perBlock * elementBytes / kMinTileBytes, 1, kTilesToOverlap);
    const int64_t tiles = std::max(CeilDiv(perBlock, largestTile), worthwhile);
    const int64_t perTile = std::min(RoundUp(CeilDiv(perBlock, tiles), granule), largestTile);
    return {static_cast<uint32_t>(CeilDiv(elements, perBlock)), perBlock, static_cast<uint32_t>(perTile)};
}

}  // namespace quickstart

#endif  // QUICKSTART_TILING_H
