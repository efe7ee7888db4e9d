"""Index of the largest value along an axis: the defining code of `arg_max`."""

import torch


def arg_max(input: torch.Tensor, dim: int, keepdim: bool = False) -> torch.Tensor:
    """Index along `dim` of the largest value, as int64; the axis goes, or stays with length 1 under `keepdim`.

    NaN counts as larger than every number. Where the largest value occurs more than once, any of its indices is right; this code gives one of them. Raises
    IndexError for an axis that is not there or is empty.
    """
    return torch.argmax(input, dim=dim, keepdim=keepdim)
