"""A slice with a begin, an end and a step per axis, and masks that change their meaning: the defining code of `strided_slice`."""

import torch


def strided_slice(
    x: torch.Tensor,
    begin: list[int],
    end: list[int],
    strides: list[int],
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    shrink_axis_mask: int = 0,
    new_axis_mask: int = 0,
) -> torch.Tensor:
    """The elements of x that the entries of begin, end and strides leave, as a contiguous copy in the dtype of x.

    Entry i stands for the next axis, unless bit i of a mask says otherwise: a new axis of length 1, or an ellipsis for all axes that have no entry. Axes behind
    the last entry stay whole. Raises ValueError for lists of different lengths, a step of 0, two ellipses, or more entries than axes; IndexError for a dropped
    axis without such an element.
    """
    _check(x, begin, end, strides, ellipsis_mask & ~new_axis_mask, new_axis_mask)
    entries = len(begin)
    y, axis = x, 0
    for place in range(entries):
        bit = 1 << place
        if new_axis_mask & bit:
            y, axis = y.unsqueeze(axis), axis + 1
        elif ellipsis_mask & bit:
            axis += x.dim() - sum(not new_axis_mask >> other & 1 for other in range(entries)) + 1
        elif shrink_axis_mask & bit:
            first = 0 if strides[place] > 0 else y.shape[axis] - 1
            y = y.select(axis, first if begin_mask & bit else begin[place])
        else:
            kept = _positions(y.shape[axis], begin[place], end[place], strides[place], (bool(begin_mask & bit), bool(end_mask & bit)))
            y, axis = _take(y, axis, kept), axis + 1
    return y.clone(memory_format=torch.contiguous_format)


def _check(x: torch.Tensor, begin: list[int], end: list[int], strides: list[int], ellipsis_mask: int, new_axis_mask: int) -> None:
    entries = len(begin)
    if not entries == len(end) == len(strides):
        raise ValueError(f"begin, end and strides have {entries}, {len(end)} and {len(strides)} entries")
    if 0 in strides:
        raise ValueError("a step of 0")
    ellipses = [place for place in range(entries) if ellipsis_mask >> place & 1]
    if len(ellipses) > 1:
        raise ValueError(f"{len(ellipses)} ellipses")
    of_axes = sum(not new_axis_mask >> place & 1 for place in range(entries)) - len(ellipses)
    if of_axes > x.dim():
        raise ValueError(f"{of_axes} entries for {x.dim()} axes")


def _positions(size: int, begin: int, end: int, step: int, is_masked: tuple[bool, bool]) -> range:
    """Positions on an axis: bounds below 0 count from its end, bounds outside are moved to the nearest end, masked ones reach to the ends."""
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first, last = (low, high) if step > 0 else (high, low)
    inside = [min(max(bound + size if bound < 0 else bound, low), high) for bound in (begin, end)]
    return range(first if is_masked[0] else inside[0], last if is_masked[1] else inside[1], step)


def _take(y: torch.Tensor, axis: int, kept: range) -> torch.Tensor:
    """The elements at positions `kept` of an axis; torch has no slices with a negative step, so that these are taken forwards and turned over."""
    if not kept:
        return y.narrow(axis, 0, 0)
    forward = kept if kept.step > 0 else kept[::-1]
    part = (*(slice(None),) * axis, slice(forward.start, forward[-1] + 1, forward.step))
    taken = y[part]
    return taken if kept.step > 0 else taken.flip(axis)
