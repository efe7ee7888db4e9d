"""Grouped int8 matrix product, gated by SwiGLU and quantised row by row: the defining code of `grouped_matmul_swiglu_quant`."""

import torch

_EXACT_TERMS = 1024
"""Products of two int8 numbers, at most 2^14 each, of which so many sum to at most 2^24: float32 holds every partial sum."""
_LARGEST_CODE = 127.0
_SMALLEST_PEAK = torch.finfo(torch.float32).tiny
"""Stands for the peak of a row of zeros, so that it has a scale: the smallest normal float32."""


def grouped_matmul_swiglu_quant(
    x: torch.Tensor,
    weight: torch.Tensor,
    weight_scale: torch.Tensor,
    x_scale: torch.Tensor,
    group_list: list[int],
) -> tuple[torch.Tensor, torch.Tensor]:
    """silu(left half) * right half of the dequantised products of every group, as int8 [M, N / 2] with a float32 scale per row [M].

    x is [M, K] and weight [E, K, N], both int8; weight_scale [E, N], x_scale [M]. group_list holds the ends of the E groups; rows after the last end count as
    zeros. Products are exact, what follows is computed in float32 (in float64 when the scales are). Temporaries: those of one group. Raises ValueError for an
    odd N, and for groups that do not fit x.
    """
    ends = list(group_list)
    starts = [0, *ends][: len(ends)]
    if len(ends) != weight.shape[0] or max(ends, default=0) > x.shape[0] or any(start > end for start, end in zip(starts, ends, strict=True)):
        raise ValueError(f"group_list {ends} does not split {x.shape[0]} rows into {weight.shape[0]} groups")
    if weight.shape[2] % 2:
        raise ValueError(f"the last axis of weight has {weight.shape[2]} columns, which have no two halves")
    y = torch.zeros(x.shape[0], weight.shape[2] // 2, dtype=torch.int8)
    y_scale = torch.full((x.shape[0],), _SMALLEST_PEAK / _LARGEST_CODE, dtype=x_scale.dtype)
    for group, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start < end:
            product = _exact_product(x[start:end], weight[group]).to(x_scale.dtype)
            product *= x_scale[start:end, None]
            product *= weight_scale[group]
            y[start:end], y_scale[start:end] = _quantised_swiglu(product)
    return y, y_scale


def _quantised_swiglu(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes [rows, N / 2] and scales [rows]; halves round to the even code."""
    left, right = values.chunk(2, dim=-1)
    gated = torch.nn.functional.silu(left).mul_(right)
    scale = gated.abs().amax(-1).clamp_min_(_SMALLEST_PEAK).div_(_LARGEST_CODE)
    return gated.div_(scale[:, None]).round_().clamp_(-128.0, 127.0).to(torch.int8), scale


def _exact_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """left @ right of int8 matrices, exact, in float64: torch multiplies whole numbers a hundred times slower than floating ones."""
    product = torch.zeros(*left.shape[:-1], right.shape[-1], dtype=torch.float64)
    for start in range(0, left.shape[-1], _EXACT_TERMS):
        part = slice(start, start + _EXACT_TERMS)
        product += left[:, part].float() @ right[part].float()
    return product
