"""Bilinear resizing of images: the defining code of `resize_bilinear`."""

import math

import torch

_HALF = (torch.float16, torch.bfloat16)


def resize_bilinear(
    x: torch.Tensor, output_size: list[int] | None = None, align_corners: bool = False, scale_factor: list[float] | None = None
) -> torch.Tensor:
    """x [N, C, H, W] resampled to [N, C, OH, OW]: OH, OW are `output_size`, or floor(H * scale_factor[0]), floor(W * scale_factor[1]).

    float16 and bfloat16 are interpolated in float32 and rounded once at the end; positions are formed in float64 for every dtype. Raises ValueError unless x
    has four axes and exactly one of output_size and scale_factor is given.
    """
    if x.dim() != 4:
        raise ValueError(f"x has {x.dim()} axes, not the 4 of [N, C, H, W]")
    if (output_size is None) == (scale_factor is None):
        raise ValueError("give either output_size or scale_factor")
    dtype = torch.float32 if x.dtype in _HALF else x.dtype
    size = output_size or [math.floor(x.shape[2 + a] * factor) for a, factor in enumerate(scale_factor or ())]
    positions = [_positions(x.shape[2 + a], size[a], align_corners, scale_factor[a] if scale_factor else None) for a in (0, 1)]
    y = x.new_empty(*x.shape[:2], *size)
    for image, result in zip(x, y, strict=True):
        result.copy_(_between(_between(image.to(dtype), positions[0], 1), positions[1], 2))
    return y


def _positions(old: int, new: int, align_corners: bool, factor: float | None) -> torch.Tensor:
    """Where the new pixels lie among the old ones. One division each, so that what is whole comes out whole."""
    place = torch.arange(new, dtype=torch.float64)
    if align_corners:
        return place * (old - 1) / max(new - 1, 1)
    exact = (2 * place + 1 - factor) / (2 * factor) if factor else ((2 * place + 1) * old - new) / (2 * new)
    return exact.clamp(min=0)


def _between(seen: torch.Tensor, position: torch.Tensor, axis: int) -> torch.Tensor:
    """`seen` interpolated at the positions along an axis."""
    low = position.long()
    share = (position - low).to(seen.dtype).view([-1 if number == axis else 1 for number in range(3)])
    high = (low + 1).clamp(max=seen.shape[axis] - 1)
    return seen.index_select(axis, low) * (1 - share) + seen.index_select(axis, high) * share


def get_input(x: torch.Tensor) -> list[torch.Tensor]:
    """x with one sign in each channel."""
    return [_one_sign(x)]


def _one_sign(x: torch.Tensor) -> torch.Tensor:
    """x with its finite values moved so that every channel has one sign and no value is much smaller than the others of its sign.

    Where neighbours of both signs cancel, the last bit of a float32 position decides about all digits of the result.
    """
    made = x.clone()
    planes = made.flatten(0, 1)
    spans = [tuple(map(float, values.aminmax())) for values in (plane[plane.isfinite()] for plane in planes) if len(values)]
    low, high = min((span[0] for span in spans), default=0.0), max((span[1] for span in spans), default=0.0)
    ends = [(low, min(high, low / 4)) if low < 0 else (max(low, high / 4), high), (max(low, high / 4), high) if high > 0 else (low, min(high, low / 4))]
    for number, plane in enumerate(planes if low < high else ()):
        first, last = ends[number % x.shape[1] % 2]
        share = (plane.float() / 2 - low / 2) / (high / 2 - low / 2)
        plane.copy_(torch.where(plane.isfinite(), first * (1 - share) + last * share, plane.float()))
    return made
