"""Sum with a scaled quotient, tensor by tensor: the defining code of `foreach_addcdiv_scalar`."""

import torch


def foreach_addcdiv_scalar(x1: list[torch.Tensor], x2: list[torch.Tensor], x3: list[torch.Tensor], scalar: float) -> list[torch.Tensor]:
    """x1[i] + x2[i] / x3[i] * scalar for every i; shapes and dtypes of x1. Raises ValueError when the lists differ in length.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of a tensor at a time; the inputs are not changed.
    """
    return [_addcdiv(*terms, scalar) for terms in zip(x1, x2, x3, strict=True)]


def _addcdiv(summand: torch.Tensor, dividend: torch.Tensor, divisor: torch.Tensor, scalar: float) -> torch.Tensor:
    wide = torch.float32 if summand.dtype in (torch.float16, torch.bfloat16) else summand.dtype
    quotient = dividend.to(wide) / divisor.to(wide)
    return quotient.mul_(scalar).add_(summand).to(summand.dtype)
