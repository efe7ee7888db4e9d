"""Values of an MX block format: the defining code of `mx_dequant`."""

import torch

_BLOCK = 32


def mx_dequant(x: torch.Tensor, scale: torch.Tensor, dst_type: str = "bfloat16") -> torch.Tensor:
    """Every element times the scale of its block, in a wide type: the evaluator rounds it once to `dst_type`.

    scale has one element per 32 of the last axis of x. The product is exact in float32 unless it leaves its range.
    """
    del dst_type
    wide = x if x.dtype is torch.float64 else x.float()
    return wide * scale.to(wide.dtype).repeat_interleave(_BLOCK, dim=-1)[..., : x.shape[-1]]
