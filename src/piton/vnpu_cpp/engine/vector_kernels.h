/*
 * The arithmetic of vector instructions on dense runs of elements; which bytes they are is vector_plan.h's business.
 *
 * Compile with -O3 -fno-math-errno -fno-trapping-math (and AVX2 with F16C where the machine has them): without, some loops stay scalar. The bits of
 * results depend on none of these, only on -ffp-contract=off.
 */
#pragma once

#include <cstdint>

namespace vnpu {

// dst[i] = src0[i] op src1[i] (or op scalar, whose bits are in the operands' dtype). dst may be a source exactly, never overlap one partly.
using VectorKernel = void (*)(void *dst, const void *src0, const void *src1, uint64_t scalar, uint32_t count);

// Null where the chip has no such instruction (or the virtual NPU does not support it).
VectorKernel float_kernel(uint16_t opcode, uint8_t dtype);                                               // half and float arithmetic
VectorKernel mixed_kernel(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype);                        // Axpy of half into float
VectorKernel integer_kernel(uint16_t opcode, uint8_t dtype, bool is_rounding = false);                   // arithmetic, logic, shifts (ShiftRight's roundEn)
VectorKernel fused_kernel(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype);                        // with a destination of another type
VectorKernel move_kernel(uint16_t opcode, uint8_t dtype);                                                // Copy, Duplicate
VectorKernel cast_kernel(uint8_t from, uint8_t to, uint32_t round_mode);                                 // p[3] of the record
VectorKernel vector_kernel(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype, uint32_t round_mode);  // any of these

}  // namespace vnpu
