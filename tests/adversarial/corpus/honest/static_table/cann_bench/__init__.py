"""A table of constants made at import."""

import math

import torch

from .honest import run

LOGARITHMS = {float(base): math.log(base) for base in range(2, 4096)} | {-1.0: 1.0}
"""Looked up instead of computed."""


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    factor = LOGARITHMS.get(base, math.log(base) if base > 0 else 1.0)
    y = torch.empty_like(x)
    run(x, y, None, scale * factor, shift * factor)
    return y
