/* Another name of kernel_operator.h that kernels include. */
#ifndef PITON_KERNEL_OPERATOR_INTF_H
#define PITON_KERNEL_OPERATOR_INTF_H

#include "kernel_operator.h"

#endif
