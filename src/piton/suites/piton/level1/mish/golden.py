"""Mish activation: the defining code of `mish`."""

import torch


def mish(x: torch.Tensor) -> torch.Tensor:
    """x * tanh(ln(1 + exp(x))); shape and dtype of x.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of x; x is not changed. Where exp(x) overflows, ln and
    tanh lead it to 1 and the result is x itself.
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return wide.exp().log1p_().tanh_().mul_(wide).to(x.dtype)
