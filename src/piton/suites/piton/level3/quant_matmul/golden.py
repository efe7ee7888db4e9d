"""Matrix product of int8 matrices, scaled to a half type: the defining code of `quant_matmul`."""

import torch

_EXACT_TERMS = 1024
"""Products of two int8 numbers, at most 2^14 each, of which so many sum to at most 2^24: float32 holds every partial sum."""
_HALF_TYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16}


def quant_matmul(
    x1: torch.Tensor,
    x2: torch.Tensor,
    scale: torch.Tensor,
    *,
    offset: torch.Tensor | None = None,
    pertoken_scale: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    output_dtype: str | None = None,
) -> torch.Tensor:
    """((x1 @ x2 + whole-number bias) * scale + offset) * pertoken_scale + other bias: [..., M, N] in float16, or what output_dtype names.

    x1 is [..., M, K], x2 [..., K, N], both int8; scale and offset [1] or [N], pertoken_scale [M], bias [N], [1, N] or [batch, 1, N]. The product is exact, what
    follows is computed in float32 (in float64 when scale is) and rounded once. Raises ValueError for another output_dtype.
    """
    if output_dtype not in (None, *_HALF_TYPES):
        raise ValueError(f"output_dtype is {output_dtype!r}, expected one of {', '.join(_HALF_TYPES)}")
    wide = torch.float64 if scale.dtype == torch.float64 else torch.float32
    product = _exact_product(x1, x2)
    is_whole = bias is not None and not bias.is_floating_point()
    if bias is not None and is_whole:
        product += bias
    y = product.to(wide).mul_(scale.to(wide))
    if offset is not None:
        y += offset.to(wide)
    if pertoken_scale is not None:
        y *= pertoken_scale.to(wide)[:, None]
    if bias is not None and not is_whole:
        y += bias.to(wide)
    return y.to(_HALF_TYPES[output_dtype or "float16"])


def _exact_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """left @ right of int8 matrices, exact, in float64: torch multiplies whole numbers a hundred times slower than floating ones."""
    product = torch.zeros(
        *torch.broadcast_shapes(left.shape[:-2], right.shape[:-2]),  # type: ignore[no-untyped-call]
        left.shape[-2],
        right.shape[-1],
        dtype=torch.float64,
    )
    for start in range(0, left.shape[-1], _EXACT_TERMS):
        part = slice(start, start + _EXACT_TERMS)
        product += left[..., part].float() @ right[..., part, :].float()
    return product
