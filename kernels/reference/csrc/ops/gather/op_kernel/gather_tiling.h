/* How gather is cut: tables of x that fit into the unified buffer and chunks of the index for them, or single elements; host code but for the structures. */
#ifndef REFERENCE_GATHER_TILING_H
#define REFERENCE_GATHER_TILING_H

#include "../../../common/axis_planes.h"
#include "../../../common/tiling.h"
#include "gather_launch.h"

constexpr int32_t kX = 0, kIndex = 1;  // tensors of AxisPlanes
constexpr int64_t kMostBlocks = 4095;  // of one copy

/*
 * A table is what indices choose from: whole planes of x, or a strip of columns of one plane. Indices that one table serves come in chunks; a core takes a
 * range of chunks and loads a table when the first chunk comes that needs it.
 */
struct TableTiling {
    common::AxisPlanes planes;
    int64_t tables;           // 0: no table fits
    int64_t chunks;           // per table
    int64_t tablesPerRun;     // whole planes: tables for the planes of a run; strips: strips of a plane
    uint32_t planesPerTable;  // 0: a table is a strip
    uint32_t width;           // of a strip, a multiple of 32
    uint32_t rows;            // of a plane that indices can reach
    uint32_t planeStride;     // bytes from plane to plane in the unified buffer
    uint32_t perChunk;        // indices, of a strip rows of them
    uint32_t tileElements;    // room for the indices of a chunk
    uint32_t tableBytes;      // room for a table
    uint32_t tableBuffers;
    uint32_t blocks;
    int32_t indexBytes;
};

/* An element at a time. A line is a contiguous stretch of indices within a plane. */
struct SingleTiling {
    common::AxisPlanes planes;
    int64_t lines;       // per plane
    int64_t lineLength;  // elements
    int64_t chunks;      // per line
    uint32_t perChunk;
    uint32_t blocks;
    int32_t indexBytes;
};

namespace gather_tiling {

constexpr int64_t kElementsPerLaunch = 1000;  // 12 bytes each at the rate of one core
constexpr int64_t kSinglesPerLaunch = 10;     // 20 cycles each
constexpr int64_t kMostTile = 8192;           // indices of a chunk
constexpr int64_t kLeastTile = 1024;
constexpr int64_t kGranule = 32;        // elements; whole blocks of every type
constexpr int64_t kBlockCycles = 8;     // a block of a copy takes at least that
constexpr int64_t kSingleCycles = 20;   // an element by itself
constexpr int64_t kBytesPerCycle = 16;  // of one core among 48
constexpr int64_t kByteReach = 128;     // places that an int8 index can name

/* Bytes in the unified buffer for each index of a tile; see the buffers of GatherTable. */
inline int64_t BytesPerIndex(const GatherTypes &types, bool hasBase) {
    const int64_t words = types.elementBytes == 8 ? 2 : 1;
    const int64_t queues = 2 * types.indexBytes + 2 * types.elementBytes;
    const int64_t narrow = types.indexBytes == 1 ? 2 + (words == 2 ? 4 : 0) : 0;
    return queues + 4 * words * (hasBase ? 2 : 1) + (words == 2 ? 8 : 0) + narrow + (types.elementBytes == 1 ? 2 : 0);
}

/* Bytes of a table for each of its elements; int8 is kept as loaded and as half. */
inline int64_t TableBytesPerElement(const GatherTypes &types, int64_t buffers) { return types.elementBytes == 1 ? 3 : types.elementBytes * buffers; }

inline int64_t Room() { return common::UnifiedBufferBytes() - 512; }

inline void PlanCores(TableTiling &tiling, int64_t elements) {
    const int64_t units = tiling.tables * tiling.chunks;
    tiling.blocks = static_cast<uint32_t>(std::min(units, common::WorthwhileCores(elements, kElementsPerLaunch)));
}

/* Bytes of a plane as it is loaded: its rows with what lies between them. */
inline int64_t PlaneBytes(const TableTiling &tiling, const GatherTypes &types) {
    return ((tiling.rows - 1) * tiling.planes.step[kX] + tiling.planes.width) * types.elementBytes;
}

/* Whole planes; false where one does not fit or its indices are not contiguous. */
inline bool PlanWholePlanes(TableTiling &tiling, const GatherTypes &types, int64_t elements) {
    const auto &planes = tiling.planes;
    const int64_t perPlane = planes.length[kIndex] * planes.width, run = common::RunOf(planes), bytes = PlaneBytes(tiling, types);
    if (planes.step[kIndex] != planes.width || (run > 1 && common::RunMove(planes, kIndex) != perPlane) || planes.width > kMostTile) {
        return false;
    }
    const bool isSolid = common::RunMove(planes, kX) * types.elementBytes == bytes;
    const int64_t stride = isSolid ? bytes : common::RoundUp(bytes, 32);
    const int64_t perIndex = BytesPerIndex(types, true), least = std::max(kLeastTile, common::RoundUp(planes.width, kGranule)) * perIndex;
    const auto roomFor = [&](int64_t count, int64_t buffers) {
        return common::RoundUp(count * stride, 64) / types.elementBytes * TableBytesPerElement(types, buffers) + 128;
    };
    tiling.tableBuffers = types.elementBytes > 1 && roomFor(1, 2) + least <= Room() ? 2 : 1;
    const bool isWorthwhile = bytes / kBytesPerCycle <= kSingleCycles * perPlane;
    if (!isWorthwhile || roomFor(1, tiling.tableBuffers) + least > Room()) {
        return false;
    }
    const int64_t cores = common::WorthwhileCores(elements, kElementsPerLaunch);
    int64_t together = std::clamp<int64_t>(kMostTile / perPlane, 1, std::min({run, std::max<int64_t>(planes.planes / cores, 1), kMostBlocks}));
    while (together > 1 && roomFor(together, tiling.tableBuffers) + together * perPlane * perIndex > Room()) {
        together = together * 3 / 4;
    }
    tiling.planesPerTable = static_cast<uint32_t>(together);
    tiling.planeStride = static_cast<uint32_t>(stride);
    tiling.tablesPerRun = common::CeilDiv(run, together);
    tiling.tables = planes.planes / run * tiling.tablesPerRun;
    tiling.tableBytes = static_cast<uint32_t>(common::RoundUp(together * stride, 64));
    const int64_t most = std::min((Room() - roomFor(together, tiling.tableBuffers)) / perIndex / kGranule * kGranule, kMostTile);
    int64_t perChunk = together * perPlane;
    if (together == 1) {
        const int64_t unit = planes.width > 1 ? planes.width : kGranule;
        const int64_t shared = common::RoundUp(common::CeilDiv(perPlane, common::CeilDiv(cores, tiling.tables)), unit);
        perChunk = std::min({perPlane, shared, most / unit * unit});
    }
    tiling.perChunk = static_cast<uint32_t>(perChunk);
    tiling.chunks = common::CeilDiv(together * perPlane, perChunk);
    tiling.tileElements = static_cast<uint32_t>(common::RoundUp(perChunk, kGranule));
    return true;
}

/* Strips; false where a strip of 32 columns does not fit or takes longer to load than its elements one by one. */
inline bool PlanStrips(TableTiling &tiling, const GatherTypes &types, int64_t elements) {
    const auto &planes = tiling.planes;
    const int64_t perIndex = BytesPerIndex(types, true), rows = tiling.rows, length = planes.length[kIndex];
    tiling.tableBuffers = types.elementBytes > 1 ? 2 : 1;
    const auto roomFor = [&](int64_t width) { return rows * width * TableBytesPerElement(types, tiling.tableBuffers) + 64; };
    const int64_t most = std::min<int64_t>(common::RoundUp(planes.width, kGranule), kMostTile / 4);
    const int64_t lines = std::min<int64_t>(length, 4);
    int64_t width = most;
    while (width > kGranule && (roomFor(width) > Room() / 2 || roomFor(width) + lines * width * perIndex > Room())) {
        width -= kGranule;
    }
    if (roomFor(width) + width * perIndex > Room()) {
        tiling.tableBuffers = 1;
    }
    const int64_t strips = common::CeilDiv(planes.width, width);
    if (planes.width == 1 || roomFor(width) + width * perIndex > Room() || kBlockCycles * rows * strips > kSingleCycles * length * planes.width) {
        return false;
    }
    tiling.width = static_cast<uint32_t>(common::RoundUp(common::CeilDiv(planes.width, strips), kGranule));
    tiling.planesPerTable = 0;
    tiling.tablesPerRun = common::CeilDiv(planes.width, static_cast<int64_t>(tiling.width));
    tiling.tables = planes.planes * tiling.tablesPerRun;
    tiling.tableBytes = static_cast<uint32_t>(rows * tiling.width * types.elementBytes);
    const int64_t cores = common::WorthwhileCores(elements, kElementsPerLaunch), shared = common::CeilDiv(length, common::CeilDiv(cores, tiling.tables));
    const int64_t fitting = std::min((Room() - roomFor(tiling.width)) / perIndex, kMostTile) / tiling.width;
    tiling.perChunk = static_cast<uint32_t>(std::clamp<int64_t>(fitting, 1, shared));
    tiling.chunks = common::CeilDiv(length, static_cast<int64_t>(tiling.perChunk));
    tiling.tileElements = tiling.perChunk * tiling.width;
    return true;
}

inline TableTiling PlanTables(const common::AxisPlanes &planes, const GatherTypes &types, int64_t elements) {
    TableTiling tiling{};
    tiling.planes = planes;
    tiling.indexBytes = types.indexBytes;
    const int64_t rows = types.indexBytes == 1 ? std::min(planes.length[kX], kByteReach) : planes.length[kX];
    if (rows > (1 << 18)) {
        return tiling;
    }
    tiling.rows = static_cast<uint32_t>(rows);
    if (PlanWholePlanes(tiling, types, elements) || PlanStrips(tiling, types, elements)) {
        PlanCores(tiling, elements);
    }
    return tiling;
}

inline SingleTiling PlanSingles(const common::AxisPlanes &planes, const GatherTypes &types, int64_t elements) {
    constexpr int64_t kMostSingles = 1024;  // each takes a block of 32 bytes, twice
    SingleTiling tiling{};
    tiling.planes = planes;
    tiling.indexBytes = types.indexBytes;
    const bool isDense = planes.step[kIndex] == planes.width;
    tiling.lines = isDense ? 1 : planes.length[kIndex];
    tiling.lineLength = isDense ? planes.length[kIndex] * planes.width : planes.width;
    const int64_t cores = common::WorthwhileCores(elements, kSinglesPerLaunch);
    const int64_t share = common::RoundUp(common::CeilDiv(elements, cores), kGranule);
    tiling.perChunk = static_cast<uint32_t>(std::min({kMostSingles, share, tiling.lineLength}));
    tiling.chunks = common::CeilDiv(tiling.lineLength, static_cast<int64_t>(tiling.perChunk));
    tiling.blocks = static_cast<uint32_t>(std::min(cores, planes.planes * tiling.lines * tiling.chunks));
    return tiling;
}

}  // namespace gather_tiling

#endif  // REFERENCE_GATHER_TILING_H
