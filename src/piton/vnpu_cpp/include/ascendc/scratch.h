/*
 * Scratch memory that a composed call is given, apart from what it reads and writes.
 *
 * Problem: a call that is several instructions keeps intermediate results in the buffer it is given; one that overlaps a tensor destroys it, and nothing races.
 * Approach: the call asks before its first instruction; the engine reports both ranges.
 * Limits: only the bytes that the call uses count. Reductions allow their work buffer to be a tensor of theirs, and do not ask.
 */
#ifndef PITON_ASCENDC_SCRATCH_H
#define PITON_ASCENDC_SCRATCH_H

#include "record.h"

namespace piton {

/* `bytes` of `tensor`, and `used` bytes of the scratch memory. */
PITON_API void RequireApart(const char *api, vnpu_operand tensor, uint64_t bytes, vnpu_operand scratch, uint64_t used, Location at) {
    if (tensor.addr + bytes <= scratch.addr || scratch.addr + used <= tensor.addr) {
        return;
    }
    vnpu_record record = MakeNote(VNPU_OP_FAULT, at, VNPU_FAULT_SCRATCH);
    record.dst = tensor;
    record.dst.limit = static_cast<uint32_t>(bytes);
    record.src1 = scratch;
    record.src1.limit = static_cast<uint32_t>(used);
    FaultRecord(record, api);
}

}  // namespace piton

#endif /* PITON_ASCENDC_SCRATCH_H */
