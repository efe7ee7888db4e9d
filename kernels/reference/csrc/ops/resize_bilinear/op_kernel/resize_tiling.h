/*
 * How resize_bilinear is cut into tiles; host code, but for the structure.
 *
 * A tile is a few planes (images of one channel) x a few new rows x a stretch of new columns, with the old pixels that they come from. Planes first: the same
 * row of several planes has the same shares and comes with one copy. At least 16 lines per tile, which is what the transposition takes at once, and whole
 * rows where they fit, since the memory engine likes long ones.
 */
#ifndef REFERENCE_RESIZE_TILING_H
#define REFERENCE_RESIZE_TILING_H

#include "../../../common/tiling.h"
#include "resize_bilinear_launch.h"

constexpr int64_t kResizeLines = 16;      // lines that one transposition takes
constexpr int64_t kMostResizeLines = 64;  // beyond that an instruction's fixed cost no longer matters
constexpr int64_t kMostResizeRow = 2032;  // elements: 254 repeats of eight columns, or a stride of 254 blocks

struct ResizeTiling {
    uint32_t blocks;    // vector cores used
    uint32_t planes;    // per tile
    uint32_t rows;      // new ones per tile
    uint32_t columns;   // new ones per tile
    uint32_t lines;     // planes * rows, rounded up to whole transpositions
    uint32_t slots;     // most old rows that a tile comes from
    uint32_t width;     // elements that an old row has in the unified buffer
    uint32_t newWidth;  // elements that a new row has there
    uint32_t planeGroups;
    uint32_t rowGroups;
    uint32_t chunks;  // stretches of columns
};

/* Old pixels that `count` neighbouring new ones come from, at most. */
inline int64_t ResizeSpan(const ResizeAxis &axis, int64_t count) {
    return std::min(axis.old, static_cast<int64_t>(static_cast<double>(count - 1) * axis.pitch) + 3);
}

inline int64_t ResizeBytes(const ResizeTiling &tile, int64_t elementBytes) {
    const int64_t wide = elementBytes == sizeof(float) ? 0 : sizeof(float);
    const int64_t loaded = static_cast<int64_t>(tile.slots) * tile.planes * tile.width, seen = static_cast<int64_t>(tile.lines) * tile.width;
    const int64_t made = static_cast<int64_t>(tile.lines) * tile.newWidth;
    const int64_t turned = wide == 0 ? seen : std::max(seen, loaded);
    return 2 * loaded * elementBytes + (turned + std::max(seen, made)) * sizeof(float) + made * (2 * elementBytes + wide) + 2 * tile.newWidth * sizeof(float);
}

inline ResizeTiling ResizeTile(const ResizeTensors &tensors, int64_t planes, int64_t rows, int64_t columns) {
    ResizeTiling tile{};
    tile.planes = static_cast<uint32_t>(planes);
    tile.rows = static_cast<uint32_t>(rows);
    tile.columns = static_cast<uint32_t>(columns);
    tile.lines = static_cast<uint32_t>(common::RoundUp(planes * rows, kResizeLines));
    tile.slots = static_cast<uint32_t>(std::min(2 * rows, ResizeSpan(tensors.rows, rows)));
    tile.width = static_cast<uint32_t>(common::RoundUp(ResizeSpan(tensors.columns, columns), kResizeLines));
    tile.newWidth = static_cast<uint32_t>(common::RoundUp(columns, kResizeLines));
    tile.planeGroups = static_cast<uint32_t>(common::CeilDiv(tensors.planes, planes));
    tile.rowGroups = static_cast<uint32_t>(common::CeilDiv(tensors.rows.size, rows));
    tile.chunks = static_cast<uint32_t>(common::CeilDiv(tensors.columns.size, columns));
    return tile;
}

inline bool ResizeFits(const ResizeTiling &tile, int64_t elementBytes) {
    return tile.width <= kMostResizeRow && tile.newWidth <= kMostResizeRow && ResizeBytes(tile, elementBytes) <= common::UnifiedBufferBytes();
}

inline int64_t ResizeItems(const ResizeTiling &tile) { return static_cast<int64_t>(tile.planeGroups) * tile.rowGroups * tile.chunks; }

inline ResizeTiling PlanResize(const ResizeTensors &tensors, int64_t elementBytes, int64_t elementsPerLaunch) {
    const int64_t groups = common::CeilDiv(tensors.planes, kResizeLines), planes = common::CeilDiv(tensors.planes, groups);
    const int64_t least = common::CeilDiv(kResizeLines, planes), newRows = tensors.rows.size, newColumns = tensors.columns.size;
    int64_t chunks = 1, rows = std::min(least, newRows);
    auto tile = ResizeTile(tensors, planes, rows, newColumns);
    while (!ResizeFits(tile, elementBytes)) {
        tile = ResizeTile(tensors, planes, rows, common::CeilDiv(newColumns, ++chunks));
    }
    const int64_t read = std::min(tensors.rows.old, 2 * newRows) * tensors.columns.old;
    const int64_t cores = common::WorthwhileCores(tensors.planes * (read + newRows * newColumns), elementsPerLaunch);
    // More rows while they fit and every core still has enough tiles for load, compute and store to overlap.
    for (int64_t more = rows + 1; more <= newRows && planes * more <= kMostResizeLines; ++more) {
        const auto larger = ResizeTile(tensors, planes, more, tile.columns);
        if (!ResizeFits(larger, elementBytes) || ResizeItems(larger) < common::kTilesToOverlap * cores) {
            break;
        }
        if (larger.lines * rows <= tile.lines * more) {  // fewer idle lines per row, or as few
            tile = larger;
            rows = more;
        }
    }
    tile.blocks = static_cast<uint32_t>(std::min(cores, ResizeItems(tile)));
    return tile;
}

#endif  // REFERENCE_RESIZE_TILING_H
