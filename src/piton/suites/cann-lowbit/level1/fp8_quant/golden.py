"""Quantisation to an 8-bit floating format with a given scale: the defining code of `fp8_quant`."""

import torch

_LARGEST = {"float8_e4m3": 448.0, "float8_e5m2": 57344.0, "hifloat8": 32768.0}
"""Largest finite value of each format."""


def fp8_quant(x: torch.Tensor, scale: torch.Tensor, dst_type: str = "float8_e4m3") -> torch.Tensor:
    """x / scale, clamped to the range of `dst_type`, in a wide type: the evaluator rounds it once to `dst_type`.

    scale has one element, or one per element of the last axis of x. NaN stays NaN. Raises KeyError for another dst_type.
    """
    wide = x if x.dtype is torch.float64 else x.float()
    largest = _LARGEST[dst_type]
    return (wide / scale.to(wide.dtype)).clamp_(-largest, largest)
