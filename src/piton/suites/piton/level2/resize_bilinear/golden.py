"""Bilinear resizing of images: the defining code of `resize_bilinear`."""

import torch

_HALF = (torch.float16, torch.bfloat16)


def resize_bilinear(
    x: torch.Tensor, output_size: list[int] | None = None, align_corners: bool = False, scale_factor: list[float] | None = None
) -> torch.Tensor:
    """x [N, C, H, W] resampled to [N, C, OH, OW]: OH, OW are `output_size`, or floor(H * scale_factor[0]), floor(W * scale_factor[1]).

    float16 and bfloat16 are computed in float32 and rounded once at the end. Raises ValueError unless x has four axes and exactly one of output_size and
    scale_factor is given.
    """
    if x.dim() != 4:
        raise ValueError(f"x has {x.dim()} axes, not the 4 of [N, C, H, W]")
    if (output_size is None) == (scale_factor is None):
        raise ValueError("give either output_size or scale_factor")
    wide = x.float() if x.dtype in _HALF else x
    resized = torch.nn.functional.interpolate(wide, size=output_size, scale_factor=scale_factor, mode="bilinear", align_corners=align_corners)
    return resized.to(x.dtype)
