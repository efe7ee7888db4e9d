"""Grouped-query attention over split heads: the defining code of `gqa`."""

import torch

SCORES = 1 << 21
"""Scores that exist at a time: the rows of a batch item are taken in blocks of so many scores over all heads."""


def gqa(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaleValue: float = -1.0, is_causal: bool = False) -> torch.Tensor:
    """softmax(query @ key^T * scale) @ value, head n of query with head n // G of key and value, G = N / M.

    query [B, S, N, D], key and value [B, T, M, D], result [B, S, N, D] in the dtype of query. scale is `scaleValue`, or 1 / sqrt(D) where that is not above
    0. With `is_causal` row i sees the columns j <= i + T - S; a row that sees none is 0. The G heads that share a key are rows of one product, so that keys
    and values are never repeated. float16 and bfloat16 are computed in float32, softmax included, and rounded once at the end.
    """
    wide = torch.float32 if query.dtype in (torch.float16, torch.bfloat16) else query.dtype
    (batch, rows, heads, width), (columns, groups) = query.shape, key.shape[1:3]
    shared = heads // groups
    scale = scaleValue if scaleValue > 0 else width**-0.5
    block = max(1, SCORES // max(1, heads * columns))
    y = torch.empty_like(query, memory_format=torch.contiguous_format)
    for item in range(batch):
        k, v = key[item].to(wide).permute(1, 2, 0), value[item].to(wide).transpose(0, 1)  # [M, D, T], [M, T, D]
        for start in range(0, rows, block):
            q = query[item, start : start + block].to(wide).reshape(-1, groups, shared, width).permute(1, 2, 0, 3)  # [M, G, s, D]
            taken = q.shape[2]
            last = min(columns, max(0, start + taken + columns - rows)) if is_causal else columns  # columns that some row of the block sees
            scores = torch.matmul(q.flatten(1, 2), k[..., :last]).mul_(scale)
            if is_causal:
                scores.view(groups, shared, taken, last).masked_fill_(_hidden(start, taken, last, columns - rows), float("-inf"))
            seen = torch.matmul(_weights(scores), v[:, :last]).view(groups, shared, taken, width)
            y[item, start : start + block] = seen.permute(2, 0, 1, 3).flatten(1, 2)
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
