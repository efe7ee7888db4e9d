"""Hundreds of launches of a few elements."""

import torch

from .honest import run


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    y = torch.empty_like(x)
    flat_x, flat_y = x.view(-1), y.view(-1)
    for first in range(0, x.numel(), 32):
        last = min(first + 32, x.numel())
        run(flat_x[first:last], flat_y[first:last], last - first, scale, shift)
    return y
