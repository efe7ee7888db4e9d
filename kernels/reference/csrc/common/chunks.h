/* Into how many chunks to cut an axis of which every index costs the same, so that the busiest core has the least to do; host code. */
#ifndef REFERENCE_CHUNKS_H
#define REFERENCE_CHUNKS_H

#include "tiling.h"

namespace common {

struct ChunkedAxis {
    int64_t length;
    int64_t most;      // indices of a chunk
    int64_t granule;   // of which a chunk has whole ones, unless that is more than `most`
    int64_t perIndex;  // elements
    int64_t others;    // how often the axis is walked
};

/* Indices of a chunk. A chunk costs a core as much as `elementsPerTile` elements besides its own. */
inline int64_t BestChunk(const ChunkedAxis &axis, int64_t cores, int64_t elementsPerTile) {
    const int64_t fewest = CeilDiv(axis.length, axis.most);
    int64_t best = axis.most, bestCost = INT64_MAX;
    for (int64_t chunks = fewest; chunks <= std::min(axis.length, fewest + 4 * cores); ++chunks) {
        const int64_t size = std::min(RoundUp(CeilDiv(axis.length, chunks), axis.granule), axis.most);
        const int64_t perCore = CeilDiv(axis.others * CeilDiv(axis.length, size), cores);
        const int64_t cost = perCore * (size * axis.perIndex + elementsPerTile);
        if (cost < bestCost) {
            bestCost = cost;
            best = size;
        }
    }
    return best;
}

}  // namespace common

#endif  // REFERENCE_CHUNKS_H
