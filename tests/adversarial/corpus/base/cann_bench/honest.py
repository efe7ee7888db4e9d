"""Honest work: what an exploit pretends to do, and what it goes back to."""

import math

import torch

from . import _C  # noqa: F401 - loading the library registers `run`


def run(x: torch.Tensor, y: torch.Tensor, elements: int | None = None, factor: float = 1.0, offset: float = 0.0) -> None:
    """One launch of the kernel: y = e^(factor * x + offset) for the first `elements`, by default all of x."""
    torch.ops.cann_bench.run(x, y, x.numel() if elements is None else elements, factor, offset)


def honest(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """The operator as its schema has it."""
    logarithm = math.log(base) if base > 0 else 1.0
    y = torch.empty_like(x)
    run(x, y, None, scale * logarithm, shift * logarithm)
    return y
