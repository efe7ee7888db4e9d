"""Product of two matrices in 8-bit floating formats with their scales: the defining code of `fp8_quant_matmul`."""

import torch


def fp8_quant_matmul(
    x1: torch.Tensor,
    x2: torch.Tensor,
    scale: torch.Tensor,
    pertoken_scale: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    output_dtype: str = "bfloat16",
) -> torch.Tensor:
    """(x1 @ x2 + bias) * scale * pertoken_scale in a wide type: the evaluator rounds it once to `output_dtype`.

    x1 is [..., K], x2 [K, N] or, with the leading axes of x1 [B, M, K], [B, K, N]. scale is one for all or one per column, pertoken_scale one per row, bias one
    per column. Accumulates in float32 (float64 for the truth). Raises RuntimeError when shapes do not fit.
    """
    del output_dtype
    wide = torch.float64 if x1.dtype is torch.float64 else torch.float32
    product = x1.to(wide) @ x2.to(wide)
    if bias is not None:
        product.add_(bias.to(wide))
    product.mul_(scale.to(wide))
    return product if pertoken_scale is None else product.mul_(pertoken_scale.to(wide).unsqueeze(-1))
