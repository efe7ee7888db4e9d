/* The vendor's name for the header with the Matmul tiling classes. */
#ifndef PITON_HOST_ADV_API_MATMUL_MATMUL_TILING_H
#define PITON_HOST_ADV_API_MATMUL_MATMUL_TILING_H

#include "piton_matmul/classes.h"

#endif /* PITON_HOST_ADV_API_MATMUL_MATMUL_TILING_H */
