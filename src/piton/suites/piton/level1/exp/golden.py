"""Exponential of a linear function: the defining code of `exp`."""

import math

import torch


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """exp(scale * x + shift) when base <= 0, else exp((scale * x + shift) * ln(base)); shape and dtype of x.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of x; x is not changed.
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    power = wide * scale
    power.add_(shift)
    if base > 0:
        power.mul_(math.log(base))
    return power.exp_().to(x.dtype)
