"""Sum, root mean square normalisation and dynamic quantisation by row: the defining code of `add_rms_norm_dynamic_quant`."""

import torch

_LEAST = 1e-12
"""Stands for the largest magnitude of a row of zeros, so that its scale stays above 0."""


def add_rms_norm_dynamic_quant(
    x1: torch.Tensor, x2: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """y int8, xOut = x1 + x2 in the dtype of x1, and scaleOut float32 (float64 for float64 inputs), one per row along the last axis.

    normal = xOut / sqrt(mean(xOut^2) + epsilon) * gamma, from the unrounded sum; scaleOut = max(max |normal|, 1e-12) / 127; y = round(normal / scaleOut), ties
    to even, 0 where that is NaN. float16 and bfloat16 are computed in float32. Two temporaries of the size of x1.
    """
    left, right, weight = (item.float() if item.dtype in (torch.float16, torch.bfloat16) else item for item in (x1, x2, gamma))
    total = left + right
    factor = total.square().mean(-1, keepdim=True).add_(epsilon).rsqrt_()
    normal = (total * factor).mul_(weight)
    low, high = torch.aminmax(normal, dim=-1, keepdim=True)
    scale = torch.maximum(high, -low).clamp_(min=_LEAST).div_(127)
    y = normal.div_(scale).round_().clamp_(-128, 127).nan_to_num_(nan=0.0).to(torch.int8)
    return y, total.to(x1.dtype), scale.squeeze(-1)
