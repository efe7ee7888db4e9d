"""Draws of attributes that have to agree with one another and with a shape: a permutation of axes, and the parts of a strided slice.

A slice is drawn entry by entry in the convention of TensorFlow's StridedSlice: each entry of `begin`, `end` and `strides` stands for one axis, but for one that
inserts an axis and one that is an ellipsis. Bounds are written in all their forms: plain, counted from the end, past the end, and masked (where the number
that is there must not count).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from piton.catalog.expression import ExpressionError
from piton.catalog.rule_forms import SLICE_LISTS, SLICE_MASKS
from piton.core.operator import AttrValue
from piton.curate.stream import Stream

SliceParts = dict[str, AttrValue]

_TRIES = 30
_STEPS = (1, 1, 1, 1, 2, 2, 3, 4)
_MOST_STRIDED = 2
"""Axes with a step above 1: with more of them a slice of five axes would leave next to nothing."""
_CUT = 4
"""A bound lies within one part in so many of its end of the axis."""
_SHRUNK_SIZE = 256
"""An axis up to this size may be left for one of its elements: of a longer one, too little would be left to check."""
_ONE_IN = 4
"""An ellipsis, an inserted axis, a dropped axis, an axis left out at the end, a backward step: each in one draw of so many."""


def draw_permutation(shape: Sequence[int], stream: Stream) -> tuple[int, ...]:
    """An order of the axes of `shape` that moves data. Raises ExpressionError where there is none: fewer than two axes are longer than 1."""
    if sum(size > 1 for size in shape) < 2:
        raise ExpressionError(f"no permutation of {list(shape)} moves data")
    while True:
        drawn = tuple(stream.shuffled(range(len(shape))))
        moved = [axis for axis in drawn if shape[axis] > 1]
        if moved != sorted(moved):
            return drawn


def draw_slice(shape: Sequence[int], parts: frozenset[str], stream: Stream) -> SliceParts:
    """The attributes `parts` of a slice of `shape` that leaves two elements or more and is not the whole. Raises ExpressionError where none is found."""
    for _ in range(_TRIES):
        drawn = _Slice(shape, parts, stream)
        if drawn.left > 1 and drawn.changes:
            return drawn.parts()
    raise ExpressionError(f"no slice of {list(shape)} leaves more than one element and less than all")


@dataclass
class _Entry:
    """One place of `begin`, `end` and `strides`, and which masks have its bit."""

    begin: int = 0
    end: int = 0
    step: int = 1
    masks: frozenset[str] = frozenset()


class _Slice:
    """One draw."""

    def __init__(self, shape: Sequence[int], parts: frozenset[str], stream: Stream) -> None:
        self._parts, self._stream = parts, stream
        self._strided = 0
        self.left = math.prod(shape)
        self.changes = False
        self._entries = self._draw(list(shape))

    def parts(self) -> SliceParts:
        """Lists and masks by name."""
        lists = (tuple(entry.begin for entry in self._entries), tuple(entry.end for entry in self._entries), tuple(entry.step for entry in self._entries))
        masks = {name: sum(1 << place for place, entry in enumerate(self._entries) if name in entry.masks) for name in SLICE_MASKS}
        return {**dict(zip(SLICE_LISTS, lists, strict=True)), **masks}

    def _has(self, mask: str) -> bool:
        """One time in `_ONE_IN`, where the operator has this mask."""
        return mask in self._parts and not self._stream.below(_ONE_IN)

    def _draw(self, shape: list[int]) -> list[_Entry]:
        first, last, has_ellipsis = self._bare(len(shape))
        entries = [self._axis(size) for size in shape[:first]]
        if has_ellipsis:
            entries.append(_Entry(masks=frozenset({"ellipsis_mask"})))
        entries += [self._axis(size) for size in shape[last:]]
        if self._has("new_axis_mask"):
            entries.insert(self._stream.between(0, len(entries)), _Entry(end=1, masks=frozenset({"new_axis_mask"})))
        return entries

    def _bare(self, rank: int) -> tuple[int, int, bool]:
        """Axes from the first number to before the second have no entry of their own: they stand under an ellipsis (True), or are the last ones."""
        if rank > 1 and self._has("ellipsis_mask"):
            first = self._stream.below(rank)
            return first, self._stream.between(first + 1, rank if first else rank - 1), True
        if rank > 1 and not self._stream.below(_ONE_IN):
            return self._stream.between(1, rank - 1), rank, False
        return rank, rank, False

    def _axis(self, size: int) -> _Entry:
        if 1 < size <= _SHRUNK_SIZE and self.left // size > 1 and self._has("shrink_axis_mask"):
            return self._one(size)
        step = self._step(size)
        return self._backward(size, step) if size > 1 and not self._stream.below(_ONE_IN) else self._forward(size, step)

    def _step(self, size: int) -> int:
        step = self._stream.choice(_STEPS) if self._strided < _MOST_STRIDED else 1
        step = step if step < size else 1
        self._strided += step > 1
        return step

    def _one(self, size: int) -> _Entry:
        place = self._stream.below(size)
        self._count(size, 1)
        begin = place - size if self._stream.below(2) else place
        return _Entry(begin, begin + 1, 1, frozenset({"shrink_axis_mask"}))

    def _forward(self, size: int, step: int) -> _Entry:
        masks = {name for name in ("begin_mask", "end_mask") if self._has(name)}
        begin = 0 if "begin_mask" in masks else self._stream.below(max(1, size // _CUT))
        end = size if "end_mask" in masks or self._stream.below(2) else size - self._stream.below(max(1, size // _CUT))
        self._count(size, len(range(begin, end, step)))
        begins = (begin, begin - size)
        ends = (size, size + self._stream.between(1, size)) if end == size else (end, end - size)
        written = self._written(begins, size, "begin_mask" in masks), self._written(ends, size, "end_mask" in masks)
        return _Entry(*written, step, frozenset(masks))

    def _backward(self, size: int, step: int) -> _Entry:
        """From an element near the end to before one near the start; only a mask lets it reach element 0, since -1 means the last element."""
        masks = {name for name in ("begin_mask", "end_mask") if self._has(name)}
        begin = size - 1 if "begin_mask" in masks else size - 1 - self._stream.below(max(1, size // _CUT))
        end = -1 if "end_mask" in masks else self._stream.below(max(1, size // _CUT))
        if begin <= end:
            begin = size - 1
        self._count(size, len(range(begin, end, -step)))
        self.changes = True
        written = self._written((begin, begin - size), size, "begin_mask" in masks), self._written((end, end - size), size, "end_mask" in masks)
        return _Entry(*written, -step, frozenset(masks))

    def _written(self, forms: tuple[int, int], size: int, is_masked: bool) -> int:
        """A bound in one of its two forms; any number under a mask."""
        return self._stream.between(0, size - 1) if is_masked else self._stream.choice(forms)

    def _count(self, size: int, kept: int) -> None:
        self.left = self.left // size * kept
        self.changes = self.changes or kept < size
