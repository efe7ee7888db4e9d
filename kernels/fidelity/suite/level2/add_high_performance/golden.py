"""Addition: the defining code of `add_high_performance`."""

import torch


def add_high_performance(x: torch.Tensor, y: torch.Tensor, variant: int) -> torch.Tensor:
    """x + y; `variant` says how a kernel should tile it and changes nothing here."""
    return x + y
