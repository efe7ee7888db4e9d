"""Product of two matrices in MX block formats: the defining code of `mx_quant_matmul`."""

import torch

_BLOCK = 32


def mx_quant_matmul(
    x1: torch.Tensor, x2: torch.Tensor, x1_scale: torch.Tensor, x2_scale: torch.Tensor, bias: torch.Tensor | None = None, output_dtype: str = "bfloat16"
) -> torch.Tensor:
    """x1 @ x2^T + bias of the values that elements and scales stand for, in a wide type: the evaluator rounds it once to `output_dtype`.

    x1 is [..., K], x2 [N, K]; the scales have ceil(K / 32) in place of K; bias has N elements. A value, element times scale, is exact in float32; products
    are accumulated in float32 (float64 for the truth). Raises RuntimeError when shapes do not fit.
    """
    del output_dtype
    wide = torch.float64 if x1.dtype is torch.float64 else torch.float32
    product = _values(x1.to(wide), x1_scale.to(wide)) @ _values(x2.to(wide), x2_scale.to(wide)).T
    return product if bias is None else product.add_(bias.to(wide))


def _values(elements: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Every element times the scale of its block of 32 along the last axis."""
    return elements * scales.repeat_interleave(_BLOCK, dim=-1)[..., : elements.shape[-1]]
