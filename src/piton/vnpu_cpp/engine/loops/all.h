/* Every body of inner loops for one path, and the table of them. Included by the units path_*.cpp only, after they have chosen VNPU_PATH. */
#pragma once

#include "loops/halves.h"

#include "loops/casts.h"
#include "loops/floats.h"
#include "loops/fused.h"
#include "loops/integers.h"
#include "loops/lanes.h"
#include "loops/products.h"

namespace vnpu::VNPU_PATH {

inline VectorKernel either(VectorKernel a, VectorKernel b) { return a ? a : b; }

inline VectorKernel vector_kernel(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype, uint32_t round_mode) {
    if (opcode == VNPU_OP_CAST) return casts::kernel(src_dtype, dst_dtype, round_mode);
    if (src_dtype != dst_dtype) return either(floats::mixed_kernel(opcode, dst_dtype, src_dtype), fused::kernel(opcode, dst_dtype, src_dtype));
    const VectorKernel arithmetic = either(floats::kernel(opcode, dst_dtype), integers::kernel(opcode, dst_dtype, round_mode != 0));
    return either(arithmetic, integers::move_kernel(opcode, dst_dtype));
}

constexpr Loops kLoops = {VNPU_PATH_NAME,   vector_kernel,      casts::kernel,  halves_to_floats, floats_to_halves,
                          products::floats, products::integers, lanes::compare, lanes::select,    lanes::sum};

}  // namespace vnpu::VNPU_PATH
