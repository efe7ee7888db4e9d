"""How many voxels evenly drawn points reach: what chance does not undercut.

Every point is drawn by itself, each of its coordinates evenly between the ends of a range. A voxel is reached when a point lies within a distance of it on
every axis, and so its chance is a product. Where M voxels are expected to be missed, M + t or more are with a probability of exp(-t^2 / (2 (M + t / 3))) at
most (Chernoff's bound, which holds for bins that balls miss). Voxels that one point reaches together are put into classes of which it reaches one each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

_EXPONENT = 32.0
"""A probability below exp(-32), 1e-14, counts as never."""


@dataclass(frozen=True)
class PointAxis:
    """One axis of a volume and where points may lie along it, in voxels."""

    size: int
    low: float
    high: float
    reach: float
    """A point reaches the voxels that are less than this away."""
    step: float
    """Distance of neighbouring coordinates of the points' type: so much of a range may be rounded away."""

    def voxels(self) -> Counter[float]:
        """How many voxels have which chance to be reached."""
        return Counter(self._chance(place, 1) for place in range(self.size))

    def blocks(self, length: int) -> Counter[float]:
        """How many blocks of `length` voxels that lie together have which chance, at least, wherever the first block begins; one block is left out for that."""
        firsts = range(0, max(0, self.size - 2 * length + 1), length)
        return Counter(min(self._chance(first, length), self._chance(first + length - 1, length)) for first in firsts)

    def _chance(self, first: int, count: int) -> float:
        """Chance that a point reaches one of `count` voxels, rounded down."""
        start, end = max(first - self.reach, self.low), min(first + count - 1 + self.reach, self.high)
        if self.high <= self.low:
            return float(start < end or start == end == self.low)
        return max(0.0, math.floor((end - start - self.step) / (self.high - self.low) * 2**30) / 2**30)


def least_reached(axes: Iterable[Mapping[float, int]], points: int, volumes: int, classes: int) -> int:
    """Places that are reached at least, in `volumes` volumes with `points` points each; `axes` has how many places of an axis have which chance.

    `classes` is the most places that one point reaches together.
    """
    possible, missed = 0, 0.0
    for places in product(*(axis.items() for axis in axes)):
        chance, count = math.prod(item[0] for item in places), volumes * math.prod(item[1] for item in places)
        if chance > 0:
            possible += count
            missed += count * (math.exp(points * math.log1p(-chance)) if chance < 1 else 0.0)
    return max(0, math.floor(possible - missed - _deviation(missed, classes)))


def _deviation(missed: float, classes: int) -> float:
    """What may be missed beyond `missed`: t of the bound for each class, which has its share of the missed places."""
    if missed < math.exp(-_EXPONENT):
        return 0.0
    third = _EXPONENT / 3
    return classes * (third + math.sqrt(third**2 + 2 * _EXPONENT * missed / classes))
