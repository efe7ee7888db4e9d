/* A vendor header that kernels include: all of it is in kernel_operator.h. */
#ifndef PITON_BASIC_API_KERNEL_OPERATOR_DETERMINE_COMPUTE_SYNC_INTF_H
#define PITON_BASIC_API_KERNEL_OPERATOR_DETERMINE_COMPUTE_SYNC_INTF_H

#include "kernel_operator.h"

#endif /* PITON_BASIC_API_KERNEL_OPERATOR_DETERMINE_COMPUTE_SYNC_INTF_H */
