/* Where a core's share begins, in granules, and how long it is; see PlanShares in tiling.h. */
#ifndef REFERENCE_SHARES_H
#define REFERENCE_SHARES_H

#include "kernel_operator.h"

#include "tiling.h"

namespace common {

__host_aicore__ inline int64_t StartOf(const Shares &shares, int64_t block) { return block * shares.first - shares.fewer * (block * (block - 1) / 2); }

__host_aicore__ inline int64_t LengthOf(const Shares &shares, int64_t block) { return shares.first - shares.fewer * block; }

}  // namespace common

#endif  // REFERENCE_SHARES_H
