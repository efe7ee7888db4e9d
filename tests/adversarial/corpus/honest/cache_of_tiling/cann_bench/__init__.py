"""A tiling is kept by shape."""

from functools import cache

import torch

from .honest import run


@cache
def tiling(elements: int) -> tuple[tuple[int, int], ...]:
    """Ends of the pieces of so many elements; the same for every call of a shape."""
    return tuple((first, min(first + 1024, elements)) for first in range(0, elements, 1024))


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    y = torch.empty_like(x)
    for first, last in tiling(x.numel()):
        run(x.view(-1)[first:last], y.view(-1)[first:last], last - first, scale, shift)
    return y
