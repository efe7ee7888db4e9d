"""Dynamic symmetric quantisation by row: the defining code of `dynamic_quant`."""

import torch

_LEAST = 1e-12
"""Stands for the largest magnitude of a row of zeros, so that its scale stays above 0."""


def dynamic_quant(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """y = round(x / scale) as int8 and scale = max(|row|, 1e-12) / 127 as float32 (float64 for float64 input), rows along the last axis of x.

    Ties round to even. A quotient that is NaN (a NaN in the row, infinity over infinity) gives 0. float16 and bfloat16 are computed in float32.
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    low, high = torch.aminmax(wide, dim=-1, keepdim=True)
    scale = torch.maximum(high, -low).clamp_(min=_LEAST).div_(127)
    y = (wide / scale).round_().clamp_(-128, 127).nan_to_num_(nan=0.0)
    return y.to(torch.int8), scale.squeeze(-1)
