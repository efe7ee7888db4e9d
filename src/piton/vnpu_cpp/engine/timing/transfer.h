/*
 * What one DMA instruction moves.
 *
 * Problem: a strided or unaligned copy moves more than its bytes, and part of them may lie in L2.
 * Approach: round each block to its bursts and ask the L2 line by line; a burst that lacks a line is fetched whole. What misses may be what another core
 * reads too.
 * Limits: decided when the transfer starts; stores are rounded to 32 B, the 128 B lines around them are not fetched.
 */
#pragma once

#include "../trace.h"
#include "chip.h"
#include "l2.h"
#include "shared_reads.h"

namespace vnpu {

// Bytes to move, in the order in which the transfer moves them.
struct TransferPlan {
    uint64_t l2_bytes = 0;
    uint64_t hbm_bytes = 0;         // reads: misses; writes: bytes past L2 and dirty bytes that have to leave first
    uint64_t shared_bytes = 0;      // reads: the part of hbm_bytes that another core has just read
    uint64_t write_back_bytes = 0;  // reads: dirty bytes pushed out; HBM takes them beside the read
};

// Bytes that the bursts of one block carry. Bursts are 128, 256 or 512 B long; a block that starts off a 128-byte boundary fills whole bursts.
// Public documentation gives the sizes; the rule for unaligned blocks is calibrated to UB 4 and L1 3 of the DataCopy example.
uint64_t burst_bytes(uint64_t addr, uint64_t bytes);

// Figures of the path that a copy takes, and the cycles that its blocks take at least (out of L0C: that its bytes there take).
const DmaCost &dma_of(const ChipModel &chip, const TraceEntry &entry);
uint64_t block_cycles(const DmaCost &dma, const TraceEntry &entry);

// Who reads what, and when: a transfer of block `block` that starts at `now`.
struct Reader {
    uint64_t now = 0;
    uint32_t block = 0;
};

TransferPlan plan_transfer(const TraceEntry &entry, const Reader &reader, L2 &l2, SharedReads &shared);

}  // namespace vnpu
