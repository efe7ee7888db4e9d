/* The vendor's name for the header with the Matmul tiling classes. */
#ifndef PITON_HOST_TILING_TILING_API_H
#define PITON_HOST_TILING_TILING_API_H

#include "piton_matmul/classes.h"

#endif /* PITON_HOST_TILING_TILING_API_H */
