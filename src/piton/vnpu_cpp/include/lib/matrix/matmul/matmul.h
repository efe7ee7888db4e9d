/* The vendor's name for the header with the Matmul object. */
#ifndef PITON_LIB_MATRIX_MATMUL_MATMUL_H
#define PITON_LIB_MATRIX_MATMUL_MATMUL_H

#include "ascendc/matmul/registration.h"
#include "kernel_operator.h"

#endif /* PITON_LIB_MATRIX_MATMUL_MATMUL_H */
