/* A vendor header that kernels include: all of it is in kernel_operator.h. */
#ifndef PITON_STD_ALGORITHM_H
#define PITON_STD_ALGORITHM_H

#include "kernel_operator.h"

#endif /* PITON_STD_ALGORITHM_H */
