/*
 * The pessimistic accuracy mode: what a kernel has to survive where the vector unit's accuracy is not published.
 *
 * Problem: Exp, Ln, Div, Rsqrt and Reciprocal are computed to the last bit or nearly so here, which is better than any chip; a kernel may pass for that alone.
 * Approach: in this mode their results are off by one unit in the last place of the result's type, up or down as a hash of the operand's bits says, so the
 * same operand always gives the same result, whatever the order, the core or the host. Subnormal operands count as zeros of their sign, and subnormal
 * results become such zeros. Zeros, infinities and NaNs stay, and no finite result becomes infinite.
 * Limits: one unit is what the vendor publishes for the successor's Exp, Ln and Div (the 910B's figures are not published); a chip may be off by more in
 * Reciprocal and Rsqrt, and is often off by less. Instructions inside reductions and casts are exact in both modes.
 */
#pragma once

#include <cstdint>

#include "vector_kernels.h"

namespace vnpu {

// Whether the mode changes this instruction.
bool is_approximate(uint16_t opcode);

// The kernel on `count` elements of halves or floats (`is_half`), with the results that the mode allows it. dst may be a source exactly.
struct Operands {
    uint8_t *dst;
    const uint8_t *src0;
    const uint8_t *src1;  // null for an instruction of one source
    bool is_half;
};
void run_pessimistic(VectorKernel kernel, const Operands &operands, uint64_t scalar, uint32_t count);

}  // namespace vnpu
