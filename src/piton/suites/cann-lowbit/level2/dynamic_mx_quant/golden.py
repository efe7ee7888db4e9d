"""Quantisation to an MX block format along any axis: the defining code of `dynamic_mx_quant`."""

import torch

_LARGEST = {"float8_e4m3": 448.0, "float8_e5m2": 57344.0, "float4_e2m1": 6.0}
"""Largest finite value of each element type."""
_TOP_EXPONENT = {"float8_e4m3": 8, "float8_e5m2": 15, "float4_e2m1": 2}
"""Exponent of that value."""


def dynamic_mx_quant(
    x: torch.Tensor, axis: int = -1, round_mode: str = "rint", dst_type: str = "float4_e2m1", blocksize: int = 32, scale_alg: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Elements in the shape of x, and scales; both in a wide type: the evaluator rounds them once to `dst_type` and to float8_e8m0.

    `blocksize` neighbours along `axis` share a scale, a power of two; the last block may be shorter. Scales are laid out in pairs: `axis` has
    ceil(blocks / 2) entries and a new last axis two, where an odd last one is followed by 2^-127. scale_alg 0 takes the exponent of the largest magnitude
    less that of the largest element value, scale_alg 1 the smallest power of two that keeps all elements in range. A block with an infinity or NaN has
    the scale NaN and elements of zero. Raises ValueError for modes that the element type does not have, IndexError for an axis that x does not have.
    """
    is_fp4 = dst_type == "float4_e2m1"
    if round_mode not in ("rint", "floor", "round") or scale_alg not in (0, 1):
        raise ValueError(f"round_mode is {round_mode!r}, scale_alg {scale_alg}: expected rint, floor or round, and 0 or 1")
    if (round_mode != "rint" and not is_fp4) or (scale_alg != 0 and is_fp4):
        raise ValueError("round_mode other than rint is for float4_e2m1 only, scale_alg 1 for the others")
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"x has {x.ndim} axes, and none of number {axis}")
    axis %= x.ndim
    elements = x.to(torch.float64 if x.dtype is torch.float64 else torch.float32, copy=True, memory_format=torch.contiguous_format)
    lines = elements.view(x.shape[:axis].numel(), x.shape[axis], x.shape[axis + 1 :].numel())
    scales = torch.cat([_quantise(blocks, dst_type, scale_alg) for blocks in _blocks(lines, blocksize)], 1)
    if round_mode != "rint":
        _round(elements, round_mode)
    return elements, _pairs(scales, x.shape, axis)


def _blocks(lines: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Views of lines [outer, n, inner]: full blocks as [outer, blocks, size, inner], and what is left over as one more block."""
    whole = lines.shape[1] // size * size
    full = [lines[:, :whole].view(lines.shape[0], -1, size, lines.shape[2])] if whole else []
    return full + ([lines[:, whole:].unsqueeze(1)] if whole < lines.shape[1] else [])


def _quantise(blocks: torch.Tensor, dst_type: str, scale_alg: int) -> torch.Tensor:
    """Divide blocks [outer, blocks, size, inner] by their scales in place; returns the scales, [outer, blocks, inner]."""
    peak = torch.maximum(blocks.amax(2), -blocks.amin(2))
    is_special = ~peak.isfinite()
    fraction, exponent = torch.frexp(torch.where(is_special, 1.0, peak))
    exponent = exponent - 1 - _TOP_EXPONENT[dst_type]
    if scale_alg == 1:
        exponent += 2 * fraction > _LARGEST[dst_type] / 2.0 ** _TOP_EXPONENT[dst_type]
    exponent = torch.where(peak == 0, -127, exponent).clamp_(-127, 127)
    one, half = torch.ones_like(peak), exponent // 2
    # 2^-exponent in two halves: 2^127 times a float32 would overflow before it becomes small.
    for factor in (torch.ldexp(one, -half), torch.ldexp(one, half - exponent)):
        blocks.mul_(factor.unsqueeze(2))
    blocks.clamp_(-_LARGEST[dst_type], _LARGEST[dst_type]).masked_fill_(is_special.unsqueeze(2), 0.0)
    return torch.where(is_special, torch.nan, torch.ldexp(one, exponent))


def _round(values: torch.Tensor, mode: str) -> None:
    """Round to float4_e2m1 in place, down (`floor`) or to nearest with ties away from zero (`round`): its step is 0.5 up to 2, then 1, from 4 on 2."""
    step = torch.where(values.abs() < 2, 0.5, 1.0).to(values.dtype)
    step.masked_fill_(values.abs() >= 4, 2.0)
    values.div_(step)
    if mode == "floor":
        values.floor_()
    else:
        values.add_(values.sign().mul_(0.5)).trunc_()
    values.mul_(step).clamp_(-_LARGEST["float4_e2m1"], _LARGEST["float4_e2m1"])


def _pairs(scales: torch.Tensor, shape: torch.Size, axis: int) -> torch.Tensor:
    """Scales [outer, blocks, inner] as [..., ceil(blocks / 2) at `axis`, ..., 2]."""
    if scales.shape[1] % 2:
        scales = torch.cat([scales, scales.new_full((scales.shape[0], 1, scales.shape[2]), 2.0**-127)], 1)
    pairs = scales.view(scales.shape[0], -1, 2, scales.shape[2]).movedim(2, -1)
    return pairs.reshape(*shape[:axis], pairs.shape[1], *shape[axis + 1 :], 2).contiguous()


def get_input(x: torch.Tensor, axis: int = -1, blocksize: int = 32) -> torch.Tensor:
    """x with every block made smaller by a power of two from 1 to 2^-7: uniform data has nearly the same largest magnitude, and scale, in every block.

    Values of one sign stay as they are, since smaller ones could leave their range.
    """
    if x.amin() > 0 or x.amax() < 0:
        return x
    axis %= x.ndim
    shape = [*x.shape[:axis], -(-x.shape[axis] // blocksize), *x.shape[axis + 1 :]]
    shift = torch.randint(0, 8, shape, dtype=torch.uint8).repeat_interleave(blocksize, dim=axis).narrow(axis, 0, x.shape[axis])
    return torch.ldexp(x.float(), -shift.int()).to(x.dtype)
