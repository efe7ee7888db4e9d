/*
 * How the result of two sides that are broadcast to each other is cut into tiles; host code, but for the structures.
 *
 * Axes that follow one another and are repeated on the same side (or on none) are one axis, so that equal shapes are one long axis, a matrix with a row is two.
 * The result is walked in its own order: a tile is some steps (rows) of one axis, the split axis, with all axes inside it. So a tile is contiguous in the
 * result, and what it needs of either side is contiguous there as well: whole bursts, however odd the sizes are. Where a side is repeated inside a tile, the
 * kernel spreads it in the unified buffer (broadcast_input.h). What stays the same from one tile to the next is loaded once; so where the split axis is cut
 * into chunks and one side is repeated along the axis before it, that axis is walked first.
 *
 * The number of chunks is the one for which the busiest core has the least to do.
 */
#ifndef REFERENCE_BROADCAST_PLAN_H
#define REFERENCE_BROADCAST_PLAN_H

#include "broadcast_shapes.h"
#include "chunks.h"

namespace common {

/* One side under the tiles. Steps are in elements of the side, 0 where it is repeated. */
struct BroadcastSide {
    int64_t outer[kMostAxes];   // per step of each outer axis
    uint32_t inner[kMostAxes];  // per step of each inner axis
    uint32_t row;               // per step of the split axis
    uint32_t elements;          // what a whole tile needs
    bool isTile;                // what a tile needs is as long as the tile
    bool isReadOnce;            // repeated nowhere
};

struct BroadcastPlan {
    BroadcastSide sides[2];
    int64_t outer[kMostAxes];   // sizes of the axes before the split axis
    uint32_t inner[kMostAxes];  // and of those behind it
    int32_t outerAxes;
    int32_t innerAxes;
    int64_t length;        // of the split axis
    int64_t chunks;        // it is cut into
    uint32_t rows;         // steps of it per tile
    uint32_t rowElements;  // elements of the result per step
    int64_t tiles;
    uint32_t blocks;    // vector cores used
    bool isOuterFirst;  // the last outer axis is walked before the chunks
};

/* What the plan has to know of a kernel. */
struct BroadcastTraits {
    int64_t elementBytes;
    int64_t bytesPerElement;    // kept in the unified buffer per element of a tile, besides what follows
    int64_t bytesPerWhole;      // and for a side that is never repeated
    int64_t bytesPerRepeated;   // and for one that is
    int64_t fixedBytes;         // kept there besides
    int64_t elementsPerLaunch;  // see KernelTraits
    int64_t elementsPerTile;    // what a core computes in the time that a tile costs besides its elements
};

struct FoldedAxes {
    int32_t count;
    int64_t size[kMostAxes];
    bool isRepeated[2][kMostAxes];
};

inline FoldedAxes Fold(const BroadcastShapes &shapes) {
    FoldedAxes axes{};
    for (int32_t axis = 0; axis < shapes.axes; ++axis) {
        const int64_t first = shapes.sizes[0][axis], second = shapes.sizes[1][axis];
        if (first == 1 && second == 1) continue;
        const int32_t last = axes.count - 1;
        const bool isRepeated[2] = {first == 1, second == 1};
        if (last >= 0 && axes.isRepeated[0][last] == isRepeated[0] && axes.isRepeated[1][last] == isRepeated[1]) {
            axes.size[last] *= std::max(first, second);
            continue;
        }
        axes.size[axes.count] = std::max(first, second);
        axes.isRepeated[0][axes.count] = isRepeated[0];
        axes.isRepeated[1][axes.count] = isRepeated[1];
        ++axes.count;
    }
    if (axes.count == 0) {
        axes.size[axes.count++] = 1;
    }
    return axes;
}

inline int64_t Product(const int64_t *sizes, int32_t from, int32_t to) {
    int64_t product = 1;
    for (int32_t axis = from; axis < to; ++axis) product *= sizes[axis];
    return product;
}

/* The most elements of a tile: what fits, and no more than gives every core a few tiles. */
inline int64_t LargestTile(const FoldedAxes &axes, const BroadcastTraits &kernel, int64_t cores) {
    int64_t perElement = kernel.bytesPerElement;
    for (const auto &isRepeated : axes.isRepeated) {
        const bool isWhole = std::none_of(isRepeated, isRepeated + axes.count, [](bool is) { return is; });
        perElement += isWhole ? kernel.bytesPerWhole : kernel.bytesPerRepeated;
    }
    const int64_t granule = kBurstBytes / kernel.elementBytes;
    const int64_t fitting = (UnifiedBufferBytes() - kernel.fixedBytes) / perElement / granule * granule;
    const int64_t few = CeilDiv(Product(axes.size, 0, axes.count), cores * kTilesToOverlap);
    return std::clamp(few, std::min(kMinTileBytes / kernel.elementBytes, fitting), fitting);
}

/* Fills in the side's steps; `split` is the split axis. */
inline void PlanSide(const FoldedAxes &axes, const bool *isRepeated, int32_t split, const BroadcastPlan &plan, BroadcastSide &side) {
    int64_t step = 1;
    bool isInnerWhole = true, isReadOnce = true;
    for (int32_t axis = axes.count - 1; axis >= 0; --axis) {
        const int64_t here = isRepeated[axis] ? 0 : step;
        if (axis > split) {
            side.inner[axis - split - 1] = static_cast<uint32_t>(here);
            isInnerWhole = isInnerWhole && !isRepeated[axis];
        } else if (axis == split) {
            side.row = static_cast<uint32_t>(here);
            side.elements = static_cast<uint32_t>(isRepeated[axis] ? step : step * plan.rows);
            side.isTile = isInnerWhole && (plan.rows == 1 || !isRepeated[axis]);
        } else {
            side.outer[axis] = here;
        }
        isReadOnce = isReadOnce && !isRepeated[axis];
        step *= isRepeated[axis] ? 1 : axes.size[axis];
    }
    side.isReadOnce = isReadOnce;
}

inline BroadcastPlan PlanBroadcast(const BroadcastShapes &shapes, const BroadcastTraits &kernel) {
    const FoldedAxes axes = Fold(shapes);
    const int64_t cores = WorthwhileCores(Product(axes.size, 0, axes.count), kernel.elementsPerLaunch);
    const int64_t largest = LargestTile(axes, kernel, cores);
    int32_t split = axes.count - 1;
    int64_t inside = 1;
    while (split > 0 && inside * axes.size[split] <= largest) {
        inside *= axes.size[split--];
    }
    BroadcastPlan plan{};
    plan.outerAxes = split;
    plan.innerAxes = axes.count - split - 1;
    for (int32_t axis = 0; axis < split; ++axis) plan.outer[axis] = axes.size[axis];
    for (int32_t axis = split + 1; axis < axes.count; ++axis) plan.inner[axis - split - 1] = static_cast<uint32_t>(axes.size[axis]);
    plan.length = axes.size[split];
    plan.rowElements = static_cast<uint32_t>(inside);
    const int64_t outer = Product(axes.size, 0, split);
    const int64_t most = std::min(plan.length, std::max<int64_t>(largest / inside, 1)), granule = inside == 1 ? kBurstBytes / kernel.elementBytes : 1;
    plan.rows = static_cast<uint32_t>(BestChunk({plan.length, most, granule, inside, outer}, cores, kernel.elementsPerTile));
    plan.chunks = CeilDiv(plan.length, plan.rows);
    plan.tiles = outer * plan.chunks;
    plan.blocks = static_cast<uint32_t>(std::min(cores, plan.tiles));
    for (int32_t side = 0; side < 2; ++side) PlanSide(axes, axes.isRepeated[side], split, plan, plan.sides[side]);
    plan.isOuterFirst = plan.chunks > 1 && split > 0 && (axes.isRepeated[0][split - 1] || axes.isRepeated[1][split - 1]);
    return plan;
}

}  // namespace common

#endif  // REFERENCE_BROADCAST_PLAN_H
