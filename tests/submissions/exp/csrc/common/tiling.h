/*
 * How one elementwise operator is spread over the vector cores and cut into tiles; host code.
 *
 * Goals, in this order: every core gets the same amount; a core starts at a multiple of 512 bytes, the burst that global memory likes best; a tile fills
 * the unified buffer (long transfers, few instructions), but a core has a few tiles so that load, compute and store overlap; and no core is started that
 * costs more than it saves. Cores start one after another, so c of them delay the last by k c, while the work W takes W / c: the sum is least at
 * c = sqrt(W / k), and W / k is the number of elements over those that one core computes while another one starts.
 */
#ifndef EXP_SUBMISSION_TILING_H
#define EXP_SUBMISSION_TILING_H

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "platform/platform_ascendc.h"

namespace common {

constexpr int64_t kBurstBytes = 512;     // largest burst of the memory engine
constexpr int64_t kMinTileBytes = 8192;  // below this the set-up of a transfer outweighs the overlap it allows
constexpr int64_t kTilesToOverlap = 3;   // enough to keep load, compute and store busy at once

/* What the tiling has to know of a kernel. */
struct KernelTraits {
    int64_t elementBytes;       // in global memory
    int64_t bufferBytes;        // kept in the unified buffer per element of a tile
    int64_t fixedBytes;         // kept there besides
    int64_t elementsPerLaunch;  // what one core computes in the time that starting another one takes, about 0.1 us
};

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

inline int64_t WorthwhileCores(int64_t elements, int64_t elementsPerLaunch) {
    const auto cores = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(elements) / static_cast<double>(elementsPerLaunch))));
    return std::clamp<int64_t>(cores, 1, VectorCores());
}

inline Tiling PlanTiling(int64_t elements, const KernelTraits &kernel) {
    const int64_t granule = kBurstBytes / kernel.elementBytes;
    const int64_t perBlock = RoundUp(CeilDiv(elements, WorthwhileCores(elements, kernel.elementsPerLaunch)), granule);
    const int64_t largestTile = (UnifiedBufferBytes() - kernel.fixedBytes) / kernel.bufferBytes / granule * granule;
    const int64_t overlapping = std::clamp<int64_t>(perBlock * kernel.elementBytes / kMinTileBytes, 1, kTilesToOverlap);
    const int64_t tiles = std::max(CeilDiv(perBlock, largestTile), overlapping);
    const int64_t perTile = std::min(RoundUp(CeilDiv(perBlock, tiles), granule), largestTile);
    return {static_cast<uint32_t>(CeilDiv(elements, perBlock)), perBlock, static_cast<uint32_t>(perTile)};
}

}  // namespace common

#endif  // EXP_SUBMISSION_TILING_H
