"""Running minimum along an axis with its indices: the defining code of `cummin`."""

import torch


def cummin(input: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Smallest value up to each position along `dim` in shape and dtype of the input, and an int64 index of it that is not beyond the position.

    From the first NaN on every value is NaN. No arithmetic happens, so every dtype is exact in itself.
    """
    values, indices = torch.cummin(input, dim=dim)
    return values, indices
