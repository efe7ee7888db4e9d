"""Elements written, or combined, at places that a tensor of indices names: the defining code of `scatter`."""

import torch

_REDUCTIONS = {"multiply": "prod", "amin": "amin", "amax": "amax"}


def scatter(data: torch.Tensor, dim: int, indices: torch.Tensor, updates: torch.Tensor, reduce: str | None = None) -> torch.Tensor:
    """A copy of data in which updates[..., i, ...] has replaced, or is combined with, the element at indices[..., i, ...] on axis `dim`.

    `reduce` is None (or "update"), "add", "multiply", "amin" or "amax". float16 and bfloat16 are added and multiplied in float32 and rounded once at the end;
    the other ways do no arithmetic. Raises ValueError for another reduction, RuntimeError for indices that leave the axis.
    """
    places = indices.long()
    if reduce in (None, "update"):
        return data.scatter(dim, places, updates)
    if reduce not in ("add", *_REDUCTIONS):
        raise ValueError(f"reduce is {reduce!r}, not None, update, add, multiply, amin or amax")
    is_half = data.dtype in (torch.float16, torch.bfloat16) and reduce in ("add", "multiply")
    y, source = (data.float(), updates.float()) if is_half else (data.clone(), updates)
    if reduce == "add":
        y.scatter_add_(dim, places, source)
    else:
        y.scatter_reduce_(dim, places, source, reduce=_REDUCTIONS[reduce], include_self=True)
    return y.to(data.dtype)


def get_input(
    data: torch.Tensor, dim: int, indices: torch.Tensor, updates: torch.Tensor, reduce: str | None = None, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Without a reduction: indices that name no place twice along `dim`, since the order of writes is free. Other inputs stay as they are.

    Each line of indices along `dim` is the same random order of places, turned by a random amount of its own. More indices than places cannot be told apart
    and stay as they are.
    """
    length, count = data.shape[dim], indices.shape[dim]
    if reduce not in (None, "update") or count > length:
        return data, indices, updates
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(length, generator=random)[:count]
    lines = list(indices.shape)
    lines[dim] = 1
    turns = torch.randint(length, lines, generator=random)
    along = [1] * indices.dim()
    along[dim] = count
    return data, turns.add(order.reshape(along)).remainder_(length).to(indices.dtype), updates
