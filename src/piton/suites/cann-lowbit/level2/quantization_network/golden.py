"""The learned quantisation function of Quantization Networks (Yang et al., CVPR 2019), soft and hard: the defining code of `quantization_network`."""

import torch

_CHUNK = 1 << 16
"""Elements worked on at a time: temporaries stay small, and in the cache."""


def quantization_network(
    x: torch.Tensor, thresholds: torch.Tensor, scales: torch.Tensor, alpha: float = 1.0, beta: float = 1.0, temperature: float = 1.0, is_hard: bool = False
) -> torch.Tensor:
    """alpha * sum_i scales[i] * (step(beta * x - thresholds[i]) - 1/2), in the shape and dtype of x; thresholds and scales are [K].

    step(z) is 1 / (1 + exp(-temperature * z)), or with is_hard the unit step, which is 1 from 0 on. Raises ValueError unless thresholds and scales are vectors
    of one length, and when temperature is not above 0 where it counts.
    """
    if thresholds.dim() != 1 or thresholds.shape != scales.shape:
        raise ValueError(f"thresholds and scales have to be two vectors of one length, got {list(thresholds.shape)} and {list(scales.shape)}")
    if not is_hard and not temperature > 0:
        raise ValueError(f"temperature has to be above 0, got {temperature}")
    y = torch.empty(x.shape, dtype=x.dtype)
    wide = torch.float64 if x.dtype is torch.float64 else torch.float32
    levels = list(zip(thresholds.to(wide), (0.5 * alpha) * scales.to(wide), strict=True))
    for part, result in zip(torch.split(x.reshape(-1), _CHUNK), torch.split(y.view(-1), _CHUNK), strict=True):
        scaled = _rounded_product(part, beta).to(wide) if is_hard else part.to(wide) * beta
        total = torch.zeros_like(scaled)
        for threshold, weight in levels:
            centred = scaled - threshold
            total.add_(_sign(centred) if is_hard else centred.mul_(0.5 * temperature).tanh_(), alpha=float(weight))
        result.copy_(total)
    return y


def _rounded_product(part: torch.Tensor, beta: float) -> torch.Tensor:
    """beta * x rounded once to float32, with beta as a float32: a level is chosen by a comparison, so every implementation has to compare the same number."""
    return (part.double() * torch.tensor(beta, dtype=torch.float32).double()).float()


def _sign(centred: torch.Tensor) -> torch.Tensor:
    """2 * step - 1: 1 from 0 on, -1 below, NaN for NaN."""
    return torch.where(centred >= 0, 1.0, torch.where(centred < 0, -1.0, torch.nan)).to(centred.dtype)
