"""The result goes through a workspace and a copy on the device."""

import torch

from .honest import run


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    workspace = torch.empty(x.numel() + 64, dtype=x.dtype, device=x.device)
    run(x, workspace, None, scale, shift)
    y = torch.empty_like(x)
    y.view(-1).copy_(workspace[: x.numel()])
    return y
