/*
 * The part of torch's C++ headers that plugins use, in one header that is precompiled once.
 *
 * Problem: <torch/all.h> takes 20 seconds a unit, most of it for modules and optimisers that no operator needs.
 * Approach: tensors, operator registration and guards only; torch/all.h and its like resolve to this header, since this folder is searched first.
 * Limits: torch::nn, torch::optim, torch::autograd::Function and serialisation are not here.
 */
#ifndef PITON_HOST_TORCH_H
#define PITON_HOST_TORCH_H

#include <ATen/ATen.h>
#include <ATen/Operators.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#endif /* PITON_HOST_TORCH_H */
