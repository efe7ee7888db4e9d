"""Three ways to quantise a tensor inside a network: not at all, rounding to the nearest level, and the learned function of Quantization Networks.

The learned function and its gradients are the goldens of `quantization_network` and `quantization_network_grad` in suite cann-lowbit, called as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from piton.catalog import load_suite
from piton.numerics.golden_module import load_golden

_PATHS = {member.operator.name: member.operator.golden_path for member in load_suite("cann-lowbit").members}
_forward: Callable[..., Any] = load_golden(_PATHS["quantization_network"]).function("quantization_network")
_backward: Callable[..., Any] = load_golden(_PATHS["quantization_network_grad"]).function("quantization_network_grad")


class SoftQuantization(torch.autograd.Function):
    """`quantization_network` with the gradients of `quantization_network_grad`."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> torch.Tensor:
        """x, thresholds [K], scales [K], alpha [1], beta [1] and the temperature, a number; returns y of the shape of x."""
        x, thresholds, scales, alpha, beta, temperature = given
        ctx.save_for_backward(x, thresholds, scales, alpha, beta)
        ctx.temperature = temperature
        y: torch.Tensor = _forward(x, thresholds, scales, alpha=alpha.item(), beta=beta.item(), temperature=temperature)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[torch.Tensor | None, ...]:
        """Gradients by x, thresholds, alpha and beta; the scales and the temperature are not learned."""
        x, thresholds, scales, alpha, beta = ctx.saved_tensors
        grad_x, grad_thresholds, grad_alpha, grad_beta = _backward(
            grads[0].contiguous(), x, thresholds, scales, alpha=alpha.item(), beta=beta.item(), temperature=ctx.temperature
        )
        return grad_x, grad_thresholds, None, grad_alpha, grad_beta, None


def best_step(sample: torch.Tensor, bits: int, is_signed: bool) -> float:
    """The distance of 2^bits equidistant levels that leaves the least mean square error when `sample` is rounded to them (80 candidates)."""
    largest = float(sample.abs().max())
    candidates = [largest * (i + 1) / 80 / 2.0 ** (bits - 2) for i in range(80)]
    errors = [float((round_to_levels(sample, step, bits, is_signed) - sample).square().mean()) for step in candidates]
    return candidates[errors.index(min(errors))]


def round_to_levels(x: torch.Tensor, step: float, bits: int, is_signed: bool) -> torch.Tensor:
    """The nearest of 2^bits levels: 0, step, 2 * step ..., or signed step / 2, 3 * step / 2 ... to both sides of 0 (none at 0)."""
    if not is_signed:
        return (x / step).round().clamp(0, 2**bits - 1) * step
    half = 2 ** (bits - 1)
    return ((x / step).floor().clamp(-half, half - 1) + 0.5) * step


class Quantizer(nn.Module):
    """No quantisation; the base of the others."""

    def calibrate(self, sample: torch.Tensor) -> None:
        """Choose the first levels from data."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Rounding(Quantizer):
    """Plain rounding to equidistant levels; gradients pass straight through where x is inside the levels' range, and are 0 outside."""

    def __init__(self, bits: int, is_signed: bool) -> None:
        super().__init__()
        self.bits, self.is_signed = bits, is_signed
        self.step = 0.0

    def calibrate(self, sample: torch.Tensor) -> None:
        self.step = best_step(sample, self.bits, self.is_signed)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        low, high = (-(2 ** (self.bits - 1)), 2 ** (self.bits - 1)) if self.is_signed else (0, 2**self.bits - 1)
        inside = x.clamp(low * self.step, high * self.step)
        return inside + (round_to_levels(x, self.step, self.bits, self.is_signed) - inside).detach()


class LearnedQuantization(Quantizer):
    """Quantization Networks: 2^bits - 1 unit steps, whose thresholds and factors are learned; soft with a temperature, or the staircase.

    Without a sign the levels start at 0, not at minus half the sum of the steps: half of alpha * K is added again.
    """

    def __init__(self, bits: int, is_signed: bool) -> None:
        super().__init__()
        self.bits, self.is_signed = bits, is_signed
        self.temperature = 1.0
        self.is_hard = False
        steps = 2**bits - 1
        self.thresholds = nn.Parameter(torch.arange(steps) - (steps - 1) / 2 if is_signed else torch.arange(steps) + 0.5)
        self.register_buffer("scales", torch.ones(steps))
        self.alpha, self.beta = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))

    def calibrate(self, sample: torch.Tensor) -> None:
        """Start as plain rounding would: beta brings the levels' distance to 1, alpha brings it back."""
        step = best_step(sample, self.bits, self.is_signed)
        with torch.no_grad():
            self.alpha.fill_(step)
            self.beta.fill_(1 / step)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scales: torch.Tensor = self.scales  # type: ignore[assignment]  # a buffer
        if self.is_hard:
            y: torch.Tensor = _forward(x.detach(), self.thresholds.detach(), scales, alpha=self.alpha.item(), beta=self.beta.item(), is_hard=True)
        else:
            y = SoftQuantization.apply(x, self.thresholds, scales, self.alpha, self.beta, self.temperature)  # type: ignore[no-untyped-call]
        return y if self.is_signed else y + self.alpha * (len(scales) / 2)
