/* A vendor header that kernels include: all of it is in kernel_operator.h. */
#ifndef PITON_ADV_API_ACTIVATION_SWIGLU_H
#define PITON_ADV_API_ACTIVATION_SWIGLU_H

#include "kernel_operator.h"

#endif /* PITON_ADV_API_ACTIVATION_SWIGLU_H */
