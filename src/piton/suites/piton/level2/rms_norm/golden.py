"""Root mean square normalisation: the defining code of `rms_norm`."""

import torch


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    """x / sqrt(mean(x^2) + epsilon) * gamma, the mean along the last axis; shape and dtype of x. Raises RuntimeError when gamma does not fit that axis.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of x at a time; x and gamma are not changed.
    """
    wide, scale = (item.float() if item.dtype in (torch.float16, torch.bfloat16) else item for item in (x, gamma))
    factor = wide.square().mean(-1, keepdim=True).add_(epsilon).rsqrt_()
    return (wide * factor).mul_(scale).to(x.dtype)
