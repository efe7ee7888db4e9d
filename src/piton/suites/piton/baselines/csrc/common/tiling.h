/* The plain split: all vector cores, equal shares, one tile size. */
#ifndef BASELINE_TILING_H
#define BASELINE_TILING_H

#include <cstdint>

#include "platform/platform_ascendc.h"

namespace baseline {

constexpr uint32_t kTileElements = 2048;

inline uint32_t VectorCores() {
    const auto cores = platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreNumAiv();
    return cores > 0 ? static_cast<uint32_t>(cores) : 1;
}

}  // namespace baseline

#endif  // BASELINE_TILING_H
