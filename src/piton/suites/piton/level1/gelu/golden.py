"""Gaussian error linear unit: the defining code of `gelu`."""

import math

import torch


def gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """x * Phi(x), with Phi by erf ("none") or by its tanh form ("tanh"); shape and dtype of x. Raises ValueError for another `approximate`.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of x; x is not changed.
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    phi = _twice_phi(wide, approximate).mul_(0.5)  # halved before the product: 2 * x would overflow near the top of float32
    return phi.mul_(wide).to(x.dtype)


def _twice_phi(x: torch.Tensor, approximate: str) -> torch.Tensor:
    """1 + erf(x / sqrt(2)), or 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)), as a new tensor."""
    if approximate == "none":
        return (x * math.sqrt(0.5)).erf_().add_(1)
    if approximate == "tanh":
        return (x * x).mul_(0.044715).add_(1).mul_(x).mul_(math.sqrt(2 / math.pi)).tanh_().add_(1)
    raise ValueError(f'approximate must be "none" or "tanh", not {approximate!r}')
