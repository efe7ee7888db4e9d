"""Elements picked along an axis by a tensor of indices: the defining code of `gather`."""

import torch


def gather(x: torch.Tensor, index: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """y[..., i, ...] = x[..., index[..., i, ...], ...] with i on axis `dim`; the shape of index, the dtype of x.

    index has the rank of x and, but for `dim`, no axis longer than that of x. Raises RuntimeError for other shapes and for indices that leave the axis.
    """
    return torch.gather(x, dim, index.long())
