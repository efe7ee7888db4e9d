/*
 * Bank conflicts of the unified buffer: how many cycles the repeats of one vector instruction take.
 *
 * Problem: an Add of conflict-free operands takes one cycle per repeat, of operands in the same bank groups two, and a write that meets a read costs too.
 * Approach: walk the repeats cycle by cycle. A repeat reads its 32-byte blocks; blocks of one operand in one bank group follow each other, two sources that
 * share a bank group are read one after the other. The write of a repeat happens `write_distance` cycles after its read; a read waits while a write uses
 * one of its banks. The published exception (source and destination in step do not conflict) follows from the odd distance and needs no rule.
 * Limits: masks do not reduce the blocks read; the pipeline starts empty at every instruction. All eight scenarios of the published bank conflict example
 * come out within 3 % (tests/sim/test_timing_cost.py).
 */
#pragma once

#include <cstdint>

namespace vnpu {

// Blocks that one operand touches: block k of repeat r lies at addr + (r * rep + k * blk) * 32 bytes.
struct BankOperand {
    uint64_t addr = 0;
    uint32_t blk = 1;
    uint32_t rep = 8;
    uint32_t blocks = 0;  // per repeat; 0: no such operand
};

// Cycles of all repeats, each at least `compute` cycles.
uint64_t repeat_cycles(const BankOperand &dst, const BankOperand &src0, const BankOperand &src1, uint32_t repeats, uint32_t compute, uint32_t write_distance);

}  // namespace vnpu
