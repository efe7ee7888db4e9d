/* torch/torch.h for operators: see piton_torch.h for what it holds and why. */
#ifndef PITON_HOST_TORCH_TORCH_H
#define PITON_HOST_TORCH_TORCH_H

#include "piton_torch.h"

#endif
