"""Gated linear unit with the swish of the first half as its gate: the defining code of `swi_glu`."""

import torch


def swi_glu(input: torch.Tensor, dim: int = -1) -> torch.Tensor:  # the name of the schema
    """a * sigmoid(a) * b for the halves a (first) and b (second) of input along dim; dtype of input, its shape with axis dim halved.

    float16 and bfloat16 are computed in float32 and rounded once at the end. One temporary of the size of the result; input is not changed.
    Raises ValueError when axis dim is odd, IndexError when there is no such axis.
    """
    if input.shape[dim] % 2:
        raise ValueError(f"axis {dim} of input has {input.shape[dim]} elements, and has to be even")
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    gate, value = wide.chunk(2, dim)
    return torch.sigmoid(gate).mul_(gate).mul_(value).to(input.dtype)
