"""Gate and short convolution of the Engram memory module: the defining code of `engram_gate_fusion`."""

import math

import torch

_LEAST_GATE = 1e-6
"""Smallest magnitude that the root of the gate is taken of: keeps its slope finite."""


def engram_gate_fusion(
    keys: torch.Tensor,
    hidden_states: torch.Tensor,
    value: torch.Tensor,
    norm1_weight: torch.Tensor,
    norm2_weight: torch.Tensor,
    conv_norm_weight: torch.Tensor,
    conv_weight: torch.Tensor,
    conv_state: torch.Tensor | None = None,
    hc_mult: int = 4,
    hidden_size: int = 1024,
    kernel_size: int = 4,
    dilation: int = 3,
    norm_eps: float = 1e-5,
) -> tuple[torch.Tensor, torch.Tensor]:
    """output [B, L, H, D] and conv_state_out [B, H*D, (K-1) dilation], both in the dtype of keys.

    keys and hidden_states are [B, L, H, D], value [B, L, D], the three norm weights [H, D], conv_weight [H*D, 1, K], conv_state [B, H*D, (K-1) dilation] or
    None for zeros. bfloat16 is computed in float32 and rounded once at the end. About three temporaries of the size of keys. Raises ValueError when hc_mult,
    hidden_size or kernel_size are not those of the shapes.
    """
    batch, length, heads, width = keys.shape
    if (heads, width, conv_weight.shape[-1]) != (hc_mult, hidden_size, kernel_size):
        raise ValueError(f"hc_mult, hidden_size and kernel_size are {hc_mult}, {hidden_size} and {kernel_size}, not as in the shapes of keys and conv_weight")
    gate = _gate((_wide(keys), _wide(norm1_weight)), (_wide(hidden_states), _wide(norm2_weight)), norm_eps)
    gated = gate.unsqueeze(-1) * _wide(value).unsqueeze(2)
    lead = (kernel_size - 1) * dilation
    series = gated.new_empty(batch, lead + length, heads, width)
    torch.mul(gated * _inverse_rms(gated, norm_eps), _wide(conv_norm_weight), out=series[:, lead:])
    series[:, :lead] = 0 if conv_state is None else _wide(conv_state).transpose(1, 2).reshape(batch, lead, heads, width)
    taps = _wide(conv_weight).reshape(heads, width, kernel_size)
    mixed = torch.zeros_like(gated)
    for tap in range(kernel_size):
        mixed.addcmul_(series[:, tap * dilation : tap * dilation + length], taps[..., tap])
    state = series[:, length:].reshape(batch, lead, heads * width).transpose(1, 2).contiguous()
    return gated.add_(torch.nn.functional.silu(mixed, inplace=True)).to(keys.dtype), state.to(keys.dtype)


def _gate(left: tuple[torch.Tensor, torch.Tensor], right: tuple[torch.Tensor, torch.Tensor], eps: float) -> torch.Tensor:
    """Gate [B, L, H] of two tensors [B, L, H, D] with their norm weights [H, D]: the scaled product of the normalised rows, a signed root, a sigmoid."""
    (one, first), (other, second) = left, right
    product = (one * other).mul_(first * second).sum(-1, keepdim=True)
    raw = (product * _inverse_rms(one, eps) * _inverse_rms(other, eps)).squeeze(-1).div_(math.sqrt(one.shape[-1]))
    return torch.sigmoid(raw.abs().clamp_(min=_LEAST_GATE).sqrt_().mul_(raw.sign()))


def _inverse_rms(x: torch.Tensor, eps: float) -> torch.Tensor:
    """1 / sqrt(mean(x^2) + eps) of the rows along the last axis, which is kept with length 1."""
    return x.square().mean(-1, keepdim=True).add_(eps).rsqrt_()


def _wide(item: torch.Tensor) -> torch.Tensor:
    return item.float() if item.dtype in (torch.float16, torch.bfloat16) else item
