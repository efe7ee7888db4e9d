/*
 * The arithmetic of vector instructions on dense runs of elements; which bytes they are is vector_plan.h's business.
 *
 * The loops are in loops/, once per instruction set; paths.h says how one is chosen. Compile with -O3 -fno-math-errno -fno-trapping-math: without, some stay
 * scalar. The bits of results depend on none of these, only on -ffp-contract=off.
 */
#pragma once

#include <cstdint>

namespace vnpu {

// dst[i] = src0[i] op src1[i] (or op scalar, whose bits are in the operands' dtype). dst may be a source exactly, never overlap one partly.
using VectorKernel = void (*)(void *dst, const void *src0, const void *src1, uint64_t scalar, uint32_t count);

// Null where the chip has no such instruction (or the virtual NPU does not support it).
VectorKernel cast_kernel(uint8_t from, uint8_t to, uint32_t round_mode);                                 // p[3] of the record
VectorKernel vector_kernel(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype, uint32_t round_mode);  // any, casts included

}  // namespace vnpu
