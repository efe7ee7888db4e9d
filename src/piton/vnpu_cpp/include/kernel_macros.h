/* A vendor header that kernels include: all of it is in kernel_operator.h. */
#ifndef PITON_KERNEL_MACROS_H
#define PITON_KERNEL_MACROS_H

#include "kernel_operator.h"

#endif /* PITON_KERNEL_MACROS_H */
