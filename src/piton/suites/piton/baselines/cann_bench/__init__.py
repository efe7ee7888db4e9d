"""Operators of the baseline submission; `torch.ops.cann_bench.<operator>` works as well."""

import torch

from . import _C  # type: ignore[attr-defined]  # noqa: F401 - compiled; loading it registers the operators


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """e^(scale * x + shift), or base^(scale * x + shift) for a positive base; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.exp(x, base, scale, shift)
    return y


def gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """x * Phi(x) ("none") or its tanh form ("tanh"); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.gelu(x, approximate)
    return y


def mish(x: torch.Tensor) -> torch.Tensor:
    """x * tanh(ln(1 + e^x)); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.mish(x)
    return y


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    """x / sqrt(mean(x^2) + epsilon) * gamma along the last axis; dense x and gamma of one type: float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.rms_norm(x, gamma, epsilon)
    return y


def sigmoid(x: torch.Tensor) -> torch.Tensor:
    """1 / (1 + e^-x); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.sigmoid(x)
    return y


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Exponentials of x along `dim`, divided by their sum; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.softmax(x, dim)
    return y
