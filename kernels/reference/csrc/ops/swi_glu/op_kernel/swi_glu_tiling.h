/*
 * How the halves of swi_glu are cut; host code, but for the structure.
 *
 * Cores get shares of the output as in any elementwise kernel (tiling.h). Rows that are shorter than a tile go whole, several per tile: a strided copy brings a
 * tile's first halves, another its second ones, and shares end with a row. Longer rows are cut into pieces of nearly equal length, one per tile, and shares
 * end anywhere.
 */
#ifndef REFERENCE_SWI_GLU_TILING_H
#define REFERENCE_SWI_GLU_TILING_H

#include "../../../common/tiling.h"

struct SwiGluTiling {
    int64_t rows;
    int64_t columns;       // of one half
    common::Tiling flat;   // of the output as one run of elements
    uint32_t rowsPerTile;  // 0: pieces of rows
    uint32_t stride;       // elements of a row, or of the longest piece, in the unified buffer
};

constexpr int64_t kMostRowsPerTile = 4095;  // blocks of one copy

inline SwiGluTiling PlanSwiGlu(int64_t rows, int64_t columns, const common::KernelTraits &kernel) {
    const int64_t block = 32 / kernel.elementBytes;
    auto tiling = common::PlanTiling(rows * columns, kernel);
    const int64_t stride = common::RoundUp(columns, block);
    if (stride <= tiling.perTile) {
        const int64_t fitting = std::min<int64_t>(tiling.perTile / stride, kMostRowsPerTile);
        return {rows, columns, tiling, static_cast<uint32_t>(fitting), static_cast<uint32_t>(stride)};
    }
    const int64_t pieces = common::CeilDiv(columns, tiling.perTile);
    tiling.perTile = static_cast<uint32_t>(std::min<int64_t>(common::RoundUp(common::CeilDiv(columns, pieces), tiling.granule), tiling.perTile));
    return {rows, columns, tiling, 0, tiling.perTile};
}

#endif  // REFERENCE_SWI_GLU_TILING_H
