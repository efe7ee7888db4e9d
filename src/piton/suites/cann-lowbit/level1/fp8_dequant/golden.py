"""Values of a tensor in an 8-bit floating format: the defining code of `fp8_dequant`."""

import torch


def fp8_dequant(x: torch.Tensor, scale: torch.Tensor, dst_type: str = "bfloat16") -> torch.Tensor:
    """x * scale in a wide type: the evaluator rounds it once to `dst_type`.

    scale is one for all, one per element of the last axis of x, or one per row (of the shape of x with 1 in place of the last axis). One temporary: the result.
    """
    del dst_type
    wide = x if x.dtype is torch.float64 else x.float()
    return wide * scale.to(wide.dtype)
