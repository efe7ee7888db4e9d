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
    uint32_t isLine;    // rows side by side, one column (sort)
    uint32_t places;    // of an item, in whole groups, with one row beside them where there are several ranges (sort)
    uint32_t lanes;     // elements of their row in the unified buffer
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

inline bool IsLine(const common::AxisPlanes &planes) {
    return planes.width == 1 && planes.step[kData] == 1 && planes.step[kIndices] == 1 && planes.step[kUpdates] == 1;
}

/* Items of one plane for the scalar unit. */
inline ItemTiling PlanScalar(const ScatterCommon &common, int64_t elementBytes) {
    constexpr int64_t kGranule = 32;
    ItemTiling tiling{};
    tiling.common = common;
    const auto &planes = common.planes;
    const int64_t perCell = elementBytes == 2 ? 2 + 4 : elementBytes, perIndex = common.indexBytes + perCell + 3 * 4 + 1;
    const int64_t cells = Room() / 2 / perCell, indices = Room() * 2 / 5 / perIndex, length = planes.length[kData];
    const bool isLine = IsLine(planes);
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

struct Rates {
    int64_t elementBytes;
    bool isReduction;
};

/* Unified buffer of ScatterCompare for each lane: per row of data, per row of a chunk. */
inline int64_t ComparePerRow(const Rates &rates) { return 2 * rates.elementBytes + (rates.isReduction && rates.elementBytes == 2 ? 4 : 0); }

inline int64_t ComparePerIndex(const Rates &rates, int64_t indexBytes) {
    const int64_t words = rates.elementBytes == 8 ? 2 : 1, combined = rates.isReduction ? 4 + (rates.elementBytes == 2 ? 4 : 0) : 0;
    return indexBytes + rates.elementBytes + 4 * words + 1 + combined + (words == 2 ? 8 : 0);
}

/* Whole rows of the axis, of a strip or of several planes; `items` is 0 where that does not fit or would take too long. */
inline ItemTiling PlanCompare(const ScatterCommon &common, const Rates &rates) {
    constexpr int64_t kMostPlaces = 256, kLeastWidth = 12, kBits = 256, kLeastLanes = 256;
    ItemTiling tiling{};
    tiling.common = common;
    const auto &planes = common.planes;
    const int64_t length = planes.length[kData], rows = planes.length[kIndices], granule = rates.elementBytes == 2 ? 16 : 8;
    const int64_t room = std::min<int64_t>(Room(), 184 * 1024) - 2048;  // Select needs the end
    if (length > kMostPlaces || planes.width < kLeastWidth || (rates.elementBytes == 8 && rates.isReduction)) {
        return tiling;
    }
    int64_t chunk = std::min<int64_t>(rows, 64);
    const auto lanesFor = [&](int64_t some) {
        return room / (length * ComparePerRow(rates) + some * ComparePerIndex(rates, common.indexBytes)) / kBits * kBits;
    };
    while (chunk > 1 && lanesFor(chunk) < 2 * kLeastLanes) {
        chunk = (chunk + 1) / 2;
    }
    const int64_t most = std::min<int64_t>(lanesFor(chunk), 4096), cores = common::VectorCores();
    if (most < kLeastLanes) {
        return tiling;
    }
    const int64_t strips =
        std::max(common::CeilDiv(planes.width, most), std::min(common::CeilDiv(cores, planes.planes), common::CeilDiv(planes.width, kLeastLanes)));
    tiling.columns = static_cast<uint32_t>(common::RoundUp(common::CeilDiv(planes.width, strips), granule));
    tiling.strips = common::CeilDiv(planes.width, static_cast<int64_t>(tiling.columns));
    tiling.width = tiling.columns;
    const int64_t run = common::RunOf(planes), share = std::max<int64_t>(planes.planes * tiling.strips / cores, 1);
    tiling.together = static_cast<uint32_t>(tiling.strips > 1 ? 1 : std::clamp<int64_t>(most / tiling.width, 1, std::min({run, share, kMostRows})));
    tiling.lanes = static_cast<uint32_t>(common::RoundUp(static_cast<int64_t>(tiling.together) * tiling.width, kBits));
    tiling.perRange = static_cast<uint32_t>(length);
    tiling.perChunk = static_cast<uint32_t>(chunk);
    tiling.itemsPerRun = common::CeilDiv(run, static_cast<int64_t>(tiling.together));
    tiling.items = planes.planes / run * tiling.itemsPerRun * tiling.strips;
    tiling.blocks = static_cast<uint32_t>(std::min(cores, tiling.items));
    return tiling;
}

inline double CompareCycles(const ItemTiling &tiling, const Rates &rates) {
    return 0.1 * tiling.perRange * static_cast<double>(rates.elementBytes == 8 ? 2 : 1);
}

/* Unified buffer of ScatterSort per place and per index. */
inline int64_t SortPerPlace(const Rates &rates) {
    return common::SortedPlaces::kBytesPerPair + common::SortedPlaces::kBytesPerPlace + 2 * rates.elementBytes + 8;
}
inline int64_t SortPerIndex(const Rates &rates, int64_t indexBytes) { return common::SortedPlaces::kBytesPerPair + indexBytes + rates.elementBytes + 4; }

constexpr int64_t kSortFixed = common::SortedPlaces::kFixedBytes + 4096, kMostSorted = 2304;  // places

/* Whole planes side by side, or ranges of one plane whose rows are single elements. */
inline void PlanSortedLines(ItemTiling &tiling, int64_t indices) {
    const auto &planes = tiling.common.planes;
    const int64_t length = planes.length[kData], rows = planes.length[kIndices], run = common::RunOf(planes), cores = common::VectorCores();
    const bool isDense = common::RunMove(planes, kData) == length && common::RunMove(planes, kIndices) == rows && common::RunMove(planes, kUpdates) == rows;
    const int64_t share = std::max<int64_t>(planes.planes / cores, 1);
    const int64_t together = isDense ? std::clamp<int64_t>(std::min(kMostSorted / length, indices / rows), 1, std::min(run, share)) : 1;
    tiling.isLine = 1;
    tiling.width = tiling.columns = 1;
    tiling.strips = 1;
    tiling.together = static_cast<uint32_t>(together);
    tiling.ranges = common::CeilDiv(length, kMostSorted);
    if (planes.planes * tiling.ranges < cores) {
        tiling.ranges = std::min(common::CeilDiv(cores, planes.planes), common::CeilDiv(length, static_cast<int64_t>(512)));
    }
    tiling.perRange = static_cast<uint32_t>(common::CeilDiv(length, tiling.ranges));
    tiling.perChunk = static_cast<uint32_t>(std::min(together * rows, indices));
    tiling.lanes = static_cast<uint32_t>(common::RoundUp(static_cast<int64_t>(tiling.perChunk), 64));
    tiling.places = static_cast<uint32_t>(common::RoundUp(together * tiling.perRange + (tiling.ranges > 1 ? 1 : 0), 64));
    tiling.itemsPerRun = common::CeilDiv(run, together);
    tiling.items = planes.planes / run * tiling.itemsPerRun * tiling.ranges;
}

/* Ranges of strips of one plane. */
inline void PlanSortedStrips(ItemTiling &tiling, const Rates &rates) {
    const auto &planes = tiling.common.planes;
    const int64_t length = planes.length[kData], rows = planes.length[kIndices], granule = rates.elementBytes == 2 ? 16 : 8;
    tiling.isLine = 0;
    tiling.together = 1;
    tiling.width = static_cast<uint32_t>(std::clamp<int64_t>(kMostSorted / length / granule * granule, granule, common::RoundUp(planes.width, granule)));
    tiling.columns = static_cast<uint32_t>(std::min<int64_t>(tiling.width, planes.width));
    tiling.strips = common::CeilDiv(planes.width, static_cast<int64_t>(tiling.columns));
    tiling.ranges = common::CeilDiv(length * tiling.width, kMostSorted + granule * 16);
    tiling.perRange = static_cast<uint32_t>(common::CeilDiv(length, tiling.ranges));
    tiling.places = static_cast<uint32_t>(common::RoundUp((tiling.perRange + (tiling.ranges > 1 ? 1 : 0)) * static_cast<int64_t>(tiling.width), 64));
    const int64_t room = Room() - kSortFixed - tiling.places * SortPerPlace(rates);
    const int64_t fitting = room / SortPerIndex(rates, tiling.common.indexBytes) / 64 * 64 / tiling.width;
    tiling.perChunk = static_cast<uint32_t>(std::clamp<int64_t>(fitting, 1, std::min(rows, kMostRows)));
    tiling.lanes = static_cast<uint32_t>(common::RoundUp(static_cast<int64_t>(tiling.perChunk) * tiling.width, 64));
    tiling.itemsPerRun = common::RunOf(planes);
    tiling.items = planes.planes * tiling.strips * tiling.ranges;
}

/* Cycles per update; what the other ways take is compared with it. */
inline double SortCycles(const ItemTiling &tiling, const Rates &rates) {
    const auto &planes = tiling.common.planes;
    const double indices = static_cast<double>(tiling.perChunk) * tiling.width, used = static_cast<double>(tiling.perChunk) * tiling.columns;
    const double levels = rates.isReduction ? 5 : 1, chunk = (tiling.places + indices) * 2.1 + tiling.places * 0.28 * levels + 1500;
    const double item = static_cast<double>(planes.length[kIndices]) * tiling.together / tiling.perChunk;
    return chunk / used * static_cast<double>(tiling.ranges) + 3000 / (used * item);
}

/* `items` is 0 where the scalar unit would be faster. */
inline ItemTiling PlanSort(const ScatterCommon &common, const Rates &rates) {
    constexpr double kScalarCycles = 38;
    ItemTiling tiling{};
    tiling.common = common;
    if (rates.elementBytes == 8) {
        return tiling;
    }
    if (IsLine(common.planes)) {
        const int64_t room = Room() - kSortFixed - (kMostSorted + 64) * SortPerPlace(rates);
        PlanSortedLines(tiling, room / SortPerIndex(rates, common.indexBytes) / 64 * 64);
    } else {
        PlanSortedStrips(tiling, rates);
    }
    tiling.blocks = static_cast<uint32_t>(std::min(common::VectorCores(), tiling.items));
    tiling.items = SortCycles(tiling, rates) < kScalarCycles ? tiling.items : 0;
    return tiling;
}

}  // namespace scatter_tiling

#endif  // REFERENCE_SCATTER_TILING_H
