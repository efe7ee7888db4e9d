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


def grid_sampler_3d(
    x: torch.Tensor, grid: torch.Tensor, interpolation_mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> torch.Tensor:
    """Volumes x [N, C, D, H, W] sampled at the points of grid [N, OD, OH, OW, 3]; dense, both float16 or both float32."""
    y: torch.Tensor = torch.ops.cann_bench.grid_sampler_3d(x, grid, interpolation_mode, padding_mode, align_corners)
    return y


def resize_bilinear(
    x: torch.Tensor, output_size: list[int] | None = None, align_corners: bool = False, scale_factor: list[float] | None = None
) -> torch.Tensor:
    """Images x [N, C, H, W] interpolated bilinearly at `output_size` or floor(H, W times `scale_factor`); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.resize_bilinear(x, output_size, align_corners, scale_factor)
    return y


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    """x / sqrt(mean(x^2) + epsilon) * gamma along the last axis; dense x and gamma of one type: float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.rms_norm(x, gamma, epsilon)
    return y


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Exponentials of x along `dim`, divided by their sum; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.softmax(x, dim)
    return y
