"""The k largest or smallest values along an axis with their indices: the defining code of `top_k`."""

import torch


def top_k(x: torch.Tensor, k: int, dim: int, largest: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """The k largest (or smallest) values along `dim`, best first, in the dtype of x, and their int64 indices; axis `dim` has length k.

    NaN counts as larger than every number. Among equal values the choice of indices is free, but no index comes twice. Raises RuntimeError for a k beyond the
    axis. No arithmetic happens, so every dtype is exact in itself.
    """
    values, indices = torch.topk(x, k, dim=dim, largest=largest, sorted=True)
    return values, indices
