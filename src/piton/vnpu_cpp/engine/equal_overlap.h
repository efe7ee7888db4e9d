/*
 * Moves whose destination lies over their source and that leave the source as it is.
 *
 * Problem: the documentation forbids such an overlap, since the order in which lanes read and write is not told; yet a row that is repeated in place, or heads
 * of blocks that are spread over their own blocks, give the same in any order: every byte of the source that is overwritten gets the value it has.
 * Approach: look at the values. What holds for these is a finding, what does not stays `bad_overlap`.
 * Limits: instructions that move bytes (Copy, Gather); without data it can't be told, and nothing is reported.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core.h"

namespace vnpu {

struct Move {
    uint64_t from, to, bytes;  // in the unified buffer
};

// Whether every byte that one of the moves reads holds afterwards what it holds now. Says so in a finding.
bool keeps_its_source(Core &core, const vnpu_record &record, const std::vector<Move> &moves);

}  // namespace vnpu
