"""Operators of the reference kernels; `torch.ops.cann_bench.<operator>` works as well."""

import torch

from . import _C  # noqa: F401 - loading the library registers the operators


def arg_max(input: torch.Tensor, dim: int, keepdim: bool = False) -> torch.Tensor:
    """Index of the largest value along `dim`, as int64; dense input of float16, bfloat16, float32, int32 or int64."""
    indices: torch.Tensor = torch.ops.cann_bench.arg_max(input, dim, keepdim)
    return indices


def cummin(input: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Smallest value up to each position along `dim`, and its index as int64; dense input of float16, bfloat16, float32 or int32."""
    values, indices = torch.ops.cann_bench.cummin(input, dim)
    return values, indices


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """e^(scale * x + shift), or base^(scale * x + shift) for a positive base; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.exp(x, base, scale, shift)
    return y


def gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """x * Phi(x) ("none") or its tanh form ("tanh"); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.gelu(x, approximate)
    return y


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    """x / sqrt(mean(x^2) + epsilon) * gamma along the last axis; dense x and gamma of one type: float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.rms_norm(x, gamma, epsilon)
    return y


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Exponentials of x along `dim`, divided by their sum; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.softmax(x, dim)
    return y
