"""The operator exp, as kernels of many submissions have it: queues in one file, ordered in part by the compiler's auto-sync."""

import torch

from . import _C  # noqa: F401 - loading the library registers the operator


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """e^(scale * x + shift), or base^(scale * x + shift) for a positive base; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.exp(x, base, scale, shift)
    return y
