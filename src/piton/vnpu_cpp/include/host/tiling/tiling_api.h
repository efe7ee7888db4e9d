/* The vendor's name for the header with the tiling classes and functions, and with what defines tiling data. */
#ifndef PITON_HOST_TILING_TILING_API_H
#define PITON_HOST_TILING_TILING_API_H

#include "piton_matmul/classes.h"
#include "piton_norms/elementwise.h"
#include "piton_norms/more_norms.h"
#include "piton_norms/softmax.h"
#include "piton_project/registry.h"
#include "piton_project/secure.h"

#endif /* PITON_HOST_TILING_TILING_API_H */
