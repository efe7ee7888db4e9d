/*
 * Ops::Base for kernels: rounding, and sizes of the chip as constants.
 *
 * Problem: kernels of operator projects take these from headers of the vendor's operator package (op_kernel/math_util.h, op_kernel/platform_util.h), which is
 * not public; host code has the same names with another meaning (host.h).
 * Approach: what public kernels do with them says what they are: division rounded up or down, multiples, the size of a data block and of a vector register.
 * Limits: the names that public kernels for the Ascend 910B use. A step of 0 gives the value itself, as on the host side.
 */
#ifndef PITON_PROJECT_KERNEL_ARITHMETIC_H
#define PITON_PROJECT_KERNEL_ARITHMETIC_H

#if defined(PITON_PROJECT_HOST)
#include "host.h"
#else

#include <cstdint>

#include "ascendc/macros.h"

namespace Ops {
namespace Base {

template <typename A, typename B>
PITON_API constexpr A CeilDiv(A value, B step) {
    return step == 0 ? value : static_cast<A>((value + static_cast<A>(step) - 1) / static_cast<A>(step));
}
template <typename A, typename B>
PITON_API constexpr A CeilAlign(A value, B step) {
    return step == 0 ? value : static_cast<A>(CeilDiv(value, step) * static_cast<A>(step));
}
template <typename A, typename B>
PITON_API constexpr A FloorDiv(A value, B step) {
    return step == 0 ? value : static_cast<A>(value / static_cast<A>(step));
}
template <typename A, typename B>
PITON_API constexpr A FloorAlign(A value, B step) {
    return step == 0 ? value : static_cast<A>(FloorDiv(value, step) * static_cast<A>(step));
}

/* Bytes of a data block of the unified buffer. */
PITON_API constexpr uint32_t GetUbBlockSize() { return 32; }

/* Bytes that one repeat of a vector instruction takes. */
PITON_API constexpr uint32_t GetVRegSize() { return 256; }

}  // namespace Base
}  // namespace Ops

#endif

#endif /* PITON_PROJECT_KERNEL_ARITHMETIC_H */
