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
    bool isInHalves;  // pairs are halves of whole 32 bytes in float32
};

constexpr int64_t kRotaryAlignment = 8;  // floats of 32 bytes

/* What the kernel keeps in the unified buffer: bytes per element of a tile, and bytes per element of one head for each of its positions. */
struct RotaryBytes {
    int64_t perElement;
    int64_t perAngle;
};

inline RotaryBytes BytesOf(const RotaryPlan &plan, int64_t elementBytes) {
    constexpr int64_t kFloat = sizeof(float);
    const bool isFloat = elementBytes == kFloat, isCopied = plan.pairs * 2 % kRotaryAlignment == 0;
    RotaryBytes bytes{4 * elementBytes + 2 * kFloat, elementBytes + kFloat};         // queues, cosines and sines; these as they come, and widened
    bytes.perElement += isFloat ? 0 : 2 * kFloat;                                    // widened elements, products
    bytes.perElement += plan.isGathered ? kFloat : 0;                                // offsets of partners
    (isCopied ? bytes.perAngle : bytes.perElement) += plan.isInHalves ? 0 : kFloat;  // offsets of angles
    bytes.perElement += isFloat && !plan.isInHalves ? kFloat : 0;                    // room for an index
    return bytes;
}

/* The most elements of a tile: the more heads it has, the fewer of them are another position's. */
inline int64_t FittingElements(const RotaryBytes &bytes, int64_t room, int64_t heads, int64_t length) {
    const int64_t least = room / (bytes.perElement + bytes.perAngle), headsOfTile = std::clamp<int64_t>(least / length, 1, heads);
    return room / (bytes.perElement + common::CeilDiv(bytes.perAngle, headsOfTile));
}

/* Groups, positions and heads of a tile of at most `largest` elements. */
inline void ChooseTile(const RotaryTensors &tensors, int64_t largest, int64_t cores, int64_t *perTile) {
    using namespace common;
    constexpr int64_t kElementsPerTile = 1024;
    const int64_t length = 2 * tensors.pairs, perPosition = tensors.heads * length, perGroup = tensors.positions * perPosition;
    perTile[0] = perTile[1] = 1;
    perTile[2] = tensors.heads;
    if (largest < perPosition) {
        const int64_t most = std::max<int64_t>(largest / length, 1);
        perTile[2] = BestChunk({tensors.heads, most, 1, length, tensors.batches * tensors.groups * tensors.positions}, cores, kElementsPerTile);
    } else if (largest < perGroup) {
        perTile[1] = BestChunk({tensors.positions, largest / perPosition, 1, perPosition, tensors.batches * tensors.groups}, cores, kElementsPerTile);
    } else {
        perTile[1] = tensors.positions;
        perTile[0] = BestChunk({tensors.groups, std::min(largest / perGroup, tensors.groups), 1, perGroup, tensors.batches}, cores, kElementsPerTile);
    }
}

inline RotaryPlan PlanRotary(const RotaryTensors &tensors, int64_t elementBytes, int64_t fixedBytes) {
    using namespace common;
    constexpr int64_t kElementsPerLaunch = 1000;
    const int64_t length = 2 * tensors.pairs, all = tensors.batches * tensors.groups * tensors.positions * tensors.heads * length;
    const int64_t cores = WorthwhileCores(2 * all, kElementsPerLaunch);
    RotaryPlan plan{};
    plan.groups = tensors.groups;
    plan.positions = tensors.positions;
    plan.heads = tensors.heads;
    plan.pairs = static_cast<uint32_t>(tensors.pairs);
    plan.isInterleaved = tensors.isInterleaved;
    plan.isInHalves = !tensors.isInterleaved && tensors.pairs % kRotaryAlignment == 0;
    plan.isGathered = tensors.isInterleaved ? elementBytes == sizeof(float) : !plan.isInHalves;
    const int64_t fitting = FittingElements(BytesOf(plan, elementBytes), UnifiedBufferBytes() - fixedBytes, tensors.heads, length);
    const int64_t largest = std::clamp(CeilDiv(all, cores * kTilesToOverlap), std::min(kMinTileBytes / elementBytes, fitting), fitting);
    const int64_t sizes[3] = {tensors.groups, tensors.positions, tensors.heads};
    int64_t perTile[3];
    ChooseTile(tensors, largest, cores, perTile);
    plan.tiles = tensors.batches;
    for (int32_t axis = 0; axis < 3; ++axis) {
        plan.perTile[axis] = static_cast<uint32_t>(perTile[axis]);
        plan.chunks[axis] = CeilDiv(sizes[axis], perTile[axis]);
        plan.tiles *= plan.chunks[axis];
    }
    plan.blocks = static_cast<uint32_t>(std::min(cores, plan.tiles));
    return plan;
}

#endif  // REFERENCE_ROTARY_PLAN_H
