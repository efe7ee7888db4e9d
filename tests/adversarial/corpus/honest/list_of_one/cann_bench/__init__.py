"""The output comes in a list."""

import torch

from .honest import honest


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    return [honest(x, base, scale, shift)]
