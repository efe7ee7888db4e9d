/*
 * How one elementwise operator is spread over the vector cores and cut into tiles; host code.
 *
 * Goals, in this order: every core gets the same amount; a core starts at a multiple of 512 bytes, the burst that global memory likes best; a tile fills
 * the unified buffer (long transfers, few instructions), but a core has a few tiles so that load, compute and store overlap; and no core is started that
 * costs more than it saves. Cores start one after another, so c of them delay the last by k c, while the work W takes W / c: the sum is least at
 * c = sqrt(W / k), and W / k is the number of elements over those that one core computes while another one starts.
 *
 * Where shares may differ, each core gets less than the one before by what that one has done when it starts, so that all end together: then the last one's
 * share vanishes at c = sqrt(2 W / k), and the time is 0.7 of that above. With many cores memory sets the pace, and what a core has done meanwhile is less.
 */
#ifndef REFERENCE_TILING_H
#define REFERENCE_TILING_H

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "platform/platform_ascendc.h"

namespace common {

constexpr int64_t kBurstBytes = 512;            // largest burst of the memory engine
constexpr int64_t kMinTileBytes = 8192;         // below this the set-up of a transfer outweighs the overlap it allows
constexpr int64_t kTilesToOverlap = 3;          // enough to keep load, compute and store busy at once
constexpr int64_t kCoreBytesPerLaunch = 8000;   // what one core loads while another one starts, at the 70 GB/s it gets among few
constexpr int64_t kAllBytesPerLaunch = 184000;  // what all cores load meanwhile, at 1.6 TB/s

/* What the tiling has to know of a kernel. */
struct KernelTraits {
    int64_t elementBytes;       // in global memory
    int64_t bufferBytes;        // kept in the unified buffer per element of a tile
    int64_t fixedBytes;         // kept there besides
    int64_t elementsPerLaunch;  // what one core computes in the time that starting another one takes, about 0.1 us
    int64_t loadedBytes;        // per element, all inputs
};

/* In granules: what the first core gets, and how much less than the one before each other core does. */
struct Shares {
    int64_t first;
    int64_t fewer;
};

struct Tiling {
    uint32_t blocks;  // vector cores used; the last one may get less than its share
    Shares shares;
    uint32_t granule;  // elements
    uint32_t perTile;  // elements, a multiple of the granule
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

/* `work` is what counts for the number of cores: `elements`, or more. */
inline Shares PlanShares(int64_t granules, int64_t granule, int64_t work, const KernelTraits &kernel) {
    const int64_t cores = std::min(WorthwhileCores(2 * work, kernel.elementsPerLaunch), granules);
    const int64_t loaded = std::min(kCoreBytesPerLaunch, kAllBytesPerLaunch / cores) / kernel.loadedBytes;
    // A core's share is at least a granule: the last one's is granules / cores^2 and more.
    const int64_t fewer = std::min(std::min(kernel.elementsPerLaunch, loaded) / granule, 2 * (granules / cores) / cores);
    const int64_t first = CeilDiv(granules + fewer * (cores * (cores - 1) / 2), cores);
    return {first, fewer};
}

inline uint32_t BlocksOf(const Shares &shares, int64_t granules) {
    uint32_t blocks = 0;
    for (int64_t dealt = 0; dealt < granules; ++blocks) {
        dealt += shares.first - shares.fewer * blocks;
    }
    return blocks;
}

inline uint32_t PlanTile(const Shares &shares, int64_t granule, const KernelTraits &kernel) {
    const int64_t most = shares.first * granule;
    const int64_t largestTile = (UnifiedBufferBytes() - kernel.fixedBytes) / kernel.bufferBytes / granule * granule;
    const int64_t overlapping = std::clamp<int64_t>(most * kernel.elementBytes / kMinTileBytes, 1, kTilesToOverlap);
    const int64_t tiles = std::max(CeilDiv(most, largestTile), overlapping);
    return static_cast<uint32_t>(std::min(RoundUp(CeilDiv(most, tiles), granule), largestTile));
}

inline Tiling PlanTiling(int64_t elements, const KernelTraits &kernel) {
    const int64_t granule = kBurstBytes / kernel.elementBytes;
    const int64_t granules = CeilDiv(elements, granule);
    const Shares shares = PlanShares(granules, granule, elements, kernel);
    return {BlocksOf(shares, granules), shares, static_cast<uint32_t>(granule), PlanTile(shares, granule, kernel)};
}

}  // namespace common

#endif  // REFERENCE_TILING_H
