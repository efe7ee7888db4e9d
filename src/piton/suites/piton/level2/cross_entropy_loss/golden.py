"""Cross entropy of class scores: the defining code of `cross_entropy_loss`."""

import torch

_IGNORED = (0.02, 0.3)
_RIGHT = (0.1, 0.9)
"""Shares of the positions that are ignored, and whose class is the one with the highest score; each seed has its own inside these ends."""
_SHARPEST = 12.0
"""Factor before the softmax of the sharpest class probabilities."""


def cross_entropy_loss(input: torch.Tensor, target: torch.Tensor, reduction: str = "mean", ignore_index: int = -100) -> torch.Tensor:
    """-log(softmax(input, classes)[target]) per position, in the dtype of input; "none" keeps the positions, "sum" and "mean" give one number.

    input is [N, C, ...]; an integer target [N, ...] holds classes, and positions with `ignore_index` count as 0 and not in the mean; a floating target
    [N, C, ...] holds class probabilities, weights of the C logarithms. float16 and bfloat16 are computed in float32 and rounded once at the end. Raises
    ValueError for another reduction, RuntimeError for a class that does not exist. One temporary of the size of input, two for probabilities.
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f'reduction must be "none", "mean" or "sum", not {reduction!r}')
    wide = _wide(input)
    below = wide - wide.amax(dim=1, keepdim=True)
    if target.is_floating_point():
        weights = _wide(target)
        chosen, weight = (below * weights).sum(dim=1), weights.sum(dim=1)
        loss = below.exp_().sum(dim=1).log_().mul_(weight).sub_(chosen)
        counted = loss.numel()
    else:
        is_ignored = target == ignore_index
        chosen = below.gather(1, target.long().masked_fill(is_ignored, 0).unsqueeze(1)).squeeze(1)
        loss = below.exp_().sum(dim=1).log_().sub_(chosen).masked_fill_(is_ignored, 0)
        counted = loss.numel() - int(is_ignored.sum())
    if reduction == "none":
        return loss.to(input.dtype)
    total = loss.sum()
    return (total if reduction == "sum" else total / counted).to(input.dtype)


def get_input(input: torch.Tensor, target: torch.Tensor, ignore_index: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores as they are, and a target as of a model in training: some positions are right, classes or probabilities; some classes are ignored.

    The shares follow the seed. With targets that have nothing to do with the scores every batch would have nearly the same mean.
    """
    generator = torch.Generator().manual_seed(seed)
    ignored, right = (low + (high - low) * torch.rand((), generator=generator).item() for low, high in (_IGNORED, _RIGHT))
    best = input.float().argmax(dim=1)
    if target.is_floating_point():
        return input, _probabilities(target, best, right, generator)
    chance = torch.rand(target.shape, generator=generator)
    rebuilt = torch.where(chance < right, best.to(target.dtype), target)
    return input, rebuilt.masked_fill_(torch.rand(target.shape, generator=generator) < ignored, ignore_index)


def _probabilities(target: torch.Tensor, best: torch.Tensor, right: float, generator: torch.Generator) -> torch.Tensor:
    """Probabilities in shape and dtype of target: flat to sharp ones at random, mixed with the best class by up to the share `right`."""
    shape = best.unsqueeze(1).shape
    sharpness = torch.rand(shape, generator=generator).mul_(_SHARPEST)
    drawn = torch.randn(target.shape, generator=generator).mul_(sharpness).softmax(dim=1)
    share = torch.rand(shape, generator=generator).mul_(right)
    return drawn.mul_(1 - share).scatter_add_(1, best.unsqueeze(1), share).to(target.dtype)


def _wide(item: torch.Tensor) -> torch.Tensor:
    return item.float() if item.dtype in (torch.float16, torch.bfloat16) else item
