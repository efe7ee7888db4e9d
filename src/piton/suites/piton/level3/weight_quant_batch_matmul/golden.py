"""Matrix product with weights kept in int8: the defining code of `weight_quant_batch_matmul`."""

import torch


def weight_quant_batch_matmul(
    x: torch.Tensor,
    weight: torch.Tensor,
    antiquantScale: torch.Tensor,
    antiquantOffset: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """x @ ((weight + antiquantOffset) * antiquantScale) + bias: [M, N] in the dtype of x.

    x is [M, K], weight [K, N] int8; scale, offset and bias are [N] or [1, N], one number per column. Weights are dequantised in the dtype of x, as matrix units
    take half types; products are summed in float32 for half types and rounded once. Temporaries: the weights, in the dtype of x and in the wide type.
    """
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    matrix = weight.to(x.dtype)
    if antiquantOffset is not None:
        matrix += antiquantOffset
    matrix *= antiquantScale
    y = x.to(wide) @ matrix.to(wide)
    if bias is not None:
        y += bias.to(wide)
    return y.to(x.dtype)
