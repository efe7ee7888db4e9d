/*
 * How queries and keys are cut into tiles: a tile is a contiguous piece of [groups, positions, heads, length], as long as it has all of an axis before it has
 * more than one index of the next: some positions with all heads; or, of few positions, some groups with all positions; or some heads of one position. Tiles
 * that have the same positions follow one another, so that the angles are brought into their places once for all of them. Host code, but for the structure.
 */
#ifndef REFERENCE_ROTARY_PLAN_H
#define REFERENCE_ROTARY_PLAN_H

#include "../../../common/chunks.h"
#include "apply_rotary_pos_emb_launch.h"

struct RotaryPlan {
    int64_t groups;
    int64_t positions;
    int64_t heads;
    uint32_t pairs;
    uint32_t perTile[3];  // groups, positions, heads
    int64_t chunks[3];    // and into how many each is cut
    int64_t tiles;
    uint32_t blocks;  // vector cores used
    bool isInterleaved;
    bool isGathered;  // an element finds its partner by Gather
};

struct RotaryTraits {
    int64_t elementBytes;
    int64_t bytesPerElement;  // kept in the unified buffer per element of a tile
    int64_t fixedBytes;
};

inline RotaryPlan PlanRotary(const RotaryTensors &tensors, const RotaryTraits &kernel) {
    using namespace common;
    constexpr int64_t kElementsPerLaunch = 1000, kElementsPerTile = 1024, kAlignment = 8;
    const int64_t length = 2 * tensors.pairs, perPosition = tensors.heads * length, perGroup = tensors.positions * perPosition;
    const int64_t all = tensors.batches * tensors.groups * perGroup, cores = WorthwhileCores(2 * all, kElementsPerLaunch);
    const int64_t fitting = (UnifiedBufferBytes() - kernel.fixedBytes) / kernel.bytesPerElement;
    const int64_t largest = std::clamp(CeilDiv(all, cores * kTilesToOverlap), std::min(kMinTileBytes / kernel.elementBytes, fitting), fitting);
    int64_t perTile[3] = {1, 1, tensors.heads};
    if (largest < perPosition) {
        const int64_t most = std::max<int64_t>(largest / length, 1);
        perTile[2] = BestChunk({tensors.heads, most, 1, length, tensors.batches * tensors.groups * tensors.positions}, cores, kElementsPerTile);
    } else if (largest < perGroup) {
        const int64_t most = largest / perPosition;
        perTile[1] = BestChunk({tensors.positions, most, 1, perPosition, tensors.batches * tensors.groups}, cores, kElementsPerTile);
    } else {
        perTile[1] = tensors.positions;
        perTile[0] = BestChunk({tensors.groups, std::min(largest / perGroup, tensors.groups), 1, perGroup, tensors.batches}, cores, kElementsPerTile);
    }
    RotaryPlan plan{tensors.groups, tensors.positions, tensors.heads, static_cast<uint32_t>(tensors.pairs), {}, {}, tensors.batches, 0, tensors.isInterleaved,
                    false};
    const int64_t sizes[3] = {tensors.groups, tensors.positions, tensors.heads};
    for (int32_t axis = 0; axis < 3; ++axis) {
        plan.perTile[axis] = static_cast<uint32_t>(perTile[axis]);
        plan.chunks[axis] = CeilDiv(sizes[axis], perTile[axis]);
        plan.tiles *= plan.chunks[axis];
    }
    plan.blocks = static_cast<uint32_t>(std::min(cores, plan.tiles));
    plan.isGathered = tensors.isInterleaved ? kernel.elementBytes == sizeof(float) : tensors.pairs % kAlignment != 0;
    return plan;
}

#endif  // REFERENCE_ROTARY_PLAN_H
