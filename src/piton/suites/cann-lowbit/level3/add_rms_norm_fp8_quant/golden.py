"""Residual sum, RMS normalisation and dynamic quantisation in one: the defining code of `add_rms_norm_fp8_quant`."""

import torch

_LARGEST = {"float8_e4m3": 448.0, "float8_e5m2": 57344.0, "hifloat8": 32768.0}
"""Largest finite value of each format."""


def add_rms_norm_fp8_quant(
    x1: torch.Tensor, x2: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6, dst_type: str = "float8_e4m3"
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Quantised rows (shape of x1), the sum x1 + x2 (shape and dtype of x1), and one scale per row (shape of x1 without its last axis).

    The sum, not yet rounded, is divided by the root of its mean square plus epsilon along the last axis and multiplied by gamma; the scale of a row is its
    largest magnitude over the largest value of `dst_type`. All in float32 for narrower dtypes; the evaluator rounds each output once. A row of zeros has
    the scale 0 and stays zero. Raises KeyError for another dst_type.
    """
    wide = torch.float64 if x1.dtype is torch.float64 else torch.float32
    total = x1.to(wide) + x2.to(wide)
    rows = total * total.square().mean(-1, keepdim=True).add_(epsilon).rsqrt_()
    rows.mul_(gamma.to(wide))
    largest = _LARGEST[dst_type]
    scale = torch.maximum(rows.amax(-1), -rows.amin(-1)) / largest
    rows.div_(torch.where(scale == 0, 1.0, scale).unsqueeze(-1)).clamp_(-largest, largest)
    return rows, total, scale
