/* A name of piton_project/kernel_arithmetic.h, as kernels of operator projects include it. */
#ifndef PITON_PROJECT_NAME_OP_KERNEL_PLATFORM_UTIL_H
#define PITON_PROJECT_NAME_OP_KERNEL_PLATFORM_UTIL_H

#include "piton_project/kernel_arithmetic.h"

#endif /* PITON_PROJECT_NAME_OP_KERNEL_PLATFORM_UTIL_H */
