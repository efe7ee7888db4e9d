/*
 * What the instructions around the cube unit cost.
 *
 * Mmad: a fixed part and a figure per pair of fractals. Loads on MTE1: set-up and bytes at the rate into L0A or L0B; the bias table is assumed to be filled at
 * the rate of L0B, as are L1 by Fill and the fixpipe buffer. Fixpipe: set-up here, bytes in the replay, which lets it go no faster than L0C can be read.
 */
#pragma once

#include "chip.h"

namespace vnpu {

void cost_mmad(const ChipModel &chip, const vnpu_record &record, uint32_t pairs, TraceEntry &entry);
void cost_load_data(const ChipModel &chip, const vnpu_record &record, uint64_t bytes, TraceEntry &entry);
void cost_fixpipe(const ChipModel &chip, const vnpu_record &record, uint32_t blocks, uint64_t results, TraceEntry &entry);

}  // namespace vnpu
