"""Dequantisation, SwiGLU and dynamic quantisation by row: the defining code of `dequant_swiglu_quant`."""

import torch

_LEAST = 1e-12
"""Smallest scale, that of a row of zeros."""


def dequant_swiglu_quant(
    x: torch.Tensor,
    weight_scale: torch.Tensor | None = None,
    activation_scale: torch.Tensor | None = None,
    quant_scale: torch.Tensor | None = None,
    activate_left: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """y [M, H] int8 and scale [M] float32 (float64 when computed in float64) of x [M, 2H].

    int32 x is multiplied by weight_scale [1, 2H] and activation_scale [M], which floating x must not have. With the halves A and B, silu(B) * A, or
    silu(A) * B if `activate_left`, times quant_scale [1, H] where given, is quantised by rows: scale = max(max |row| / 127, 1e-12), y = round(row / scale),
    ties to even, 0 where that is NaN. float16 and bfloat16 are computed in float32. Raises ValueError for an odd last axis and for scales that do not go with
    x.
    """
    if x.shape[-1] % 2:
        raise ValueError(f"the last axis of x has an odd length, {x.shape[-1]}")
    left, right = _dequantised(x, weight_scale, activation_scale).chunk(2, dim=-1)
    gate, other = (left, right) if activate_left else (right, left)
    rows = torch.nn.functional.silu(gate).mul_(other)
    if quant_scale is not None:
        rows.mul_(quant_scale)
    low, high = torch.aminmax(rows, dim=-1, keepdim=True)
    scale = torch.maximum(high, -low).div_(127).clamp_(min=_LEAST)
    return rows.div_(scale).round_().clamp_(-128, 127).nan_to_num_(nan=0.0).to(torch.int8), scale.squeeze(-1)


def _dequantised(x: torch.Tensor, weight_scale: torch.Tensor | None, activation_scale: torch.Tensor | None) -> torch.Tensor:
    """x in the dtype that is computed in, times its scales if it is int32."""
    if x.is_floating_point():
        if weight_scale is not None or activation_scale is not None:
            raise ValueError(f"x is {x.dtype}: weight_scale and activation_scale have to be None")
        return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    if weight_scale is None or activation_scale is None:
        raise ValueError(f"x is {x.dtype}: weight_scale and activation_scale are needed")
    return (x * weight_scale).mul_(activation_scale.unsqueeze(-1))
