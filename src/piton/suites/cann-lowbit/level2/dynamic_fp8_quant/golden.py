"""Quantisation to an 8-bit floating format with a scale per row found from the data: the defining code of `dynamic_fp8_quant`."""

import torch

_LARGEST = {"float8_e4m3": 448.0, "float8_e5m2": 57344.0, "hifloat8": 32768.0}
"""Largest finite value of each format."""


def dynamic_fp8_quant(x: torch.Tensor, smooth_scales: torch.Tensor | None = None, dst_type: str = "float8_e4m3") -> tuple[torch.Tensor, torch.Tensor]:
    """Quotients in the shape of x in a wide type, which the evaluator rounds once to `dst_type`, and one scale per row: the shape of x without its last axis.

    A row is x times `smooth_scales` (one per column, if given); its scale is its largest magnitude over the largest value of `dst_type`. A row of zeros has
    the scale 0 and stays zero. NaN in a row makes the row and its scale NaN. Raises KeyError for another dst_type.
    """
    wide = torch.float64 if x.dtype is torch.float64 else torch.float32
    rows = x.to(wide, copy=True)
    if smooth_scales is not None:
        rows.mul_(smooth_scales.to(wide))
    largest = _LARGEST[dst_type]
    scale = torch.maximum(rows.amax(-1), -rows.amin(-1)) / largest
    rows.div_(torch.where(scale == 0, 1.0, scale).unsqueeze(-1)).clamp_(-largest, largest)
    return rows, scale


def get_input(x: torch.Tensor, smooth_scales: torch.Tensor | None = None) -> tuple[torch.Tensor, ...]:
    """x with every row but the first made smaller by a factor from 1 to 1/16: rows of uniform data have nearly the same largest magnitude, and scale.

    Values of one sign stay as they are, since smaller ones could leave their range.
    """
    factor = torch.rand(*x.shape[:-1], 1) * 0.9375 + 0.0625
    factor.view(-1)[:1] = 1.0
    scaled = x if x.amin() > 0 or x.amax() < 0 else (x.float() * factor).to(x.dtype)
    return (scaled,) if smooth_scales is None else (scaled, smooth_scales)
