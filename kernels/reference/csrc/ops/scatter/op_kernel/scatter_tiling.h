/* Which way scatter takes, and how it is cut; host code but for the structures. */
#ifndef REFERENCE_SCATTER_TILING_H
#define REFERENCE_SCATTER_TILING_H

#include "../../../common/axis_planes.h"
#include "../../../common/sorted_places.h"
#include "../../../common/tiling.h"
#include "scatter_launch.h"

constexpr int32_t kData = 0, kIndices = 1, kUpdates = 2;  // tensors of AxisPlanes; y is as data

/* What all ways share. Planes are those of indices; what they do not reach is copied, all of it first where it is no single stretch behind them. */
struct ScatterCommon {
    common::AxisPlanes planes;
    Reduction reduction;
    int32_t indexBytes;
    int32_t isInPlace;  // y is a copy of data before anything else happens
    int64_t copyFrom;   // bytes
    int64_t copyBytes;
};

/*
 * An item is what is kept of a plane in the unified buffer: a strip of its columns and a range of its rows. Indices and updates of the strip come in chunks of
 * rows.
 */
struct ItemTiling {
    ScatterCommon common;
    int64_t strips;
    int64_t ranges;
    uint32_t width;     // columns of a strip, in the unified buffer
    uint32_t columns;   // of a strip that are used
    uint32_t perRange;  // rows
    uint32_t perChunk;  // rows of indices
    uint32_t together;  // planes of an item (compare and sort)
    int64_t itemsPerRun;
    int64_t items;
    uint32_t blocks;
};

namespace scatter_tiling {

constexpr int64_t kMostRows = 4095;  // of one copy

inline int64_t Room() { return common::UnifiedBufferBytes() - 1024; }

inline ScatterCommon PlanCommon(const ScatterShape &shape, Reduction reduction, int32_t indexBytes, int64_t elementBytes) {
    ScatterCommon plan{};
    plan.planes = common::PlanPlanes(shape.shape, 3, kIndices, shape.rank, shape.dim);
    plan.reduction = reduction;
    plan.indexBytes = indexBytes;
    int64_t all = elementBytes, reached = elementBytes;
    for (int64_t axis = 0; axis < shape.rank; ++axis) {
        all *= shape.shape[kData][axis];
        const bool isShort = axis != shape.dim && shape.shape[kIndices][axis] < shape.shape[kData][axis];
        plan.isInPlace = plan.isInPlace || (isShort && axis > 0) ? 1 : 0;
        reached *= isShort ? shape.shape[kIndices][axis] : shape.shape[kData][axis];
    }
    plan.copyFrom = plan.isInPlace ? 0 : reached;
    plan.copyBytes = all - plan.copyFrom;
    return plan;
}

/* Items of one plane for the scalar unit. */
inline ItemTiling PlanScalar(const ScatterCommon &common, int64_t elementBytes) {
    constexpr int64_t kGranule = 32;
    ItemTiling tiling{};
    tiling.common = common;
    const auto &planes = common.planes;
    const int64_t perCell = elementBytes == 2 ? 2 + 4 : elementBytes, perIndex = common.indexBytes + perCell + 3 * 4 + 1;
    const int64_t cells = Room() / 2 / perCell, indices = Room() * 2 / 5 / perIndex, length = planes.length[kData];
    const bool isLine = planes.width == 1 && planes.step[kData] == 1 && planes.step[kIndices] == 1 && planes.step[kUpdates] == 1;
    const int64_t unit = isLine ? 1 : kGranule, widest = isLine ? 1 : std::min<int64_t>(common::RoundUp(planes.width, kGranule), 1024);
    const int64_t perRow = std::clamp<int64_t>(cells / length / unit * unit, unit, widest);
    tiling.columns = static_cast<uint32_t>(std::min(perRow, planes.width));
    tiling.width = static_cast<uint32_t>(perRow);
    tiling.strips = common::CeilDiv(planes.width, perRow);
    const int64_t most = cells / perRow;
    tiling.ranges = common::CeilDiv(length, most);
    const int64_t cores = common::VectorCores(), units = planes.planes * tiling.strips;
    if (tiling.ranges > 1 || units < cores) {  // as many as keep all cores busy, where that does not make them read too much
        const int64_t wanted = std::max(tiling.ranges, std::min(common::CeilDiv(cores, units), common::CeilDiv(length, static_cast<int64_t>(256))));
        tiling.ranges = common::CeilDiv(common::RoundUp(wanted * units, std::min(cores, wanted * units)), units);
    }
    tiling.perRange = static_cast<uint32_t>(std::min(common::CeilDiv(length, tiling.ranges), most));
    tiling.ranges = common::CeilDiv(length, static_cast<int64_t>(tiling.perRange));
    const int64_t rows = planes.length[kIndices];
    tiling.perChunk = static_cast<uint32_t>(isLine ? std::min(indices / 64 * 64, common::RoundUp(rows, 64)) : std::clamp<int64_t>(indices / perRow, 1, rows));
    tiling.items = units * tiling.ranges;
    tiling.blocks = static_cast<uint32_t>(std::min(cores, tiling.items));
    return tiling;
}

}  // namespace scatter_tiling

#endif  // REFERENCE_SCATTER_TILING_H
