"""Rotary position embedding of queries and keys: the defining code of `apply_rotary_pos_emb`."""

import math

import torch


def apply_rotary_pos_emb(
    query: torch.Tensor, key: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, layout: int = 0, rotaryMode: str = "half"
) -> tuple[torch.Tensor, torch.Tensor]:
    """query and key with pairs (a, b) of each head turned to (a cos - b sin, b cos + a sin); shapes and dtypes of query and key.

    query and key are [B, S, N, D] (`layout` 0) or [B, N, S, D] (1), cos and sin [S, D/2] or [B, S, D/2]. Pair i is elements i and i + D/2 ("half") or 2i and
    2i + 1 ("interleaved"). float16 and bfloat16 are computed in float32 and rounded once at the end. Raises ValueError for another layout or mode.
    """
    if layout not in (0, 1):
        raise ValueError(f"layout must be 0 or 1, not {layout}")
    if rotaryMode not in ("half", "interleaved"):
        raise ValueError(f'rotaryMode must be "half" or "interleaved", not {rotaryMode!r}')
    heads = 2 if layout == 0 else 1
    turns = [_wide(item).unsqueeze(heads if item.dim() == 3 else heads - 1) for item in (cos, sin)]
    return _turned(query, turns, rotaryMode), _turned(key, turns, rotaryMode)


def get_input(
    query: torch.Tensor, key: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, seed: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The inputs with cos and sin of one angle each, uniform in [-pi, pi]: two independent tensors would be no rotation. query and key stay as they are."""
    generator = torch.Generator().manual_seed(seed)
    angle = (torch.rand(cos.shape, generator=generator, dtype=torch.float64) * 2 - 1).mul_(math.pi)
    return query, key, angle.cos().to(cos.dtype), angle.sin().to(sin.dtype)


def _wide(item: torch.Tensor) -> torch.Tensor:
    return item.float() if item.dtype in (torch.float16, torch.bfloat16) else item


def _turned(x: torch.Tensor, turns: list[torch.Tensor], mode: str) -> torch.Tensor:
    """x with every pair turned; `turns` are cos and sin in the layout of x with one head."""
    cos, sin = turns
    wide = _wide(x)
    turned = torch.empty_like(wide)
    (first, second), (left, right) = _pairs(wide, mode), _pairs(turned, mode)
    torch.mul(first, cos, out=left).sub_(second * sin)
    torch.mul(second, cos, out=right).add_(first * sin)
    return turned.to(x.dtype)


def _pairs(x: torch.Tensor, mode: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Views of the first and of the second elements of all pairs."""
    half = x.shape[-1] // 2
    return (x[..., :half], x[..., half:]) if mode == "half" else (x[..., ::2], x[..., 1::2])
