/* How a matrix whose rows are independent is spread over the vector cores and cut into tiles of whole rows; host code, but for the structures. */
#ifndef REFERENCE_ROW_TILING_H
#define REFERENCE_ROW_TILING_H

#include "tiling.h"

namespace common {

constexpr int64_t kRowGranule = 64;      // elements; rows of whole vector instructions need no masks
constexpr int64_t kMostRows = 248;       // per tile: one instruction's repeats, in whole groups of eight (Brcb)
constexpr int64_t kRoundingBytes = 512;  // what is kept per row is kept for whole groups of eight
constexpr int64_t kPadBytes = 256;       // room for moving one tensor to the other half of the bank groups

/* What the tiling has to know of a kernel. */
struct RowTraits {
    int64_t elementBytes;           // in global memory
    int64_t bytesPerElement;        // kept in the unified buffer per element of a tile
    int64_t bytesPerRow;            // kept there besides per row of a tile
    int64_t fixedBytesPerColumn;    // kept there once, per column
    int64_t elementsPerLaunch;      // what one core computes in the time that starting another one takes, about 0.1 us
    int64_t fixedBytes = 0;         // kept there once
    int64_t granule = kRowGranule;  // elements; what rows are rounded up to in the unified buffer
};

struct RowTiling {
    int64_t rows;
    int64_t columns;
    uint32_t blocks;       // vector cores used
    uint32_t stride;       // elements from row to row in the unified buffer
    uint32_t rowsPerTile;  // 0: not even one row fits
};

inline RowTiling PlanRows(int64_t rows, int64_t columns, const RowTraits &kernel) {
    const int64_t stride = RoundUp(columns, kernel.granule);
    const int64_t room = UnifiedBufferBytes() - kRoundingBytes - kPadBytes - kernel.fixedBytes - stride * kernel.fixedBytesPerColumn;
    const int64_t perRow = stride * kernel.bytesPerElement + kernel.bytesPerRow;
    const int64_t fitting = std::clamp<int64_t>(room / perRow, 0, kMostRows);
    const int64_t blocks = std::min(WorthwhileCores(rows * columns, kernel.elementsPerLaunch), rows);
    const int64_t perBlock = CeilDiv(rows, blocks);
    const int64_t overlapping = std::clamp<int64_t>(perBlock * stride * kernel.elementBytes / kMinTileBytes, 1, kTilesToOverlap);
    const int64_t tiles = std::max(CeilDiv(perBlock, std::max<int64_t>(fitting, 1)), overlapping);
    const int64_t perTile = std::min(CeilDiv(perBlock, tiles), fitting);
    return {rows, columns, static_cast<uint32_t>(blocks), static_cast<uint32_t>(stride), static_cast<uint32_t>(perTile)};
}

/*
 * Into how many pieces each of a few long rows is cut, one core for each, when that takes a launch for the sums of the pieces and another one for the results:
 * 1 unless it saves more than the second launch costs. Every core that is started costs about as much as 2,000 elements, counting both launches.
 */
inline int64_t PiecesPerRow(int64_t rows, int64_t columns) {
    constexpr int64_t kElementsPerCore = 2000, kElementsPerLaunch = 80000;
    const int64_t pieces = std::max<int64_t>(WorthwhileCores(rows * columns, kElementsPerCore) / rows, 1);
    return columns - columns / pieces > kElementsPerLaunch ? pieces : 1;
}

}  // namespace common

#endif  // REFERENCE_ROW_TILING_H
