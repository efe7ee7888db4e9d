"""Operators of the reference kernels; `torch.ops.cann_bench.<operator>` works as well."""

import torch

from . import _C  # noqa: F401 - loading the library registers the operators


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """e^(scale * x + shift), or base^(scale * x + shift) for a positive base; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.exp(x, base, scale, shift)
    return y


def gather(x: torch.Tensor, index: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """x[..., index[..., i, ...], ...] with i on axis `dim`; dense x of float16, bfloat16, float32, int8, int32 or int64, index of int8, int32 or int64."""
    y: torch.Tensor = torch.ops.cann_bench.gather(x, index, dim)
    return y


def gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """x * Phi(x) ("none") or its tanh form ("tanh"); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.gelu(x, approximate)
    return y


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    """x / sqrt(mean(x^2) + epsilon) * gamma along the last axis; dense x and gamma of one type: float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.rms_norm(x, gamma, epsilon)
    return y


def scatter(data: torch.Tensor, dim: int, indices: torch.Tensor, updates: torch.Tensor, reduce: str | None = None) -> torch.Tensor:
    """data with updates at, or combined with, the places that indices names along `dim`; dense float16, bfloat16, float32, int32 or int64."""
    y: torch.Tensor = torch.ops.cann_bench.scatter(data, dim, indices, updates, reduce)
    return y


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Exponentials of x along `dim`, divided by their sum; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.softmax(x, dim)
    return y


def unsorted_segment_sum(data: torch.Tensor, segment_ids: torch.Tensor, num_segments: int) -> torch.Tensor:
    """Sums of the rows of data with equal id; dense data of float16, bfloat16, float32, int32 or int64, segment_ids of int32 or int64."""
    y: torch.Tensor = torch.ops.cann_bench.unsorted_segment_sum(data, segment_ids, num_segments)
    return y
