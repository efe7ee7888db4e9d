"""How much of a tensor indices reach that are drawn evenly and independently: what chance does not undercut."""

from __future__ import annotations

import math
from dataclasses import dataclass

_DEVIATIONS = 4.0
"""A sum that each of n draws changes by 1 at most falls c sqrt(n) below its mean with a probability below exp(-2 c^2), 1e-14 (McDiarmid's inequality)."""


@dataclass(frozen=True)
class Draws:
    """`lines` lines of `each` draws, every draw one of `places` places of its line."""

    lines: int
    each: int
    places: int

    def least_distinct(self) -> int:
        """Different places that are drawn, added up over the lines; one per line in any case."""
        return max(self.lines, self._least(self.lines * self.places, 1 / self.places, self.each))

    def least_blocks(self, row: int, block: int, *, is_last: bool) -> int:
        """Whole blocks of `block` elements that are drawn from, when places are rows of `row` elements that lie together, or single ones of the last axis.

        A block of a row is touched by a draw of any of the lines that cross it; a block of the last axis by a draw of any place in it. The first and the last
        block of a row or line may be shared with its neighbours: one per row or line is left out. 0 for rows shorter than two blocks.
        """
        whole = (self.places if is_last else row) // block - 1
        if whole <= 0:
            return 0
        if is_last:
            return self._least(self.lines * whole, block / self.places, self.each)
        return self._least(self.lines // row * self.places * whole, 1 / self.places, self.each * block)

    def _least(self, targets: int, chance: float, tries: int) -> int:
        """Targets that are hit, at least, when each has `tries` tries of this chance."""
        mean = targets * (1 - (1 - chance) ** tries)
        return max(0, math.floor(mean - _DEVIATIONS * math.sqrt(self.lines * self.each)))


def contiguous_elements(shape: tuple[int, ...], part: tuple[int, ...]) -> int:
    """Elements that lie together in a tensor of `shape` of which the first positions on each axis, `part`, are taken."""
    together = 1
    for size, taken in zip(reversed(shape), reversed(part), strict=True):
        together *= taken
        if taken != size:
            break
    return together
