/*
 * How group_norm cuts its work; host code, but for the structure.
 *
 * A line is one channel of one sample: neighbours in global memory, a row of whole vector instructions in the unified buffer. A group is some lines. A tile
 * has whole groups of one sample, or, where a group does not fit, a chunk of it: some lines, or a part of a single one.
 */
#ifndef REFERENCE_GROUP_NORM_TILING_H
#define REFERENCE_GROUP_NORM_TILING_H

#include "../../../common/row_reduction.h"
#include "../../../common/row_tiling.h"

struct GroupTiling {
    int64_t groups;           // of all samples
    int64_t perSample;        // groups of a sample
    int64_t positions;        // of a line
    uint32_t channels;        // lines of a group
    uint32_t stride;          // elements from line to line in the unified buffer
    uint32_t groupsPerTile;   // 0: chunks
    uint32_t linesPerTile;    // most lines of a tile or chunk
    uint32_t widthPerChunk;   // positions of a chunk
    uint32_t chunksPerGroup;  // of all its lines
    uint32_t partsPerLine;    // chunks of one line, where a chunk is not even that
    uint32_t blocks;          // vector cores used
};

constexpr int64_t kBytesPerGroupLine = 112;  // gamma and beta: loaded, widened, eight times each
constexpr int64_t kGroupFixedBytes = 4096;   // rounding, single numbers
constexpr int64_t kGroupPerLaunch = 1300;    // elements that a core takes while another one starts: ten vector cycles per 64

inline GroupTiling PlanGroups(int64_t samples, int64_t perSample, int64_t channels, int64_t positions, int64_t bytesPerElement) {
    using namespace common;
    const int64_t groups = samples * perSample, stride = RoundUp(positions, kSlice), room = UnifiedBufferBytes() - kGroupFixedBytes;
    const int64_t cores = std::min(WorthwhileCores(groups * channels * positions, kGroupPerLaunch), groups);
    const int64_t bytesPerLine = stride * bytesPerElement + kBytesPerGroupLine, bytesPerGroup = channels * bytesPerLine + RowReduction::kBytesPerRow;
    const int64_t fitting = std::min({room / bytesPerGroup, kMostRows / channels, perSample});
    GroupTiling tiling{groups, perSample, positions, static_cast<uint32_t>(channels), static_cast<uint32_t>(stride), 0, 0,
                       0,      0,         1,         static_cast<uint32_t>(cores)};
    if (fitting > 0) {
        const int64_t wanted = CeilDiv(CeilDiv(groups, cores), kTilesToOverlap);
        const int64_t atOnce = std::clamp<int64_t>(wanted, 1, fitting);
        tiling.groupsPerTile = static_cast<uint32_t>(CeilDiv(perSample, CeilDiv(perSample, atOnce)));
        tiling.linesPerTile = tiling.groupsPerTile * static_cast<uint32_t>(channels);
        return tiling;
    }
    const int64_t forData = room - 8 * RowReduction::kBytesPerRow, lines = std::min({forData / bytesPerLine, kMostRows, channels});
    if (lines > 0) {
        tiling.linesPerTile = static_cast<uint32_t>(CeilDiv(channels, CeilDiv(channels, lines)));
        tiling.widthPerChunk = static_cast<uint32_t>(positions);
        tiling.chunksPerGroup = static_cast<uint32_t>(CeilDiv(channels, tiling.linesPerTile));
        return tiling;
    }
    const int64_t most = (forData - kBytesPerGroupLine) / bytesPerElement / kSlice * kSlice;
    tiling.widthPerChunk = static_cast<uint32_t>(RoundUp(CeilDiv(positions, CeilDiv(positions, most)), kSlice));
    tiling.linesPerTile = 1;
    tiling.stride = tiling.widthPerChunk;
    tiling.partsPerLine = static_cast<uint32_t>(CeilDiv(positions, tiling.widthPerChunk));
    tiling.chunksPerGroup = static_cast<uint32_t>(channels * tiling.partsPerLine);
    return tiling;
}

#endif  // REFERENCE_GROUP_NORM_TILING_H
