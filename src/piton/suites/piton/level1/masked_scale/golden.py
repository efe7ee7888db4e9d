"""Product with a mask and a number: the defining code of `masked_scale`."""

import torch


def masked_scale(x: torch.Tensor, mask: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """x * mask * scale; shape and dtype of x. The mask may have another dtype than x, integers included.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of x; x and mask are not changed.
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return (wide * mask.to(wide.dtype)).mul_(scale).to(x.dtype)
