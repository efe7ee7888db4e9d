"""Modules in nested packages, and names that other tools give a meaning."""

import torch

from .tests.golden.benchmark import timer as inner


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    return inner.exp(x, base, scale, shift)
