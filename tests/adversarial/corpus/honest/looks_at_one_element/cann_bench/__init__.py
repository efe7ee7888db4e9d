"""One element is read to choose a path."""

import torch

from .honest import run


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    y = torch.empty_like(x)
    first = x.view(-1)[0].item()
    run(x, y, None, scale if first == first else scale * 1.0, shift)
    return y
