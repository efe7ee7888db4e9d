"""The projections before latent attention: the defining code of `mla_prolog`."""

import torch


def mla_prolog(
    token_x: torch.Tensor,
    w_dq: torch.Tensor,
    w_uq_qr: torch.Tensor,
    w_uk: torch.Tensor,
    w_dkv_kr: torch.Tensor,
    rmsnorm_gamma_cq: torch.Tensor,
    rmsnorm_gamma_ckv: torch.Tensor,
    rope_sin: torch.Tensor,
    rope_cos: torch.Tensor,
    n_heads: int,
    rmsnorm_epsilon_cq: float = 1e-5,
    rmsnorm_epsilon_ckv: float = 1e-5,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries and the latent cache entries of B x S tokens, as (query, query_rope, c_kv, k_rope).

    token_x [B, S, He], w_dq [He, Hcq], w_uq_qr [Hcq, N (D + Dr)], w_uk [N, D, Hckv], w_dkv_kr [He, Hckv + Dr], gammas [Hcq] and [Hckv], sin and cos
    [B, S, Dr]; query [B, S, N, Hckv], query_rope [B, S, N, Dr], c_kv [B, S, Hckv], k_rope [B, S, Dr] in the dtype of token_x. Everything between inputs and
    outputs is computed in the wide type (float32 for half types) and rounded once at the end.
    """
    dtype = token_x.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    (batch, rows, _), latent, rotary = token_x.shape, w_uk.shape[2], rope_sin.shape[-1]
    x, sin, cos = token_x.to(wide), rope_sin.to(wide), rope_cos.to(wide)

    c_q = _normalised(torch.matmul(x, w_dq.to(wide)), rmsnorm_gamma_cq.to(wide), rmsnorm_epsilon_cq)
    heads = torch.matmul(c_q, w_uq_qr.to(wide)).reshape(batch * rows, n_heads, -1)
    per_head = heads[..., :-rotary].transpose(0, 1)  # [N, B S, D]
    query = torch.bmm(per_head, w_uk.to(wide)).transpose(0, 1).reshape(batch, rows, n_heads, latent).contiguous()
    query_rope = _rotated(heads[..., -rotary:].reshape(batch, rows, n_heads, rotary), sin.unsqueeze(2), cos.unsqueeze(2))

    entry = torch.matmul(x, w_dkv_kr.to(wide))
    c_kv = _normalised(entry[..., :latent], rmsnorm_gamma_ckv.to(wide), rmsnorm_epsilon_ckv)
    k_rope = _rotated(entry[..., latent:], sin, cos)
    return query.to(dtype), query_rope.to(dtype), c_kv.to(dtype), k_rope.to(dtype)


def _normalised(x: torch.Tensor, gamma: torch.Tensor, epsilon: float) -> torch.Tensor:
    """x / sqrt(mean(x^2) + epsilon) * gamma along the last axis."""
    return x * x.square().mean(-1, keepdim=True).add_(epsilon).rsqrt_() * gamma


def _rotated(x: torch.Tensor, sin: torch.Tensor, cos: torch.Tensor) -> torch.Tensor:
    """x * cos + (the halves of x swapped, the second one negated) * sin along the last axis."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def get_input(
    token_x: torch.Tensor,
    w_dq: torch.Tensor,
    w_uq_qr: torch.Tensor,
    w_uk: torch.Tensor,
    w_dkv_kr: torch.Tensor,
    rmsnorm_gamma_cq: torch.Tensor,
    rmsnorm_gamma_ckv: torch.Tensor,
    rope_sin: torch.Tensor,
    rope_cos: torch.Tensor,
    seed: int,
) -> tuple[torch.Tensor, ...]:
    """The inputs with sin and cos of one random angle for each pair of columns j and j + Dr / 2, which a rotation turns together."""
    source = torch.Generator().manual_seed(seed)
    half = (*rope_sin.shape[:-1], rope_sin.shape[-1] // 2)
    angle = torch.rand(half, generator=source, dtype=torch.float64).mul_(2 * torch.pi).repeat(*[1] * (len(half) - 1), 2)
    rotary = angle.sin().to(rope_sin.dtype), angle.cos().to(rope_cos.dtype)
    return (token_x, w_dq, w_uq_qr, w_uk, w_dkv_kr, rmsnorm_gamma_cq, rmsnorm_gamma_ckv, *rotary)
