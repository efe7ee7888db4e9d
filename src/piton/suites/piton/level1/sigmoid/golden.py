"""Logistic sigmoid: the defining code of `sigmoid`."""

import torch


def sigmoid(x: torch.Tensor) -> torch.Tensor:
    """1 / (1 + exp(-x)); shape and dtype of x.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of x; x is not changed.
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return torch.sigmoid(wide).to(x.dtype)
