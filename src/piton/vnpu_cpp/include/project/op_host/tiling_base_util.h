/* A name of piton_project/host.h: the host side of operator projects. */
#ifndef PITON_PROJECT_NAME_OP_HOST_TILING_BASE_UTIL_H
#define PITON_PROJECT_NAME_OP_HOST_TILING_BASE_UTIL_H

#include "piton_project/host.h"

#endif /* PITON_PROJECT_NAME_OP_HOST_TILING_BASE_UTIL_H */
