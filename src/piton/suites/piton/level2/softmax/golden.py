"""Softmax along one axis: the defining code of `softmax`."""

import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """exp(x - m) / sum(exp(x - m)) along `dim`, m the largest value there; shape and dtype of x. Raises IndexError for an axis that x lacks.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of x; x is not changed.
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    power = (wide - wide.amax(dim, keepdim=True)).exp_()
    return power.div_(power.sum(dim, keepdim=True)).to(x.dtype)
