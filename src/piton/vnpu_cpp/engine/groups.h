/*
 * The cores of a launch: which of them make up a block.
 *
 * Problem: a block is one core, or a cube core with one or two vector cores that run the same program side by side and are numbered each kind by itself.
 * Approach: all cores of a launch have one number each; those of a block follow one another, the cube core first. What a kernel asks for (GetBlockIdx and its
 * kind) and who takes part in a flag between cores is computed from that number.
 * Limits: the kinds of block that the Ascend 910B has.
 */
#pragma once

#include <cstdint>
#include <string>

#include "vnpu/abi.h"

namespace vnpu {

struct Groups {
    uint32_t kind = VNPU_CORE_AIV;  // enum vnpu_core_kind of the kernel
    uint32_t blocks = 0;

    bool is_mixed() const { return kind == VNPU_CORE_MIX_1_1 || kind == VNPU_CORE_MIX_1_2; }
    uint32_t vectors() const { return kind == VNPU_CORE_AIC ? 0 : kind == VNPU_CORE_MIX_1_2 ? 2 : 1; }  // of a block
    uint32_t members() const { return vectors() + (kind == VNPU_CORE_AIV ? 0 : 1); }                    // cores of a block
    uint32_t cores() const { return blocks * members(); }
    uint32_t vector_cores() const { return blocks * vectors(); }

    uint32_t block_of(uint32_t core) const { return core / members(); }
    bool is_cube(uint32_t core) const { return kind == VNPU_CORE_AIC || (is_mixed() && core % members() == 0); }
    uint32_t sub_block(uint32_t core) const { return is_mixed() && !is_cube(core) ? core % members() - 1 : 0; }
    // What GetBlockIdx gives: cube cores count blocks, vector cores count themselves.
    uint32_t number(uint32_t core) const { return is_cube(core) ? block_of(core) : block_of(core) * vectors() + sub_block(core); }
    uint32_t ratio(uint32_t core) const { return is_cube(core) ? 1 : vectors(); }
    uint32_t cube_of(uint32_t block) const { return block * members(); }
    uint32_t vector_of(uint32_t block, uint32_t sub) const { return block * members() + members() - vectors() + sub; }

    // For messages: with one core per block its number alone, in a mixed launch what people call it.
    std::string name(uint32_t core) const {
        if (!is_mixed()) return "core " + std::to_string(core);
        const std::string kind_name = is_cube(core) ? "AIC" : vectors() == 1 ? "AIV" : "AIV " + std::to_string(sub_block(core));
        return kind_name + " of block " + std::to_string(block_of(core));
    }
};

// Blocks that run at the same time on a chip with these cores.
inline uint32_t blocks_at_once(const Groups &groups, uint32_t cores_aic, uint32_t cores_aiv) {
    if (groups.kind == VNPU_CORE_AIV) return cores_aiv;
    if (groups.kind == VNPU_CORE_AIC) return cores_aic;
    const uint32_t pairs = cores_aiv / groups.vectors();
    return cores_aic < pairs ? cores_aic : pairs;
}

}  // namespace vnpu
