/* A name of piton_project/registry.h: the host side of operator projects. */
#ifndef PITON_PROJECT_NAME_RUNTIME_INFER_DATATYPE_CONTEXT_H
#define PITON_PROJECT_NAME_RUNTIME_INFER_DATATYPE_CONTEXT_H

#include "piton_project/host.h"

#endif /* PITON_PROJECT_NAME_RUNTIME_INFER_DATATYPE_CONTEXT_H */
