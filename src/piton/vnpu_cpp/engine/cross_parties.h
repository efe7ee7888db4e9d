/*
 * Who sets and who gets a flag between cores, and who meets at a SyncAll.
 *
 * Problem: execution and replay both pair sets with waits, and have to do it alike.
 * Approach: the modes of CrossCoreSetFlag as its documentation page gives them: 0 all cores of one kind, 1 the vector cores of a block, 2 the cube core of a
 * block to its vector cores, or all of those to it.
 * Limits: the modes of the Ascend 910B.
 */
#pragma once

#include <vector>

#include "groups.h"

namespace vnpu {

enum CrossMode : uint32_t { kAllOfKind = 0, kVectorsOfBlock = 1, kWithinBlock = 2 };

struct CrossParties {
    uint32_t senders = 0;             // sets that make it complete
    std::vector<uint32_t> receivers;  // cores
    uint32_t group = 0;               // sets of one mode and id belong together within a group: a block, a direction in it, or a kind of core
};

// Where cores meet at a SyncAll: those of one kind (enum vnpu_core_kind), or all.
constexpr uint32_t kSyncOfAll = 2;
constexpr uint32_t kSyncPoints = 3;

inline void add_receivers(CrossParties &parties, const Groups &groups, uint32_t block, bool is_cube) {
    if (is_cube) parties.receivers.push_back(groups.cube_of(block));
    for (uint32_t sub = 0; sub < groups.vectors() && !is_cube; ++sub) parties.receivers.push_back(groups.vector_of(block, sub));
}

inline CrossParties parties_of(const Groups &groups, uint32_t mode, uint32_t sender) {
    CrossParties parties;
    const bool is_cube = groups.is_cube(sender);
    const uint32_t block = groups.block_of(sender);
    if (mode == kWithinBlock) {
        parties.senders = is_cube ? 1 : groups.vectors();
        parties.group = block * 2 + is_cube;
        add_receivers(parties, groups, block, !is_cube);
        return parties;
    }
    parties.group = mode == kAllOfKind ? is_cube : block;
    for (uint32_t each = 0; each < groups.blocks; ++each)
        if (mode == kAllOfKind || each == block) add_receivers(parties, groups, each, is_cube);
    parties.senders = static_cast<uint32_t>(parties.receivers.size());
    return parties;
}

// Cores that have to come to a SyncAll.
inline uint32_t expected_at(const Groups &groups, uint32_t point) {
    if (point == kSyncOfAll) return groups.cores();
    return point == VNPU_CORE_AIC ? groups.cores() - groups.vector_cores() : groups.vector_cores();
}

inline bool takes_part(const Groups &groups, uint32_t core, uint32_t point) { return point == kSyncOfAll || groups.is_cube(core) == (point == VNPU_CORE_AIC); }

}  // namespace vnpu
