/*
 * ChipModel: the figures of one chip, read once from the flat table of a hardware file and kept in the units that the replay counts in.
 *
 * Problem: the figures live in YAML in people's units (us, bytes/s), the replay needs integers that are equal on every host.
 * Approach: each field is parsed by name; times become whole cycles, rates become bytes per cycle in fixed point (kRateBits fraction bits).
 * Limits: nothing here depends on a kernel; a figure that the table lacks is an error at start, never a silent default.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "../timing.h"

namespace vnpu {

constexpr uint32_t kRateBits = 20;  // 1e-6 bytes per cycle: a 1 GB transfer is off by less than 0.1 %; 2^64 still holds 1e13 bytes
using Rate = uint64_t;              // bytes per cycle << kRateBits

// Cycles per 256-byte repeat without bank conflicts, by the width of the wider operand.
struct VectorCost {
    uint32_t b16 = 0;  // 1- and 2-byte elements
    uint32_t b32 = 0;  // 4- and 8-byte elements
};

struct DmaCost {
    uint32_t setup_cycles = 0;         // the pipe is taken before the first byte moves
    uint32_t block_cycles = 0;         // the pipe is taken at least this long per block
    uint32_t latency_cycles = 0;       // from the last byte on the pipe to completion
    Rate l2_rate = 0;                  // one core, served by L2
    uint32_t bypass_block_cycles = 0;  // loads past L2: that much longer per block
    Rate l0c_rate = 0;                 // FIX: out of L0C, in its bytes
};

// The cube unit and what loads its operands.
struct CubeCost {
    uint32_t fixed_cycles = 0;                               // of an Mmad
    uint32_t b8_cycles = 0, b16_cycles = 0, b32_cycles = 0;  // per 16 x 32 bytes x 16, by the operands' width
    uint32_t load_setup_cycles = 0;                          // of a load on MTE1
    Rate l0a_rate = 0, l0b_rate = 0;
};

class ChipModel {
public:
    ChipLimits limits = {};

    uint64_t launch_base = 0;       // cycles before block 0 starts
    uint64_t launch_per_block = 0;  // cycles between the starts of consecutive blocks
    uint64_t launch_minimum = 0;    // no launch takes less
    uint64_t sync_all = 0;          // from the last core that comes to all going on
    uint64_t cross_flag = 0;        // from a set within a block to its receivers
    uint32_t tpipe_setup = 0;

    uint32_t issue_cycles = 0;
    uint32_t ub_load_cycles = 0;
    uint32_t ub_store_cycles = 0;
    uint32_t cache_hit_cycles = 0;
    uint32_t cache_miss_cycles = 0;  // on top of a hit
    uint32_t cache_lines = 0;
    uint32_t cache_line_bytes = 0;
    uint32_t queue_depth = 0;
    uint32_t flag_cycles = 0;
    uint32_t barrier_cycles = 0;

    uint32_t vector_fixed = 0;
    uint32_t write_distance = 0;           // cycles from the read of a repeat to its write
    std::vector<VectorCost> vector_costs;  // in the order of kVectorFamilies (costs.cpp)

    CubeCost cube;
    DmaCost mte2, mte2_l1, mte3, fix;    // into the unified buffer, into L1, out, out of L0C
    Rate on_chip_rate = 0;               // UB to L1 and the like
    std::vector<Rate> hbm_read_rate;     // of one vector core, by number of cores reading (index 0 unused)
    std::vector<Rate> hbm_read_rate_l1;  // of one cube core
    std::vector<Rate> hbm_write_rate;
    Rate hbm_read_cap = 0;
    Rate hbm_total_cap = 0;
    Rate same_address_cap = 0;         // all reads past L2 of what another core has just read
    uint64_t same_address_cycles = 0;  // how long ago that may be
    Rate l2_read_cap = 0;
    Rate l2_write_cap = 0;
    uint64_t l2_bytes = 0;
};

// Names of the vector cost families in the hardware file (`vector.<name>.b16_cycles`), in the order of ChipModel::vector_costs.
const std::vector<const char *> &vector_family_names();

}  // namespace vnpu
