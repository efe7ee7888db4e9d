/* How arg_max is cut into units of lanes and these into tiles along the axis; host code, but for the structure. */
#ifndef REFERENCE_ARG_MAX_TILING_H
#define REFERENCE_ARG_MAX_TILING_H

#include <numeric>

#include "../../../common/tiling.h"
#include "arg_max_launch.h"

enum class ArgMaxMode : int32_t {
    kRows,   // the axis is the last: a unit is some rows
    kParts,  // the same, but few rows: a unit is a part of a row, cut into eight
    kLines,  // another axis: a unit is a strip of columns
};

struct ArgMaxTiling {
    ArgMaxMode mode;
    int64_t outer;
    int64_t length;
    int64_t inner;
    int64_t units;
    int64_t perOuter;  // kParts: parts of a row; kLines: strips
    int64_t pitch;     // elements from row to row in device memory
    int64_t span;      // elements of a row; kParts: of an eighth of a part, at least the pitch
    uint32_t outers;   // of a unit: rows, or outer indices side by side
    uint32_t width;    // kLines: lanes of one outer index, in the unified buffer
    uint32_t perTile;  // along the axis
    uint32_t lines;    // of a tile
    uint32_t lanes;
    uint32_t blocks;  // vector cores used
};

/* What the tiling has to know of the kernel. */
struct ArgMaxTraits {
    int64_t elementBytes;
    int64_t perSegment;      // keys of a segment of a row
    int64_t bytesOfRows;     // kept in the unified buffer per element of a tile
    int64_t bytesOfLines;
    int64_t bytesPerLane;
    int64_t fixedBytes;
    int64_t elementsPerLaunch;
};

constexpr int64_t kArgMaxScratch = 8192;   // of Select, at the end of the unified buffer
constexpr int64_t kArgMaxMostRows = 240;   // one instruction's repeats, in whole groups of eight
constexpr int64_t kArgMaxWordLanes = 64;   // lanes come in whole vector instructions
constexpr int64_t kArgMaxMostLines = 4095;  // of one copy
constexpr int64_t kArgMaxWorthParts = 4096;  // elements: shorter rows are not cut
constexpr int64_t kArgMaxPartRows = 8;
constexpr int64_t kArgMaxPartRecord = 32;  // bytes: a part's key and place

inline int64_t ArgMaxRoom(const ArgMaxTraits &kernel) { return common::UnifiedBufferBytes() - kArgMaxScratch - kernel.fixedBytes; }

/* The busiest core's share, in rows. */
inline int64_t ArgMaxBusiest(int64_t units, int64_t rowsPerUnit) { return common::CeilDiv(units, common::VectorCores()) * rowsPerUnit; }

/* Rows of `span` elements: all of it in a tile with as many rows as are useful, or eight rows and as much as fits. */
inline void CutRows(ArgMaxTiling &tiling, int64_t span, int64_t mostRows, const ArgMaxTraits &kernel) {
    using namespace common;
    const int64_t lanesPerRow = kernel.bytesPerLane / kernel.perSegment;
    const int64_t fitting = ArgMaxRoom(kernel) / (kernel.bytesOfRows + lanesPerRow);
    int64_t segments = RoundUp(CeilDiv(span, kernel.perSegment), 2);
    int64_t granule = std::max<int64_t>(8, kArgMaxWordLanes / std::gcd(segments, kArgMaxWordLanes));
    if (granule > 8 && (granule > RoundUp(mostRows, 8) || granule * segments * kernel.perSegment > fitting || segments >= 64)) {
        segments = RoundUp(segments, 8);
        granule = 8;
    }
    const int64_t perRow = segments * kernel.perSegment;
    int64_t rows = std::min({fitting / perRow, mostRows, kArgMaxMostRows}) / granule * granule;
    if (fitting / perRow < granule) {
        rows = 8;
        segments = fitting / rows / kernel.perSegment / 8 * 8;
    }
    rows = std::max(rows, granule);
    tiling.outers = static_cast<uint32_t>(rows);
    tiling.perTile = static_cast<uint32_t>(segments * kernel.perSegment);
    tiling.lines = static_cast<uint32_t>(kernel.perSegment);
    tiling.lanes = static_cast<uint32_t>(segments * rows);
}

inline ArgMaxTiling PlanArgMaxRows(const ArgMaxShape &shape, const ArgMaxTraits &kernel) {
    using namespace common;
    const int64_t rows = shape.outer, cores = WorthwhileCores(rows * shape.length, kernel.elementsPerLaunch);
    const int64_t perCore = CeilDiv(rows, cores), bytes = perCore * shape.length * kernel.elementBytes;
    const int64_t tiles = std::clamp<int64_t>(bytes / (2 * kMinTileBytes), 1, kTilesToOverlap);
    ArgMaxTiling tiling{ArgMaxMode::kRows, rows, shape.length, 1, 0, 1, shape.length, shape.length, 0, 0, 0, 0, 0, 0};
    CutRows(tiling, shape.length, std::max<int64_t>(RoundUp(CeilDiv(perCore, tiles), 8), 8), kernel);
    tiling.units = CeilDiv(rows, tiling.outers);
    tiling.blocks = static_cast<uint32_t>(std::min(cores, tiling.units));
    return tiling;
}

/* Each row into parts, these into eight rows; the last part overlaps the one before, and the eighths overlap where they do not come out even. */
inline ArgMaxTiling PlanArgMaxParts(const ArgMaxShape &shape, const ArgMaxTraits &kernel) {
    using namespace common;
    const int64_t cores = WorthwhileCores(shape.outer * shape.length, kernel.elementsPerLaunch);
    const int64_t wanted = std::clamp<int64_t>(cores / shape.outer, 1, shape.length / kArgMaxWorthParts);
    int64_t pitch = RoundUp(CeilDiv(shape.length, wanted * kArgMaxPartRows), kBurstBytes / kernel.elementBytes), span = pitch;
    if (pitch * kArgMaxPartRows > shape.length) {
        pitch = shape.length / kArgMaxPartRows;
        span = shape.length - (kArgMaxPartRows - 1) * pitch;
    }
    const int64_t parts = CeilDiv(shape.length, (kArgMaxPartRows - 1) * pitch + span);
    ArgMaxTiling tiling{ArgMaxMode::kParts, shape.outer, shape.length, 1, shape.outer * parts, parts, pitch, span, 0, 0, 0, 0, 0, 0};
    CutRows(tiling, span, kArgMaxPartRows, kernel);
    tiling.blocks = static_cast<uint32_t>(std::min(cores, tiling.units));
    return tiling;
}

/* Few rows leave cores idle, or some with one group more than others: then each is cut. */
inline bool IsArgMaxInParts(const ArgMaxShape &shape) {
    if (shape.inner > 1 || shape.length < kArgMaxWorthParts) {
        return false;
    }
    const int64_t whole = ArgMaxBusiest(common::CeilDiv(shape.outer, 8), 8);
    return shape.outer < common::VectorCores() || ArgMaxBusiest(shape.outer, 1) * 5 / 4 < whole;
}

/* The width that gives the busiest core the least, lanes and bytes alike; the wider one of two equals, for its longer bursts. */
inline int64_t ArgMaxStripWidth(int64_t outer, int64_t inner, int64_t most) {
    using namespace common;
    const auto busiest = [&](int64_t width) { return CeilDiv(outer * CeilDiv(inner, width), VectorCores()) * (width + kArgMaxWordLanes / 2); };
    int64_t best = kArgMaxWordLanes;
    for (int64_t width = kArgMaxWordLanes; width <= std::min(RoundUp(inner, kArgMaxWordLanes), most); width += kArgMaxWordLanes) {
        best = busiest(width) <= busiest(best) ? width : best;
    }
    return best;
}

inline ArgMaxTiling PlanArgMaxLines(const ArgMaxShape &shape, const ArgMaxTraits &kernel) {
    using namespace common;
    constexpr int64_t kWidest = 2048;
    const int64_t block = 32 / kernel.elementBytes, lanesEach = RoundUp(shape.inner, std::max<int64_t>(block, 8));
    const int64_t cores = WorthwhileCores(shape.outer * shape.length * shape.inner, kernel.elementsPerLaunch);
    const int64_t shortest = std::min<int64_t>(shape.length, 16);  // lines that a tile should have room for
    const int64_t perLine = shortest * kernel.bytesOfLines + kernel.bytesPerLane;
    const int64_t most = std::clamp<int64_t>(ArgMaxRoom(kernel) / perLine / kArgMaxWordLanes * kArgMaxWordLanes, kArgMaxWordLanes, kWidest);
    ArgMaxTiling tiling{ArgMaxMode::kLines, shape.outer, shape.length, shape.inner, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0};
    const int64_t together = std::min({most / lanesEach, CeilDiv(shape.outer, 3 * cores), kArgMaxMostRows});
    if (together > 1) {
        tiling.outers = static_cast<uint32_t>(together);
        tiling.width = static_cast<uint32_t>(lanesEach);
        tiling.lanes = static_cast<uint32_t>(RoundUp(together * lanesEach, kArgMaxWordLanes));
    } else {
        tiling.lanes = static_cast<uint32_t>(ArgMaxStripWidth(shape.outer, shape.inner, most));
        tiling.width = tiling.lanes;
        tiling.perOuter = CeilDiv(shape.inner, tiling.width);
    }
    const int64_t lines = (ArgMaxRoom(kernel) - tiling.lanes * kernel.bytesPerLane) / (tiling.lanes * kernel.bytesOfLines);
    const int64_t chunks = CeilDiv(shape.length, std::min(lines, kArgMaxMostLines));
    tiling.perTile = tiling.lines = static_cast<uint32_t>(CeilDiv(shape.length, chunks));
    tiling.units = CeilDiv(shape.outer, tiling.outers) * tiling.perOuter;
    tiling.blocks = static_cast<uint32_t>(std::min(cores, tiling.units));
    return tiling;
}

inline ArgMaxTiling PlanArgMax(const ArgMaxShape &shape, const ArgMaxTraits &kernel) {
    if (shape.inner > 1) {
        return PlanArgMaxLines(shape, kernel);
    }
    return IsArgMaxInParts(shape) ? PlanArgMaxParts(shape, kernel) : PlanArgMaxRows(shape, kernel);
}

#endif  // REFERENCE_ARG_MAX_TILING_H
