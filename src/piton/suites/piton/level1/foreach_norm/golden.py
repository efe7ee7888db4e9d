"""Norm of each tensor of a list: the defining code of `foreach_norm`."""

import math

import torch

_SEGMENTS = 16
"""Parts of a tensor whose magnitudes differ."""
_OCTAVES = 6.0
"""Most halvings of a part's magnitude."""
_LARGEST = (0.91, 1.0)
"""Magnitude of the largest part: less than 1, so that the largest element depends on the seed, but close enough to fill the value range."""


def foreach_norm(x: list[torch.Tensor], scalar: float) -> list[torch.Tensor]:
    """(sum of |element|^scalar)^(1/scalar) of each tensor, over all its elements; a list of tensors without axes, in the dtype of x.

    Order 0 counts the elements that are not 0, infinite orders give the largest or smallest magnitude. float16 and bfloat16 are computed in float32 and
    rounded once at the end. One temporary of the size of a tensor at a time; x is not changed. Raises RuntimeError for an infinite order of an empty tensor.
    """
    return [_norm(item, scalar).to(item.dtype) for item in x]


def _norm(x: torch.Tensor, order: float) -> torch.Tensor:
    magnitudes = (x.float() if x.dtype in (torch.float16, torch.bfloat16) else x).abs()
    if order == 0:
        return magnitudes.count_nonzero().to(magnitudes.dtype)
    if math.isinf(order):
        return magnitudes.max() if order > 0 else magnitudes.min()
    if order == 2:
        return magnitudes.square_().sum().sqrt()
    return magnitudes.pow_(order).sum().pow(1 / order)


def get_input(x: list[torch.Tensor], scalar: float, seed: int) -> list[list[torch.Tensor]]:
    """The same tensors with magnitudes that differ from part to part.

    The norm of very many equally distributed elements is almost the same for every seed, and a kernel could read a hundredth of them and guess the rest. So
    parts of a tensor shrink by factors that follow the seed. Special values stay in the first tensor only: they must not reach the norms of the others.
    """
    generator = torch.Generator().manual_seed(seed)
    return [[_with_parts(item, scalar, index == 0, generator) for index, item in enumerate(x)]]


def _with_parts(x: torch.Tensor, order: float, keeps_specials: bool, generator: torch.Generator) -> torch.Tensor:
    values = x.double().flatten()
    finite = values[values.isfinite()]
    if not finite.numel():
        return x
    low, high = finite.min().item(), finite.max().item()
    # Negative orders are ruled by the smallest magnitudes, and vanish with an element at zero.
    centre = high if order < 0 else min(max(0.0, low), high)
    for part, factor in zip(values.tensor_split(_SEGMENTS), _factors(generator), strict=True):
        part.sub_(centre).mul_(factor).add_(centre)
    if order == 0:
        share = torch.rand(1, generator=generator).item()
        values[torch.rand(values.numel(), generator=generator) < share] = 0
    has_specials = finite.numel() < values.numel()
    if has_specials and not keeps_specials:
        values[~values.isfinite()] = centre
    if has_specials and order < 0:
        values = values.abs().add_(1)
    return values.to(x.dtype).reshape(x.shape)


def _factors(generator: torch.Generator) -> list[float]:
    """One factor per part, the largest one anywhere."""
    factors = torch.rand(_SEGMENTS, generator=generator, dtype=torch.float64).mul_(-_OCTAVES).exp2_()
    least, most = _LARGEST
    place = int(torch.randint(_SEGMENTS, (1,), generator=generator))
    factors[place] = least + (most - least) * torch.rand(1, generator=generator, dtype=torch.float64).item()
    return factors.clamp_(max=most).tolist()
