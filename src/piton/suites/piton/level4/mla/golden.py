"""Multi-head latent attention, the attention part: the defining code of `mla`."""

import torch

SCORES = 1 << 21
"""Scores that exist at a time: the rows of a batch item are taken in blocks of so many scores over all heads."""


def mla(
    q_nope: torch.Tensor,
    q_rope: torch.Tensor,
    k_nope: torch.Tensor,
    k_rope: torch.Tensor,
    v: torch.Tensor,
    numKVHeads: int = 1,
    scaleValue: float = -1.0,
    inputLayout: str = "BSND",
    is_causal: bool = False,
) -> torch.Tensor:
    """softmax((q_nope @ k_nope^T + q_rope @ k_rope^T) * scale) @ v, head n of the query with head n // G of keys and values, G = N / numKVHeads.

    In layout BSND: q_nope [B, S, N, D], q_rope [B, S, N, R], k_nope and v [B, T, M, D], k_rope [B, T, M, R], result [B, S, N, D]; BNSD has the middle axes
    swapped everywhere. scale is `scaleValue`, or 1 / sqrt(D + R) where that is not above 0. With `is_causal` row i sees the columns j <= i + T - S; a row
    that sees none is 0. float16 and bfloat16 are computed in float32, softmax included, and rounded once at the end. Raises ValueError for another layout.
    """
    if inputLayout not in ("BSND", "BNSD"):
        raise ValueError(f"inputLayout is {inputLayout!r}, not BSND or BNSD")
    if inputLayout == "BSND":  # computed with heads before rows
        q_nope, q_rope, k_nope, k_rope, v = (item.transpose(1, 2) for item in (q_nope, q_rope, k_nope, k_rope, v))
    wide = torch.float32 if q_nope.dtype in (torch.float16, torch.bfloat16) else q_nope.dtype
    (batch, heads, rows, width), columns, shared = q_nope.shape, k_nope.shape[2], q_nope.shape[1] // numKVHeads
    scale = scaleValue if scaleValue > 0 else (width + q_rope.shape[-1]) ** -0.5
    block = max(1, SCORES // max(1, heads * columns))
    y = torch.empty((batch, rows, heads, width) if inputLayout == "BSND" else (batch, heads, rows, width), dtype=q_nope.dtype)
    result = y.transpose(1, 2) if inputLayout == "BSND" else y
    for item in range(batch):
        keys = torch.cat((k_nope[item].to(wide), k_rope[item].to(wide)), -1).transpose(1, 2)  # [M, D + R, T]
        values = v[item].to(wide)
        for start in range(0, rows, block):
            part = slice(start, start + block)
            queries = torch.cat((q_nope[item, :, part].to(wide), q_rope[item, :, part].to(wide)), -1)  # [N, s, D + R]
            taken = queries.shape[1]
            last = min(columns, max(0, start + taken + columns - rows)) if is_causal else columns  # columns that some row of the block sees
            scores = torch.matmul(queries.reshape(numKVHeads, shared * taken, -1), keys[..., :last]).mul_(scale)
            if is_causal:
                scores.view(numKVHeads, shared, taken, last).masked_fill_(_hidden(start, taken, last, columns - rows), float("-inf"))
            result[item, :, part] = torch.matmul(_weights(scores), values[:, :last]).reshape(heads, taken, width)
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


def get_input(
    q_nope: torch.Tensor, q_rope: torch.Tensor, k_nope: torch.Tensor, k_rope: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The inputs with v equal to k_nope, as in a latent cache, which holds both once."""
    return q_nope, q_rope, k_nope, k_rope, k_nope.clone()
