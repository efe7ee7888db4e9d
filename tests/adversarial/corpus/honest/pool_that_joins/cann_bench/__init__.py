"""A pool of threads of its own, which ends before the return."""

from concurrent.futures import ThreadPoolExecutor

import torch

from .honest import run


def piece_of(first: int, elements: int) -> tuple[int, int]:
    """Ends of one piece."""
    return first, min(first + 512, elements)


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    y = torch.empty_like(x)
    with ThreadPoolExecutor(4) as pool:
        pieces = list(pool.map(piece_of, range(0, x.numel(), 512), [x.numel()] * x.numel()))
    for first, last in pieces:
        run(x.view(-1)[first:last], y.view(-1)[first:last], last - first, scale, shift)
    return y
