#include "cube_costs.h"

#include <algorithm>

#include "../dtypes.h"

namespace vnpu {

void cost_mmad(const ChipModel &chip, const vnpu_record &record, uint32_t pairs, TraceEntry &entry) {
    entry.pipe = VNPU_PIPE_M;
    if (pairs == 0) return;
    const uint32_t width = dtype_bytes(record.src0.dtype);
    uint32_t each = width <= 1 ? chip.cube.b8_cycles : width == 2 ? chip.cube.b16_cycles : chip.cube.b32_cycles;
    if (record.p[3] & VNPU_MMAD_HF32) each = std::max(each / 2, 1u);  // page of HF32: twice as fast as float
    entry.cycles = chip.cube.fixed_cycles + pairs * each;
    entry.repeats = pairs;
}

void cost_load_data(const ChipModel &chip, const vnpu_record &record, uint64_t bytes, TraceEntry &entry) {
    entry.pipe = record.pipe;  // MTE1; Fill of L1 is on MTE2, copies into the fixpipe buffer on FIX
    if (bytes == 0) return;
    const Rate rate = record.dst.space == VNPU_SPACE_L0A ? chip.cube.l0a_rate : chip.cube.l0b_rate;
    entry.cycles = chip.cube.load_setup_cycles + static_cast<uint32_t>(((bytes << kRateBits) + rate - 1) / rate);
}

void cost_fixpipe(const ChipModel &chip, const vnpu_record &record, uint32_t blocks, uint64_t results, TraceEntry &entry) {
    entry.pipe = VNPU_PIPE_FIX;
    if (blocks == 0 || results == 0) return;
    const uint32_t element = std::max(dtype_bytes(record.dst.dtype), 1u);
    if (record.dst.space == VNPU_SPACE_L1) {  // no faster than L0C is read; what L1 takes is not published
        entry.cycles = chip.fix.setup_cycles + static_cast<uint32_t>((((results * 4) << kRateBits) + chip.fix.l0c_rate - 1) / chip.fix.l0c_rate);
        return;
    }
    entry.kind = TraceKind::GmWrite;
    entry.cycles = chip.fix.setup_cycles;
    entry.blocks = blocks;
    entry.block_bytes = static_cast<uint32_t>((results * element + blocks - 1) / blocks);  // of blocks that differ, the mean
    entry.gm_gap = std::max(record.p[3], entry.block_bytes) - entry.block_bytes;
    entry.gm_addr = record.dst.addr;
    entry.l0c_per_byte = static_cast<uint8_t>(4 / element);
    if (record.flags & VNPU_F_L2_BYPASS) entry.flags |= kTraceL2Bypass;
}

}  // namespace vnpu
