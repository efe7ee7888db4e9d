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
    wide = x if x.dtype is torch.float64 else x.float()
    length = wide.shape[-1]
    padded = torch.nn.functional.pad(wide, (0, -length % _BLOCK)).reshape(*wide.shape[:-1], -1, _BLOCK)
    peak = padded.abs().amax(-1, keepdim=True)
    is_special = ~peak.isfinite()
    exponent = torch.frexp(torch.where(is_special, 1.0, peak)).exponent - 1 - _TOP_EXPONENT[dst_type]
    exponent = torch.where(peak == 0, -127, exponent).clamp_(-127, 127)
    # 2^-exponent in two halves: 2^127 times a float32 would overflow before it becomes small.
    half = exponent // 2
    scaled = torch.ldexp(torch.ldexp(padded, -half), half - exponent)
    largest = _LARGEST[dst_type]
    elements = torch.where(is_special, 0.0, scaled.clamp_(-largest, largest)).flatten(-2)[..., :length]
    scale = torch.where(is_special, torch.nan, torch.ldexp(torch.ones_like(peak), exponent)).squeeze(-1)
    return elements, scale


def get_input(x: torch.Tensor) -> torch.Tensor:
    """x with every block of 32 made smaller by a power of two from 1 to 2^-7: uniform data has nearly the same largest magnitude, and scale, in every block."""
    blocks = -(-x.shape[-1] // _BLOCK)
    divisor = (1 << torch.randint(0, 8, (*x.shape[:-1], blocks))).repeat_interleave(_BLOCK, dim=-1)
    return x / divisor[..., : x.shape[-1]].to(x.dtype)
