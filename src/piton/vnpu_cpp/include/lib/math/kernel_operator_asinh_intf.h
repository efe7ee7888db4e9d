/* A vendor header that kernels include: all of it is in kernel_operator.h. */
#ifndef PITON_LIB_MATH_KERNEL_OPERATOR_ASINH_INTF_H
#define PITON_LIB_MATH_KERNEL_OPERATOR_ASINH_INTF_H

#include "kernel_operator.h"

#endif /* PITON_LIB_MATH_KERNEL_OPERATOR_ASINH_INTF_H */
