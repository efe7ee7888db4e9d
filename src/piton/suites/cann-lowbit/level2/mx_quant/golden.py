"""Quantisation to an MX block format: the defining code of `mx_quant`."""

import torch

_BLOCK = 32
_LARGEST = {"float8_e4m3": 448.0, "float8_e5m2": 57344.0, "float4_e2m1": 6.0}
"""Largest finite value of each element type."""
_TOP_EXPONENT = {"float8_e4m3": 8, "float8_e5m2": 15, "float4_e2m1": 2}
"""Exponent of that value."""


def mx_quant(x: torch.Tensor, dst_type: str = "float8_e4m3") -> tuple[torch.Tensor, torch.Tensor]:
    """Elements and scales, both in a wide type: the evaluator rounds them once to `dst_type` and to float8_e8m0.

    Blocks of 32 along the last axis share the scale 2^(floor(log2(largest magnitude)) - exponent of the largest element value), kept within 2^-127 to 2^127.
    A block with an infinity or NaN has the scale NaN and elements of zero. Raises KeyError for another dst_type.
    """
    elements = x.to(torch.float64 if x.dtype is torch.float64 else torch.float32, copy=True)
    scales = [_quantise(blocks, dst_type) for blocks in _blocks(elements)]
    return elements, torch.cat(scales, -1)


def _blocks(values: torch.Tensor) -> list[torch.Tensor]:
    """Views of `values`: its full blocks as [..., blocks, 32], and what is left over as one more block."""
    whole = values.shape[-1] // _BLOCK * _BLOCK
    full = [values[..., :whole].view(*values.shape[:-1], -1, _BLOCK)] if whole else []
    return full + ([values[..., whole:].unsqueeze(-2)] if whole < values.shape[-1] else [])


def _quantise(blocks: torch.Tensor, dst_type: str) -> torch.Tensor:
    """Divide blocks of shape [..., n] by their scales in place; returns the scales, of shape [...]."""
    peak = torch.maximum(blocks.amax(-1), -blocks.amin(-1))
    is_special = ~peak.isfinite()
    exponent = torch.frexp(torch.where(is_special, 1.0, peak)).exponent - 1 - _TOP_EXPONENT[dst_type]
    exponent = torch.where(peak == 0, -127, exponent).clamp_(-127, 127)
    one, half = torch.ones_like(peak), exponent // 2
    # 2^-exponent in two halves: 2^127 times a float32 would overflow before it becomes small.
    for factor in (torch.ldexp(one, -half), torch.ldexp(one, half - exponent)):
        blocks.mul_(factor.unsqueeze(-1))
    blocks.clamp_(-_LARGEST[dst_type], _LARGEST[dst_type]).masked_fill_(is_special.unsqueeze(-1), 0.0)
    return torch.where(is_special, torch.nan, torch.ldexp(one, exponent))


def get_input(x: torch.Tensor) -> torch.Tensor:
    """x with every block of 32 made smaller by a power of two from 1 to 2^-7: uniform data has nearly the same largest magnitude, and scale, in every block.

    Values of one sign stay as they are, since smaller ones could leave their range.
    """
    if x.amin() > 0 or x.amax() < 0:
        return x
    blocks = -(-x.shape[-1] // _BLOCK)
    divisor = (1 << torch.randint(0, 8, (*x.shape[:-1], blocks))).repeat_interleave(_BLOCK, dim=-1)
    return x / divisor[..., : x.shape[-1]].to(x.dtype)
