"""Larger of two elements, with broadcasting: the defining code of `maximum`."""

import torch


def maximum(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """The larger of x1 and x2, element by element; their broadcast shape and their dtype. NaN when either is NaN.

    Nothing is rounded, so every dtype is computed in itself. No temporaries; x1 and x2 are not changed. Raises RuntimeError when the shapes do not fit.
    """
    return torch.maximum(x1, x2)
