"""Gradients of the learned quantisation function of Quantization Networks: the defining code of `quantization_network_grad`."""

import torch

_CHUNK = 1 << 16
"""Elements worked on at a time: temporaries stay small, and sums are sums of partial sums."""


def quantization_network_grad(
    grad_y: torch.Tensor, x: torch.Tensor, thresholds: torch.Tensor, scales: torch.Tensor, alpha: float = 1.0, beta: float = 1.0, temperature: float = 1.0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients by x (its shape and dtype), thresholds [K], alpha [1] and beta [1] of the soft `quantization_network`, the last three float32 (or wider).

    The derivative of a sigmoid is sigmoid(z) * sigmoid(-z), which does not cancel where the sigmoid is close to 1. Raises ValueError when grad_y does not have
    the shape of x, unless thresholds and scales are vectors of one length, and when temperature is not above 0.
    """
    if grad_y.shape != x.shape:
        raise ValueError(f"grad_y has to have the shape of x, {list(x.shape)}, got {list(grad_y.shape)}")
    if thresholds.dim() != 1 or thresholds.shape != scales.shape:
        raise ValueError(f"thresholds and scales have to be two vectors of one length, got {list(thresholds.shape)} and {list(scales.shape)}")
    if not temperature > 0:
        raise ValueError(f"temperature has to be above 0, got {temperature}")
    wide = torch.float64 if x.dtype is torch.float64 else torch.float32
    grad_x = torch.empty(x.shape, dtype=x.dtype)
    edges, weights = thresholds.to(wide), scales.to(wide)
    sums = []
    for upstream, part, result in zip(*(torch.split(item.view(-1), _CHUNK) for item in (grad_y.contiguous(), x.contiguous(), grad_x)), strict=True):
        slope, partial = _chunk(upstream.to(wide), part.to(wide), edges, weights, beta, temperature)
        result.copy_(slope.mul_(alpha * beta * temperature))
        sums.append(partial)
    total = torch.stack(sums).sum(0)
    return grad_x, total[2:] * weights * (-alpha * temperature), total[:1].clone(), total[1:2] * (alpha * temperature)


def _chunk(
    upstream: torch.Tensor, part: torch.Tensor, thresholds: torch.Tensor, scales: torch.Tensor, beta: float, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """For n elements: upstream * sum_i scales[i] * d[i], [n], where d[i] is the derivative of the i-th sigmoid; and [2 + K] sums over the elements: the
    gradient by alpha, the one by beta before alpha and temperature, and sum(upstream * d[i]) of every threshold."""
    scaled = part * beta
    level, slope = torch.zeros_like(scaled), torch.zeros_like(scaled)
    by_threshold = []
    for threshold, scale in zip(thresholds, scales.tolist(), strict=True):
        argument = (scaled - threshold).mul_(temperature)
        level.add_((0.5 * argument).tanh_(), alpha=0.5 * scale)
        derivative = argument.sigmoid().mul_(argument.neg_().sigmoid_())
        by_threshold.append((upstream * derivative).sum())
        slope.add_(derivative, alpha=scale)
    slope.mul_(upstream)
    return slope, torch.stack([level.mul_(upstream).sum(), (slope * part).sum(), *by_threshold])
