"""Axes in another order: the defining code of `transpose`."""

import torch


def transpose(x: torch.Tensor, perm: list[int]) -> torch.Tensor:
    """y of shape [x.shape[perm[0]], x.shape[perm[1]], ...] with axis k of y being axis perm[k] of x; a contiguous copy in the dtype of x.

    Raises RuntimeError (ValueError) when perm does not name every axis once.
    """
    return x.permute(perm).clone(memory_format=torch.contiguous_format)
