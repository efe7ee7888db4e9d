"""Multi-head attention over split heads: the defining code of `mha`."""

import torch

SCORES = 1 << 21
"""Scores that exist at a time: the rows of a batch item are taken in blocks of so many scores over all heads."""


def mha(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaleValue: float = -1.0, is_causal: bool = False) -> torch.Tensor:
    """softmax(query @ key^T * scale) @ value for every head; query [B, S, N, D], key and value [B, T, N, D], result [B, S, N, D] in the dtype of query.

    scale is `scaleValue`, or 1 / sqrt(D) where that is not above 0. With `is_causal` row i sees the columns j <= i + T - S; a row that sees none is 0.
    float16 and bfloat16 are computed in float32, softmax included, and rounded once at the end.
    """
    wide = torch.float32 if query.dtype in (torch.float16, torch.bfloat16) else query.dtype
    (batch, rows, heads, width), columns = query.shape, key.shape[1]
    scale = scaleValue if scaleValue > 0 else width**-0.5
    block = max(1, SCORES // max(1, heads * columns))
    y = torch.empty_like(query, memory_format=torch.contiguous_format)
    for item in range(batch):
        k, v = key[item].to(wide).permute(1, 2, 0), value[item].to(wide).transpose(0, 1)  # [N, D, T], [N, T, D]
        for start in range(0, rows, block):
            q = query[item, start : start + block].to(wide).transpose(0, 1)  # [N, s, D]
            last = min(columns, max(0, start + q.shape[1] + columns - rows)) if is_causal else columns  # columns that some row of the block sees
            scores = torch.matmul(q, k[..., :last]).mul_(scale)
            if is_causal:
                scores.masked_fill_(_hidden(start, q.shape[1], last, columns - rows), float("-inf"))
            y[item, start : start + block] = torch.matmul(_weights(scores), v[:, :last]).transpose(0, 1)
    return y


def _hidden(start: int, rows: int, columns: int, offset: int) -> torch.Tensor:
    """True where row `start` + i must not see column j: j > start + i + offset."""
    return torch.arange(columns) > torch.arange(start + offset, start + offset + rows).unsqueeze(-1)


def _weights(scores: torch.Tensor) -> torch.Tensor:
    """Softmax along the last axis, in place; a row of -inf (nothing to see) becomes 0 instead of NaN."""
    if not scores.shape[-1]:
        return scores
    top = scores.amax(-1, keepdim=True)
    power = scores.sub_(top.masked_fill_(top == float("-inf"), 0.0)).exp_()
    total = power.sum(-1, keepdim=True)
    return power.div_(total.masked_fill_(total == 0, 1.0))
