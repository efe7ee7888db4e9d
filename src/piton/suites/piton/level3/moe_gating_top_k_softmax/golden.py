"""Choice of experts by the gate of a mixture: the defining code of `moe_gating_top_k_softmax`."""

import torch


def moe_gating_top_k_softmax(x: torch.Tensor, finished: torch.Tensor | None = None, k: int = 1) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The k largest probabilities of softmax(x, last axis), largest first, which experts they belong to, and the place of each choice column by column.

    x is [..., E], finished [...]; all results are [..., k]. A finished row names expert E, which does not exist. float16 and bfloat16 are computed in float32
    and rounded once. Temporaries: one of the size of x.
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    # Softmax keeps the order of x, and x has no two values that only rounding made equal.
    top, expert = wide.topk(k, dim=-1)
    highest = top[..., :1]
    total = (wide - highest).exp_().sum(-1, keepdim=True)
    y = (top - highest).exp_().div_(total).to(x.dtype)
    if finished is not None:
        expert = expert.masked_fill(finished[..., None], x.shape[-1])
    rows = expert.numel() // k
    place = torch.arange(rows * k, dtype=torch.int32).reshape(k, rows).T.reshape(expert.shape)
    return y, expert.int(), place.contiguous()
