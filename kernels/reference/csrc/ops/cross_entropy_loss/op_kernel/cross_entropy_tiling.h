/*
 * How cross_entropy_loss cuts its work; host code, but for the structure.
 *
 * Scores are [outer, classes, inner]. An item is what shares one pass: a row of scores where the classes are the last axis, else some columns of one outer
 * index with all their classes. A tile has several items, or, where one does not fit, a chunk of its classes.
 */
#ifndef REFERENCE_CROSS_ENTROPY_TILING_H
#define REFERENCE_CROSS_ENTROPY_TILING_H

#include "../../../common/row_reduction.h"
#include "../../../common/row_tiling.h"

struct CrossEntropyTiling {
    int64_t items;
    int64_t itemsPerOuter;
    int64_t classes;
    int64_t inner;
    uint32_t perTile;   // items of a tile
    uint32_t perChunk;  // classes of a tile
    uint32_t chunks;    // per item
    uint32_t width;     // columns of an item; its last one of an outer index may have fewer
    uint32_t stride;    // elements from row to row or from class to class in the unified buffer
    uint32_t lanes;     // losses of a tile, with the gaps between them
    uint32_t blocks;    // vector cores used
};

constexpr int64_t kLossGranule = 16;       // columns: 32 bytes of a 16-bit type
constexpr int64_t kWidestLoss = 1024;      // columns of an item; more would leave few classes per chunk
constexpr int64_t kMostCopied = 4095;      // blocks of one copy
constexpr int64_t kLossBytesPerLane = 72;  // maximum, sum, chosen score and what else is kept per loss
constexpr int64_t kLossFixedBytes = 5120;  // accumulators, partial sums of all cores, rounding
constexpr int64_t kLossPerLaunch = 1200;   // scores that a core takes while another one starts: eleven vector cycles per 64

/* Classes last. */
inline CrossEntropyTiling PlanLossRows(int64_t rows, int64_t classes, int64_t bytesPerElement, int64_t elementBytes) {
    using namespace common;
    const int64_t perElement = bytesPerElement + RowReduction::kBytesPerElement, perRow = RowReduction::kBytesPerRow + kLossBytesPerLane;
    RowTiling tiling = PlanRows(rows, classes, {elementBytes, perElement, perRow, 0, kLossPerLaunch, kLossFixedBytes});
    int64_t perChunk = classes;
    if (tiling.rowsPerTile == 0) {  // not even one row fits
        const int64_t most = (UnifiedBufferBytes() - kRoundingBytes - kLossFixedBytes - 8 * perRow) / perElement / kSlice * kSlice;
        perChunk = RoundUp(CeilDiv(classes, CeilDiv(classes, most)), kSlice);
        tiling.rowsPerTile = 1;
        tiling.blocks = static_cast<uint32_t>(std::min(rows, VectorCores()));
    }
    const auto stride = static_cast<uint32_t>(RoundUp(perChunk, kSlice));
    return {rows,
            1,
            classes,
            1,
            tiling.rowsPerTile,
            static_cast<uint32_t>(perChunk),
            static_cast<uint32_t>(CeilDiv(classes, perChunk)),
            1,
            stride,
            static_cast<uint32_t>(RoundUp(tiling.rowsPerTile, kSlice)),
            tiling.blocks};
}

/* Other axes behind the classes. */
inline CrossEntropyTiling PlanLossColumns(int64_t outer, int64_t classes, int64_t inner, int64_t bytesPerElement) {
    using namespace common;
    const int64_t cores = WorthwhileCores(outer * classes * inner, kLossPerLaunch);
    const int64_t wanted = std::min(CeilDiv(cores, outer), CeilDiv(inner, kSlice));  // strips, so that every core has one
    const int64_t strips = std::max(CeilDiv(inner, kWidestLoss), wanted);
    const int64_t width = RoundUp(CeilDiv(inner, strips), kLossGranule), perOuter = CeilDiv(inner, width), items = outer * perOuter;
    const int64_t room = UnifiedBufferBytes() - kLossFixedBytes, bytesPerItem = width * (classes * bytesPerElement + kLossBytesPerLane);
    const int64_t blocks = std::min(cores, items);
    int64_t perTile = 1, perChunk = classes;
    if (bytesPerItem > room || classes > kMostCopied) {
        const int64_t most = std::min((room - width * kLossBytesPerLane) / (width * bytesPerElement), kMostCopied);
        perChunk = CeilDiv(classes, CeilDiv(classes, most));
    } else if (perOuter == 1) {
        perTile = std::clamp<int64_t>(std::min(room / bytesPerItem, CeilDiv(items, blocks * kTilesToOverlap)), 1, kMostCopied / classes);
    }
    const auto stride = static_cast<uint32_t>(width);
    return {items,
            perOuter,
            classes,
            inner,
            static_cast<uint32_t>(perTile),
            static_cast<uint32_t>(perChunk),
            static_cast<uint32_t>(CeilDiv(classes, perChunk)),
            stride,
            stride,
            static_cast<uint32_t>(RoundUp(perTile * width, kSlice)),
            static_cast<uint32_t>(blocks)};
}

#endif  // REFERENCE_CROSS_ENTROPY_TILING_H
