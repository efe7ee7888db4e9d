"""Matrix products of groups of rows, each with a matrix of its own: the defining code of `grouped_matmul`."""

import torch

_ONE_TENSOR = (2, 3)
"""Values of split_item that ask for all rows in one tensor."""


def grouped_matmul(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    group_list: list[int],
    split_item: int = 0,
    transpose_weight: bool = False,
) -> list[torch.Tensor]:
    """x[rows of group g] @ weight[g] + bias[g]: one tensor per group, or a single one of all rows for split_item 2 and 3; dtype of x.

    x is [M, K], weight [E, K, N] (transpose_weight: [E, N, K]), bias [E, N]; group_list holds the ends of the E groups, the last one is M. Products are summed
    in float32 for half types and rounded once. Temporaries: one matrix and the rows of one group. Raises ValueError for groups that do not fill x.
    """
    ends = list(group_list)
    starts = [0, *ends][: len(ends)]
    if len(ends) != weight.shape[0] or max(ends, default=0) != x.shape[0] or any(start > end for start, end in zip(starts, ends, strict=True)):
        raise ValueError(f"group_list {ends} does not split {x.shape[0]} rows into {weight.shape[0]} groups")
    matrices = weight.transpose(1, 2) if transpose_weight else weight
    y = torch.empty(x.shape[0], matrices.shape[2], dtype=x.dtype)
    for group, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start < end:
            product = _wide(x[start:end]) @ _wide(matrices[group])
            y[start:end] = product if bias is None else product.add_(bias[group])
    return [y] if split_item in _ONE_TENSOR else [y[start:end] for start, end in zip(starts, ends, strict=True)]


def _wide(values: torch.Tensor) -> torch.Tensor:
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
