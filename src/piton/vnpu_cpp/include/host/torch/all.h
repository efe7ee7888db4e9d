/* torch/all.h for operators: see piton_torch.h for what it holds and why. */
#ifndef PITON_HOST_TORCH_ALL_H
#define PITON_HOST_TORCH_ALL_H

#include "piton_torch.h"

#endif
