"""SwiGLU and quantisation to MXFP8 in one: the defining code of `swi_glu_mx_quant`."""

import torch

_BLOCK = 32
_LARGEST = {"float8_e4m3": 448.0, "float8_e5m2": 57344.0}
"""Largest finite value of each element type: 1.75 times a power of two in both."""
_TOP_EXPONENT = {"float8_e4m3": 8, "float8_e5m2": 15}
"""Exponent of that value."""


def swi_glu_mx_quant(x: torch.Tensor, activate_left: bool = True, dst_type: str = "float8_e4m3", scale_alg: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Elements with half the last axis of x, and scales in pairs; both in a wide type: the evaluator rounds them once to `dst_type` and to float8_e8m0.

    The last axis of x is cut in halves; one (`activate_left`: the first) goes through a * sigmoid(a) and is multiplied by the other. 32 neighbours of the
    product share a scale: by scale_alg 0 2^(floor(log2(largest magnitude)) - exponent of the largest element value), by 1 the smallest power of two that
    keeps all elements in range. float16 and bfloat16 are computed in float32, and nothing is rounded before the quantisation. A block with an infinity or
    NaN has the scale NaN and elements of zero. Raises KeyError for another dst_type.
    """
    wide = torch.float64 if x.dtype is torch.float64 else torch.float32
    left, right = x.chunk(2, -1)
    gate, linear = (left, right) if activate_left else (right, left)
    elements = torch.nn.functional.silu(gate.to(wide)).mul_(linear.to(wide))
    scales = torch.cat([_quantise(blocks, dst_type, scale_alg) for blocks in _blocks(elements)], -1)
    padded = torch.nn.functional.pad(scales, (0, scales.shape[-1] % 2), value=2.0**-127)
    return elements, padded.view(*padded.shape[:-1], -1, 2)


def _blocks(values: torch.Tensor) -> list[torch.Tensor]:
    """Views of `values`: its full blocks as [..., blocks, 32], and what is left over as one more block."""
    whole = values.shape[-1] // _BLOCK * _BLOCK
    full = [values[..., :whole].view(*values.shape[:-1], -1, _BLOCK)] if whole else []
    return full + ([values[..., whole:].unsqueeze(-2)] if whole < values.shape[-1] else [])


def _quantise(blocks: torch.Tensor, dst_type: str, scale_alg: int) -> torch.Tensor:
    """Divide blocks of shape [..., n] by their scales in place; returns the scales, of shape [...]."""
    peak = torch.maximum(blocks.amax(-1), -blocks.amin(-1))
    is_special = ~peak.isfinite()
    fraction, exponent = torch.frexp(torch.where(is_special, 1.0, peak))
    exponent = exponent - 1 - _TOP_EXPONENT[dst_type]
    if scale_alg == 1:
        exponent += 2 * fraction > 1.75
    exponent = torch.where(peak == 0, -127, exponent).clamp_(-127, 127)
    one, half = torch.ones_like(peak), exponent // 2
    # 2^-exponent in two halves: 2^127 times a float32 would overflow before it becomes small.
    for factor in (torch.ldexp(one, -half), torch.ldexp(one, half - exponent)):
        blocks.mul_(factor.unsqueeze(-1))
    blocks.clamp_(-_LARGEST[dst_type], _LARGEST[dst_type]).masked_fill_(is_special.unsqueeze(-1), 0.0)
    return torch.where(is_special, torch.nan, torch.ldexp(one, exponent))
