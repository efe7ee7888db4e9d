/*
 * The header a kernel includes: all of Ascend C that the virtual NPU knows, one header per family.
 *
 * Problem: a kernel for the chip has to compile and behave here without a change.
 * Approach: the vendor's names, signatures and values as its public documentation gives them; each call becomes a record for the engine (vnpu/abi.h).
 * Limits: the memory-based vector and cube API of the Ascend 910B only. A name that is missing here is reported as an unsupported API.
 */
#ifndef PITON_KERNEL_OPERATOR_H
#define PITON_KERNEL_OPERATOR_H

#include "ascendc/activation.h"
#include "ascendc/allocator.h"
#include "ascendc/atomic.h"
#include "ascendc/broadcast.h"
#include "ascendc/buffer_pool.h"
#include "ascendc/cache.h"
#include "ascendc/cast.h"
#include "ascendc/compare.h"
#include "ascendc/compiler_names.h"
#include "ascendc/constants.h"
#include "ascendc/copy.h"
#include "ascendc/copy_slice.h"
#include "ascendc/cross_core.h"
#include "ascendc/cube.h"
#include "ascendc/cube_fill.h"
#include "ascendc/cube_image.h"
#include "ascendc/dequant.h"
#include "ascendc/dump.h"
#include "ascendc/duplicate.h"
#include "ascendc/error_function.h"
#include "ascendc/fill.h"
#include "ascendc/fixpipe.h"
#include "ascendc/fixpipe_copy.h"
#include "ascendc/gather.h"
#include "ascendc/list_tensor.h"
#include "ascendc/math.h"
#include "ascendc/operators.h"
#include "ascendc/power.h"
#include "ascendc/print.h"
#include "ascendc/queue.h"
#include "ascendc/reduce.h"
#include "ascendc/registers.h"
#include "ascendc/row_reduce.h"
#include "ascendc/scalar.h"
#include "ascendc/select.h"
#include "ascendc/softmax.h"
#include "ascendc/sort.h"
#include "ascendc/std.h"
#include "ascendc/tiling.h"
#include "ascendc/transpose.h"
#include "ascendc/trigonometry.h"
#include "ascendc/vector_axpy.h"
#include "ascendc/vector_binary.h"
#include "ascendc/vector_copy.h"
#include "ascendc/vector_fused.h"
#include "ascendc/vector_scalar.h"
#include "ascendc/vector_unary.h"
#include "ascendc/workspace.h"
#include "vnpu/launch.h"

#endif /* PITON_KERNEL_OPERATOR_H */
