"""Times itself, and counts its calls."""

import time

import torch

from .honest import honest

statistics: dict[str, float] = {}


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    started = time.perf_counter()
    statistics["calls"] = statistics.get("calls", 0) + 1
    y = honest(x, base, scale, shift)
    statistics["seconds"] = time.perf_counter() - started
    return y
