"""Sinkhorn-Knopp projection of small square matrices: the defining code of `mhc_sinkhorn`."""

import torch


def mhc_sinkhorn(comb: torch.Tensor, iter_step: int = 20, eps: float = 1e-6) -> torch.Tensor:
    """Matrices [B, n, n] made nearly doubly stochastic; shape and dtype of comb.

    The first round takes the softmax of every row, adds eps and divides columns by their sum + eps; each of the other iter_step - 1 rounds divides rows by
    their sum + eps, then columns. Raises ValueError for matrices that are not square and for fewer than one round. One temporary of the size of comb.
    """
    if comb.shape[-1] != comb.shape[-2]:
        raise ValueError(f"matrices of {comb.shape[-2]} x {comb.shape[-1]} are not square")
    if iter_step < 1:
        raise ValueError(f"iter_step must be at least 1, not {iter_step}")
    shares = torch.softmax(comb, dim=-1).add_(eps)
    _divide(shares, -2, eps)
    for _ in range(iter_step - 1):
        _divide(shares, -1, eps)
        _divide(shares, -2, eps)
    return shares


def _divide(shares: torch.Tensor, dim: int, eps: float) -> None:
    """Divide by the sum along `dim` + eps, in place."""
    shares.div_(shares.sum(dim=dim, keepdim=True).add_(eps))
