"""The worst positions of an output, for a person to look at.

The first pass knows the largest rank of every chunk. The ten worst positions lie in the ten chunks of largest rank, so only those are looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from piton.core.report import WorstPosition
from piton.numerics.dtypes import AnyArray, Float64

WORST_POSITIONS = 10

Ranked = tuple[AnyArray, AnyArray, Float64]
"""Candidate, golden and rank of one chunk; a rank of 0 is right."""


def worst_positions(ranks: Sequence[float], pieces: Sequence[slice], load: Callable[[slice], Ranked], shape: tuple[int, ...]) -> tuple[WorstPosition, ...]:
    """The positions of largest rank, worst first, equal ranks by position; none when every rank is 0. `ranks` holds the largest rank of each of `pieces`."""
    order = sorted((index for index, rank in enumerate(ranks) if rank > 0), key=lambda index: (-ranks[index], index))
    found: list[tuple[float, int, float, float]] = []
    for index in order[:WORST_POSITIONS]:
        found += _worst_of_chunk(pieces[index].start, load(pieces[index]))
    found.sort(key=lambda item: (-item[0], item[1]))
    return tuple(_position(item, shape) for item in found[:WORST_POSITIONS])


def _worst_of_chunk(start: int, chunk: Ranked) -> list[tuple[float, int, float, float]]:
    got, golden, rank = chunk
    count = min(WORST_POSITIONS, rank.size)
    least = np.partition(rank, rank.size - count)[rank.size - count]
    places = np.flatnonzero((rank >= least) & (rank > 0))
    places = places[np.argsort(-rank[places], kind="stable")][:count]
    return [(float(rank[place]), start + int(place), float(got[place]), float(golden[place])) for place in places]


def _position(item: tuple[float, int, float, float], shape: tuple[int, ...]) -> WorstPosition:
    error, flat, got, expected = item
    index = tuple(int(part) for part in np.unravel_index(flat, shape)) if shape else ()
    return WorstPosition(index=index, got=got, expected=expected, relative_error=error)
