/*
 * How a tensor is cut along one axis into units, and these into tiles of lanes (lanes.h); host code, but for the structure.
 *
 * Along the last axis a unit is some rows, each with a lane for every segment of it that a tile holds; where rows are few, a part of a row that is handled as
 * eight rows. Along another axis a unit is a strip of columns, a lane each.
 */
#ifndef REFERENCE_AXIS_TILING_H
#define REFERENCE_AXIS_TILING_H

#include <numeric>

#include "axis_shape.h"
#include "tiling.h"

namespace common {

enum class AxisMode : int32_t { kRows, kParts, kLines };

struct AxisTiling {
    AxisMode mode;
    int64_t outer;
    int64_t length;
    int64_t inner;
    int64_t units;
    int64_t perOuter;  // kParts: parts of a row; kLines: strips
    int64_t pitch;     // elements from row to row in device memory
    int64_t span;      // elements of a row; kParts: of an eighth of a part, at least the pitch
    uint32_t outers;   // of a unit: rows, or outer indices side by side
    uint32_t width;    // kLines: lanes of one outer index, in the unified buffer
    uint32_t perTile;  // elements along the axis
    uint32_t lines;    // of a tile
    uint32_t lanes;
    uint32_t blocks;  // vector cores used
};

/* What the tiling has to know of a kernel. */
struct AxisTraits {
    int64_t elementBytes;
    int64_t perSegment;    // elements of a segment of a row
    int64_t bytesOfRows;   // kept in the unified buffer per element of a tile of rows
    int64_t bytesOfLines;  // the same for lines
    int64_t bytesPerLane;
    int64_t fixedBytes;
    int64_t elementsPerLaunch;  // what one core computes in the time that starting another one takes, about 0.1 us
    int64_t priceOfParts;       // of an element of a row in parts, in percent of what it is otherwise
};

constexpr int64_t kSelectScratch = 8192;  // Select's, at the end of the unified buffer
constexpr int64_t kMostUnitRows = 240;    // one instruction's repeats, in whole groups of eight
constexpr int64_t kLaneGranule = 64;      // lanes come in whole vector instructions
constexpr int64_t kMostCopied = 4095;     // blocks of one copy
constexpr int64_t kWorthParts = 4096;     // elements: shorter rows are not cut
constexpr int64_t kPartRows = 8;
constexpr int64_t kWidestStrip = 2048;

inline int64_t RoomForTiles(const AxisTraits &kernel) { return UnifiedBufferBytes() - kSelectScratch - kernel.fixedBytes; }

/* Rows of `span` elements: whole ones in a tile, as many as are useful, or eight and as much of them as fits. */
inline void CutRows(AxisTiling &tiling, int64_t span, int64_t mostRows, const AxisTraits &kernel) {
    const int64_t fitting = RoomForTiles(kernel) * kernel.perSegment / (kernel.bytesOfRows * kernel.perSegment + kernel.bytesPerLane);
    int64_t segments = RoundUp(CeilDiv(span, kernel.perSegment), 2), granule = std::max(kPartRows, kLaneGranule / std::gcd(segments, kLaneGranule));
    const bool isTooMuch = granule > RoundUp(mostRows, kPartRows) || granule * segments * kernel.perSegment > fitting || segments >= kLaneGranule;
    if (granule > kPartRows && isTooMuch) {
        segments = RoundUp(segments, kLaneGranule / kPartRows);
        granule = kPartRows;
    }
    int64_t rows = std::min({fitting / (segments * kernel.perSegment), mostRows, kMostUnitRows}) / granule * granule;
    if (fitting < granule * segments * kernel.perSegment) {
        const int64_t most = fitting / kPartRows / kernel.perSegment / kPartRows * kPartRows;
        segments = RoundUp(CeilDiv(CeilDiv(span, CeilDiv(span, most * kernel.perSegment)), kernel.perSegment), kPartRows);
    }
    rows = std::max(rows, granule);
    tiling.outers = static_cast<uint32_t>(rows);
    tiling.perTile = static_cast<uint32_t>(segments * kernel.perSegment);
    tiling.lines = static_cast<uint32_t>(kernel.perSegment);
    tiling.lanes = static_cast<uint32_t>(segments * rows);
}

inline AxisTiling PlanWholeRows(const AxisShape &shape, const AxisTraits &kernel) {
    const int64_t rows = shape.outer, cores = WorthwhileCores(rows * shape.length, kernel.elementsPerLaunch);
    const int64_t perCore = CeilDiv(rows, cores), bytes = perCore * shape.length * kernel.elementBytes;
    const int64_t tiles = std::clamp<int64_t>(bytes / (2 * kMinTileBytes), 1, kTilesToOverlap);
    AxisTiling tiling{AxisMode::kRows, rows, shape.length, 1, 0, 1, shape.length, shape.length, 0, 0, 0, 0, 0, 0};
    CutRows(tiling, shape.length, RoundUp(CeilDiv(perCore, tiles), kPartRows), kernel);
    tiling.units = CeilDiv(rows, tiling.outers);
    tiling.blocks = static_cast<uint32_t>(std::min(cores, tiling.units));
    return tiling;
}

/* Parts of eight rows of `pitch` elements, which are whole tiles; of the last part some rows are short or empty. */
inline AxisTiling PlanExactParts(const AxisShape &shape, const AxisTraits &kernel) {
    const int64_t cores = WorthwhileCores(shape.outer * shape.length, kernel.elementsPerLaunch);
    const int64_t wanted = std::clamp<int64_t>(cores / shape.outer, 1, shape.length / kWorthParts);
    const int64_t pitch = RoundUp(CeilDiv(shape.length, wanted * kPartRows), kBurstBytes / kernel.elementBytes);
    AxisTiling tiling{AxisMode::kParts, shape.outer, shape.length, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    CutRows(tiling, pitch, kPartRows, kernel);
    tiling.pitch = tiling.span = RoundUp(pitch, tiling.perTile);
    tiling.perOuter = CeilDiv(shape.length, tiling.pitch * kPartRows);
    tiling.units = shape.outer * tiling.perOuter;
    tiling.blocks = static_cast<uint32_t>(std::min(cores, tiling.units));
    return tiling;
}

/* Parts that are full: the last one overlaps the one before, and where eighths would not come out even they overlap each other. */
inline AxisTiling PlanFullParts(const AxisShape &shape, const AxisTraits &kernel) {
    AxisTiling tiling = PlanExactParts(shape, kernel);
    if (tiling.perOuter == 1) {
        tiling.pitch = shape.length / kPartRows;
        tiling.span = shape.length - (kPartRows - 1) * tiling.pitch;
        CutRows(tiling, tiling.span, kPartRows, kernel);
    }
    return tiling;
}

/* Few rows leave cores idle, or some of them with one group of rows more than others: then rows are cut. */
inline bool IsWorthParts(const AxisShape &shape, const AxisTraits &kernel) {
    if (shape.inner > 1 || shape.length < kWorthParts) {
        return false;
    }
    const int64_t whole = CeilDiv(CeilDiv(shape.outer, kPartRows), VectorCores()) * kPartRows * 100;
    const int64_t cut = shape.outer < VectorCores() ? 0 : CeilDiv(shape.outer, VectorCores()) * kernel.priceOfParts;
    return cut < whole;
}

/* The width that gives the busiest core the least, lanes and bytes alike; the wider one of two equals, for its longer bursts. */
inline int64_t StripWidth(int64_t outer, int64_t inner, int64_t most) {
    const auto busiest = [&](int64_t width) { return CeilDiv(outer * CeilDiv(inner, width), VectorCores()) * (width + kLaneGranule / 2); };
    int64_t best = kLaneGranule;
    for (int64_t width = kLaneGranule; width <= std::min(RoundUp(inner, kLaneGranule), most); width += kLaneGranule) {
        best = busiest(width) <= busiest(best) ? width : best;
    }
    return best;
}

inline AxisTiling PlanLines(const AxisShape &shape, const AxisTraits &kernel) {
    const int64_t cores = WorthwhileCores(shape.outer * shape.length * shape.inner, kernel.elementsPerLaunch);
    const int64_t shortest = std::min<int64_t>(shape.length, 16);  // lines that a tile should have room for
    const int64_t fitting = RoomForTiles(kernel) / (shortest * kernel.bytesOfLines + kernel.bytesPerLane) / kLaneGranule * kLaneGranule;
    const int64_t most = std::clamp(fitting, kLaneGranule, kWidestStrip), lanesEach = RoundUp(shape.inner, std::max<int64_t>(32 / kernel.elementBytes, 8));
    AxisTiling tiling{AxisMode::kLines, shape.outer, shape.length, shape.inner, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0};
    const int64_t together = std::min({most / lanesEach, CeilDiv(shape.outer, kTilesToOverlap * cores), kMostUnitRows});
    if (together > 1) {
        tiling.outers = static_cast<uint32_t>(together);
        tiling.width = static_cast<uint32_t>(lanesEach);
        tiling.lanes = static_cast<uint32_t>(RoundUp(together * lanesEach, kLaneGranule));
    } else {
        tiling.lanes = tiling.width = static_cast<uint32_t>(StripWidth(shape.outer, shape.inner, most));
        tiling.perOuter = CeilDiv(shape.inner, tiling.width);
    }
    const int64_t lines = (RoomForTiles(kernel) - tiling.lanes * kernel.bytesPerLane) / (tiling.lanes * kernel.bytesOfLines);
    const int64_t chunks = CeilDiv(shape.length, std::min(lines, kMostCopied));
    tiling.perTile = tiling.lines = static_cast<uint32_t>(CeilDiv(shape.length, chunks));
    tiling.units = CeilDiv(shape.outer, tiling.outers) * tiling.perOuter;
    tiling.blocks = static_cast<uint32_t>(std::min(cores, tiling.units));
    return tiling;
}

}  // namespace common

#endif  // REFERENCE_AXIS_TILING_H
