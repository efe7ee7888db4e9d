/*
 * How the halves of swi_glu are cut; host code, but for the structure.
 *
 * Rows that are shorter than a tile go whole, several per tile: a strided copy brings a tile's first halves, another its second ones. Longer rows are cut into
 * pieces of equal length that begin at multiples of 512 bytes, one per tile. How many pieces a row gets is tried out: cores work on whole pieces, so that
 * the busiest one decides, and each piece has its price beside its elements.
 */
#ifndef REFERENCE_SWI_GLU_TILING_H
#define REFERENCE_SWI_GLU_TILING_H

#include "../../../common/tiling.h"

struct SwiGluTiling {
    int64_t rows;
    int64_t columns;   // of one half
    int64_t pieces;    // per row
    uint32_t piece;    // columns of a piece; the last one of a row may have fewer
    uint32_t stride;   // elements from piece to piece in the unified buffer
    uint32_t perTile;  // pieces; 1 where a row has several
    uint32_t blocks;   // vector cores
};

constexpr int64_t kPieceCost = 300;      // elements that are computed in the time that a piece takes beside its own
constexpr int64_t kMostRowsTile = 4095;  // blocks of one copy
constexpr int64_t kTries = 8;

inline int64_t PieceLength(int64_t columns, int64_t pieces, int64_t granule) {
    return pieces == 1 ? columns : common::RoundUp(common::CeilDiv(columns, pieces), granule);
}

/* Elements of the busiest core, prices included. */
inline int64_t BusiestCore(int64_t rows, int64_t columns, int64_t pieces, int64_t granule, int64_t cores) {
    const int64_t length = PieceLength(columns, pieces, granule);
    return common::CeilDiv(rows * common::CeilDiv(columns, length), cores) * (length + kPieceCost);
}

/* Pieces of a row, at least `least`, for the least work of the busiest core. */
inline int64_t PlanPieces(int64_t rows, int64_t columns, int64_t least, int64_t granule, int64_t cores) {
    int64_t best = least;
    const int64_t turns = common::CeilDiv(rows * least, cores);
    for (int64_t tried = 0; tried < 2 * kTries; ++tried) {
        const int64_t pieces = tried < kTries ? least + tried : (turns + tried - kTries) * cores / rows;
        if (pieces >= least && BusiestCore(rows, columns, pieces, granule, cores) < BusiestCore(rows, columns, best, granule, cores)) {
            best = pieces;
        }
    }
    return best;
}

inline SwiGluTiling PlanSwiGlu(int64_t rows, int64_t columns, const common::KernelTraits &kernel) {
    const int64_t granule = common::kBurstBytes / kernel.elementBytes, block = 32 / kernel.elementBytes;
    const int64_t largest = common::UnifiedBufferBytes() / kernel.bufferBytes / granule * granule;
    const int64_t cores = common::WorthwhileCores(rows * columns, kernel.elementsPerLaunch);
    const int64_t planned = PlanPieces(rows, columns, common::CeilDiv(columns, largest), granule, cores);
    const int64_t piece = PieceLength(columns, planned, granule), pieces = common::CeilDiv(columns, piece);
    const int64_t stride = common::RoundUp(piece, block), all = rows * pieces;
    const int64_t blocks = std::min(cores, all), perBlock = common::CeilDiv(all, blocks);
    const int64_t overlapping = std::clamp<int64_t>(perBlock * stride * kernel.elementBytes / common::kMinTileBytes, 1, common::kTilesToOverlap);
    const int64_t fitting = pieces > 1 ? 1 : std::min(largest / stride, kMostRowsTile);
    const int64_t perTile = std::min(common::CeilDiv(perBlock, std::max(common::CeilDiv(perBlock, fitting), overlapping)), fitting);
    return {rows, columns, pieces, static_cast<uint32_t>(piece), static_cast<uint32_t>(stride), static_cast<uint32_t>(perTile), static_cast<uint32_t>(blocks)};
}

#endif  // REFERENCE_SWI_GLU_TILING_H
