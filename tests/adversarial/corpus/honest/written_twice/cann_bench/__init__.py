"""A first pass writes what a second one overwrites."""

import torch

from .honest import run


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    y = torch.empty_like(x)
    run(x, y, None, 0.0, 0.0)
    run(x, y, None, scale, shift)
    return y
