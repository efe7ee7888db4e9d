"""Group normalisation: the defining code of `group_norm`."""

import torch


def group_norm(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, num_groups: int, epsilon: float = 1e-5) -> torch.Tensor:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta: x [N, C, ...], gamma and beta [C]; mean and variance over one group of channels of one sample.

    The variance is the biased one. float16 and bfloat16 are computed in float32 and rounded once at the end. Raises ValueError when the groups do not divide
    the channels. One temporary of the size of x.
    """
    samples, channels = x.shape[:2]
    if num_groups < 1 or channels % num_groups:
        raise ValueError(f"{channels} channels cannot be divided into {num_groups} groups")
    wide, scale, shift = (item.float() if item.dtype in (torch.float16, torch.bfloat16) else item for item in (x, gamma, beta))
    groups = wide.reshape(samples, num_groups, -1)
    variance, mean = torch.var_mean(groups, dim=-1, correction=0, keepdim=True)
    normal = (groups - mean).mul_(variance.add_(epsilon).rsqrt_()).reshape(samples, channels, -1)
    return normal.mul_(scale.reshape(-1, 1)).add_(shift.reshape(-1, 1)).reshape(x.shape).to(x.dtype)
