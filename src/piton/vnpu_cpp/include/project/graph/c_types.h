/* Numbers of element types and formats: for a kernel macros, for host code enumerators. */
#ifndef PITON_PROJECT_GRAPH_C_TYPES_H
#define PITON_PROJECT_GRAPH_C_TYPES_H

#if defined(PITON_PROJECT_HOST)
#include "graph/types.h"
#else
#include "piton_project/kernel_numbers.h"
#endif

#endif /* PITON_PROJECT_GRAPH_C_TYPES_H */
