"""Which positions a strided slice takes, and the bytes that global memory has to hand over for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

BLOCK_BYTES = 32
"""Global memory hands over no less at once: the shortest burst of HBM, and the unit of the copies."""


@dataclass(frozen=True)
class SliceEntries:
    """The lists and masks of a strided slice; bit i of a mask changes the meaning of entry i."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    strides: tuple[int, ...]
    masks: Mapping[str, int]
    """By the names begin, end, ellipsis, shrink_axis, new_axis."""

    def has(self, mask: str, entry: int) -> bool:
        """True when the mask has the bit of this entry."""
        return bool(self.masks[mask] >> entry & 1)

    def axes_of_ellipsis(self, rank: int) -> int:
        """Axes that the ellipsis stands for: those that no other entry does."""
        return rank - sum(not self.has("new_axis", entry) for entry in range(len(self.begin))) + 1


def positions(shape: tuple[int, ...], entries: SliceEntries) -> tuple[range, ...]:
    """Positions that the slice takes on each axis of a tensor of `shape`: one position on an axis that it drops. (A new axis is none of the tensor's.)"""
    taken: list[range] = []
    for entry in range(len(entries.begin)):
        if entries.has("new_axis", entry):
            continue
        if entries.has("ellipsis", entry):
            taken.extend(range(size) for size in shape[len(taken) : len(taken) + entries.axes_of_ellipsis(len(shape))])
        else:
            taken.append(_on_axis(shape[len(taken)], entry, entries))
    return (*taken, *(range(size) for size in shape[len(taken) :]))


def _on_axis(size: int, entry: int, entries: SliceEntries) -> range:
    """Positions on an axis: bounds below 0 count from its end, bounds outside are moved to the nearest end, masked ones reach to the ends."""
    step = entries.strides[entry]
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first, last = (low, high) if step > 0 else (high, low)
    begin, end = (min(max(bound + size if bound < 0 else bound, low), high) for bound in (entries.begin[entry], entries.end[entry]))
    start = first if entries.has("begin", entry) else begin
    if entries.has("shrink_axis", entry):
        return range(start, start + 1)
    return range(start, last if entries.has("end", entry) else end, step)


def handed_over_bytes(shape: tuple[int, ...], taken: tuple[range, ...], element_bytes: int) -> int:
    """Least bytes that memory hands over for the taken positions of a dense tensor, in blocks of `BLOCK_BYTES`, wherever the tensor begins.

    Innermost axes that are taken whole make one piece of bytes. Pieces with less than a block between them leave no block untouched from the first to the last;
    with more between them no two share a block, but the last of a line and the first of the next may.
    """
    piece, unit, axis = element_bytes, element_bytes, len(shape)
    while axis and (len(taken[axis - 1]) == 1 or (piece == unit and len(taken[axis - 1]) == shape[axis - 1])):
        axis -= 1
        piece *= len(taken[axis])
        unit *= shape[axis]
    if not axis:
        return piece
    lines, pieces, pitch = math.prod(len(kept) for kept in taken[: axis - 1]), len(taken[axis - 1]), abs(taken[axis - 1].step) * unit
    if not pieces:
        return 0
    if pitch - piece < BLOCK_BYTES:
        return lines * ((pieces - 1) * pitch + piece)
    in_blocks = pieces * -(-piece // BLOCK_BYTES) * BLOCK_BYTES
    return lines * max(pieces * piece, in_blocks - BLOCK_BYTES)
