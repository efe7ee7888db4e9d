/* A vendor header that kernels include: all of it is in kernel_operator.h. */
#ifndef PITON_IMPL_DAV_C220_KERNEL_OPERATOR_REG_OTHERS_IMPL_H
#define PITON_IMPL_DAV_C220_KERNEL_OPERATOR_REG_OTHERS_IMPL_H

#include "kernel_operator.h"

#endif /* PITON_IMPL_DAV_C220_KERNEL_OPERATOR_REG_OTHERS_IMPL_H */
