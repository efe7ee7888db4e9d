/* The vendor's name for the header with the tiling macros. */
#ifndef PITON_KERNEL_TILING_H
#define PITON_KERNEL_TILING_H

#include "ascendc/matmul/cube_tiling.h"
#include "ascendc/norms/tilings.h"
#include "ascendc/tiling.h"

#endif /* PITON_KERNEL_TILING_H */
