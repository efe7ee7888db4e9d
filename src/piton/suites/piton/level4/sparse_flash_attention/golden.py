"""Attention over the keys that indices select for each query: the defining code of `sparse_flash_attention`."""

import torch

GATHERED = 1 << 22
"""Elements of selected keys and values that exist at a time: the queries of a batch item are taken in blocks."""


def sparse_flash_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sparseIndices: torch.Tensor,
    scaleValue: float,
    inputLayout: str = "BSND",
    is_causal: bool = False,
) -> torch.Tensor:
    """softmax(query @ K^T * scaleValue) @ V, K and V the rows of key and value that `sparseIndices` selects for this query and its group of heads.

    In layout BSND: query [B, S, N, D], key [B, T, M, D], value [B, T, M, E], sparseIndices [B, S, M, k] of numbers in [0, T), distinct along the last axis,
    result [B, S, N, E] in the dtype of query; BNSD has the middle axes swapped everywhere. Head n of the query belongs to head n // (N / M) of the keys. An
    index of -1 marks an empty place. With `is_causal` query i does not see what lies behind i + T - S; one that sees nothing is 0. float16 and bfloat16 are
    computed in float32, softmax included, and rounded once at the end. Raises ValueError for another layout.
    """
    if inputLayout not in ("BSND", "BNSD"):
        raise ValueError(f"inputLayout is {inputLayout!r}, not BSND or BNSD")
    is_split = inputLayout == "BSND"
    q, k, v, chosen = (item if is_split else item.transpose(1, 2) for item in (query, key, value, sparseIndices))
    wide = torch.float32 if query.dtype in (torch.float16, torch.bfloat16) else query.dtype
    (batch, rows, heads, _), (columns, groups), places = q.shape, k.shape[1:3], chosen.shape[-1]
    width = v.shape[-1]
    y = torch.empty((batch, rows, heads, width) if is_split else (batch, heads, rows, width), dtype=query.dtype)
    result = y if is_split else y.transpose(1, 2)
    block = max(1, GATHERED // max(1, places * (k.shape[-1] + width)))
    for item, group in ((item, group) for item in range(batch) for group in range(groups)):
        mine = slice(group * (heads // groups), (group + 1) * (heads // groups))
        keys, values = k[item, :, group].to(wide), v[item, :, group].to(wide)
        for start in range(0, rows, block):
            part = slice(start, start + block)
            index = chosen[item, part, group].long()  # [s, k]
            limit = torch.arange(rows)[part].unsqueeze(-1) + (columns - rows) if is_causal else columns - 1
            hidden = (index < 0) | (index > limit)
            index = index.clamp_min(0)
            scores = torch.matmul(q[item, part, mine].to(wide), keys[index].transpose(1, 2)).mul_(scaleValue)  # [s, N / M, k]
            weights = _weights(scores.masked_fill_(hidden.unsqueeze(1), float("-inf")))
            result[item, part, mine] = torch.matmul(weights, values[index]).to(query.dtype)
    return y


def _weights(scores: torch.Tensor) -> torch.Tensor:
    """Softmax along the last axis, in place; a row of -inf (nothing to see) becomes 0 instead of NaN."""
    if not scores.shape[-1]:
        return scores
    top = scores.amax(-1, keepdim=True)
    power = scores.sub_(top.masked_fill_(top == float("-inf"), 0.0)).exp_()
    total = power.sum(-1, keepdim=True)
    return power.div_(total.masked_fill_(total == 0, 1.0))


def get_input(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, sparseIndices: torch.Tensor, seed: int, inputLayout: str = "BSND"
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The inputs with value made of the leading columns of key, as in a latent cache, and with distinct indices in any order.

    Places beyond the number of keys, if there are any, are empty (-1).
    """
    columns, places = key.shape[1 if inputLayout == "BSND" else 2], sparseIndices.shape[-1]
    source = torch.Generator().manual_seed(seed)
    lines = sparseIndices.numel() // max(1, places)
    index = torch.full((lines, places), -1, dtype=sparseIndices.dtype)
    for line in index:  # line by line: a table of lines by keys would be far larger than the indices
        line[: min(columns, places)] = torch.randperm(columns, generator=source)[:places].to(index.dtype)
    return query, key, key[..., : value.shape[-1]].clone(), index.reshape(sparseIndices.shape)
