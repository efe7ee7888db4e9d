"""Distinct values in ascending order: the defining code of `unique`."""

import torch


def unique(x: torch.Tensor, return_inverse: bool = False) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The distinct values of x in ascending order, one axis; with `return_inverse` also int64 positions in the shape of x so that y[inverse] is x.

    No arithmetic happens, so every dtype is exact in itself. Every NaN counts as a value of its own, at the end.
    """
    if return_inverse:
        values, inverse = torch.unique(x, sorted=True, return_inverse=True)
        return values, inverse
    values = torch.unique(x, sorted=True)
    assert isinstance(values, torch.Tensor)
    return values
