/* How softmax_strips.h cuts its work: strips over the cores, chunks of lines along the axis; host code, but for the structures. */
#ifndef REFERENCE_SOFTMAX_TILING_H
#define REFERENCE_SOFTMAX_TILING_H

#include "../../../common/row_tiling.h"

/* What a launch does with its strips. */
enum class StripPhase { kAll, kSums, kResults };

struct StripTiling {
    int64_t strips;
    int64_t stripsPerOuter;
    int64_t length;    // lines of a strip; of a row, its pieces of 64
    int64_t inner;     // elements from line to line; of a row, its length
    int64_t perPiece;  // lines of a strip; less than `length` only in pieces of rows
    uint32_t width;    // lanes of a strip; its last one may have fewer
    uint32_t stride;   // elements from line to line in the unified buffer
    uint32_t linesPerChunk;
    uint32_t chunks;   // per strip
    uint32_t missing;  // elements that the last piece of a row lacks
    uint32_t blocks;   // vector cores used
    uint32_t pieces;   // strips of a row; 1 of everything else
    bool isRow;
};

/* What the tiling has to know of the kernel. */
struct StripTraits {
    int64_t bytesPerElement;
    int64_t bytesPerLane;
    int64_t fixedBytes;
};

constexpr int64_t kMostLines = 4095;  // of one copy
constexpr int64_t kLaneGranule = 16;  // a strip's width is a multiple: 32 bytes of a 16-bit type
constexpr int64_t kWidest = 512;      // lanes; more would leave few lines per chunk
constexpr int64_t kRowWidth = 64;     // lanes of a row: one vector instruction's floats

/* Chunks of equal size, as few as fit. */
inline void CutIntoChunks(StripTiling &tiling, const StripTraits &kernel) {
    const int64_t room = common::UnifiedBufferBytes() - kernel.fixedBytes - tiling.stride * kernel.bytesPerLane;
    const int64_t most = std::min(room / (tiling.stride * kernel.bytesPerElement), kMostLines);
    tiling.chunks = static_cast<uint32_t>(common::CeilDiv(tiling.perPiece, most));
    tiling.linesPerChunk = static_cast<uint32_t>(common::CeilDiv(tiling.perPiece, tiling.chunks));
    tiling.blocks = static_cast<uint32_t>(std::min(tiling.strips, common::VectorCores()));
}

/* What the busiest core has to do, in units that count both the vector unit's 64 lanes and the bytes that are moved. */
inline int64_t BusiestCore(int64_t outer, int64_t inner, int64_t width) {
    const int64_t strips = outer * common::CeilDiv(inner, width);
    return common::CeilDiv(strips, common::VectorCores()) * (common::RoundUp(width, kRowWidth) + width);
}

/* The width that gives the busiest core the least; the wider one of two equals, for its longer bursts. */
inline int64_t StripWidth(int64_t outer, int64_t inner) {
    int64_t best = kLaneGranule;
    for (int64_t width = kLaneGranule; width <= std::min(common::RoundUp(inner, kLaneGranule), kWidest); width += kLaneGranule) {
        best = BusiestCore(outer, inner, width) <= BusiestCore(outer, inner, best) ? width : best;
    }
    return best;
}

inline StripTiling PlanColumns(int64_t outer, int64_t length, int64_t inner, const StripTraits &kernel) {
    const int64_t width = StripWidth(outer, inner), perOuter = common::CeilDiv(inner, width);
    const auto lanes = static_cast<uint32_t>(width);
    StripTiling tiling{outer * perOuter, perOuter, length, inner, length, lanes, lanes, 0, 0, 0, 0, 1, false};
    CutIntoChunks(tiling, kernel);
    return tiling;
}

/* Each row is a strip of its own, or of a few very long ones a piece, one per core. */
inline StripTiling PlanLongRows(int64_t rows, int64_t columns, const StripTraits &kernel) {
    using namespace common;
    const int64_t lines = CeilDiv(columns, kRowWidth), perPiece = CeilDiv(lines, PiecesPerRow(rows, columns)), pieces = CeilDiv(lines, perPiece);
    const auto missing = static_cast<uint32_t>(lines * kRowWidth - columns);
    StripTiling tiling{rows * pieces, 1, lines, columns, perPiece, kRowWidth, kRowWidth, 0, 0, missing, 0, static_cast<uint32_t>(pieces), true};
    CutIntoChunks(tiling, kernel);
    return tiling;
}

#endif  // REFERENCE_SOFTMAX_TILING_H
