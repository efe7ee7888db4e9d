/* torch/extension.h for operators: see piton_torch.h; with torch's conversions for pybind11, which an extension of this form uses. */
#ifndef PITON_HOST_TORCH_EXTENSION_H
#define PITON_HOST_TORCH_EXTENSION_H

#include "piton_torch.h"

#include <torch/csrc/utils/pybind.h>

#endif
