/*
 * Which elements a vector instruction touches.
 *
 * Problem: count form, 128-bit masks, counter mode, block and repeat strides all select bytes; execution, bounds, overlap and hazards need the same answer.
 * Approach: one list of runs, each dense in every operand, in the order the hardware goes through them; neighbours that continue each other are merged, so
 * a dense instruction is one run whatever form it was written in.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core.h"
#include "dtypes.h"

namespace vnpu {

constexpr uint32_t kOperands = 3;       // dst, src0, src1
constexpr uint32_t kRepeatBytes = 256;  // one iteration of the vector unit
constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kMaxRepeats = 255;  // the field has 8 bits

struct Run {
    uint64_t at[kOperands];  // UB byte offsets; unused operands stay 0
    uint32_t count;          // elements
    uint32_t repeat;         // iteration it belongs to (of its first element when merged)
};

struct VectorPlan {
    uint32_t bytes[kOperands] = {};  // element size; 0 = no such operand
    std::vector<Run> runs;
    uint32_t repeats = 0;   // iterations the hardware makes
    uint64_t elements = 0;  // active ones
    uint32_t lanes = 0;     // elements of one iteration
    bool is_count_form = false;
};

inline const vnpu_operand &operand(const vnpu_record &record, uint32_t which) { return which == 0 ? record.dst : which == 1 ? record.src0 : record.src1; }
inline uint64_t run_bytes(const VectorPlan &plan, const Run &run, uint32_t which) { return static_cast<uint64_t>(run.count) * plan.bytes[which]; }

// The count form, and calls made of several instructions, leave normal mode and a full mask behind.
void reset_mask(MaskState &mask, const vnpu_record &record);

// What the record's mask flags make of the mask register; says so when another call has filled the register that the instruction goes by.
void apply_mask_flags(Core &core, const vnpu_record &record);

// Says so when counter mode makes an instruction leave out repeats that it asks for: a mode that was left behind.
void note_counter(Core &core, const vnpu_record &record, uint32_t lanes);

// Applies the record's mask flags to the core's mask state as the hardware would, then lists the elements. Cuts the launch on impossible parameters.
VectorPlan plan_vector(Core &core, const vnpu_record &record);

// Bytes from the operand's address to the end of what the instruction touches.
uint64_t extent(const VectorPlan &plan, const vnpu_record &record, uint32_t which);

// Overlaps of source and destination that the documentation forbids. True when a source has to be read as a whole before the destination is written.
bool check_overlap(Core &core, const vnpu_record &record, const VectorPlan &plan);

}  // namespace vnpu
