/*
 * The order that the unit flag gives between Mmad and Fixpipe.
 *
 * Problem: with the flag the hardware lets Fixpipe read each 512 bytes of L0C as soon as Mmad has finished them, and back, without SetFlag and WaitFlag.
 * Approach: an edge from the whole earlier instruction, inserted where the two meet in L0C.
 * Limits: nothing of an Mmad overlaps with its own Fixpipe; a flag that nobody sets is not found.
 */
#pragma once

#include "access.h"

namespace vnpu {

// `record` touches [begin, end) of L0C: order it after what `from` did there.
void order_by_unit_flag(Core &core, const vnpu_record &record, uint8_t from, uint64_t begin, uint64_t end, bool is_write);

}  // namespace vnpu
