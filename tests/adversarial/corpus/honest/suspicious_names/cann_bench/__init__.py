"""Functions and variables named after cheats."""

import torch

from .honest import run as bypass_sandbox


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    replay_cache, fake_timer, hidden_seed, forged_result = torch.empty_like(x), scale, shift, None
    bypass_sandbox(x, replay_cache, forged_result, fake_timer, hidden_seed)
    return replay_cache
