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
        least = found[-1][0] if len(found) == WORST_POSITIONS else 0.0
        found += _worst_of_chunk(pieces[index].start, load(pieces[index]), least)
        found = sorted(found, key=lambda item: (-item[0], item[1]))[:WORST_POSITIONS]
    return tuple(_position(item, shape) for item in found)


def _worst_of_chunk(start: int, chunk: Ranked, least: float) -> list[tuple[float, int, float, float]]:
    """The worst positions of one chunk whose rank is at least `least`."""
    got, golden, rank = chunk
    places = np.flatnonzero((rank >= least) & (rank > 0))
    if places.size > WORST_POSITIONS:
        ranked = rank[places]
        places = places[ranked >= np.partition(ranked, ranked.size - WORST_POSITIONS)[ranked.size - WORST_POSITIONS]]
    places = places[np.argsort(-rank[places], kind="stable")][:WORST_POSITIONS]
    return [(float(rank[place]), start + int(place), float(got[place]), float(golden[place])) for place in places]


def _position(item: tuple[float, int, float, float], shape: tuple[int, ...]) -> WorstPosition:
    error, flat, got, expected = item
    index = tuple(int(part) for part in np.unravel_index(flat, shape)) if shape else ()
    return WorstPosition(index=index, got=got, expected=expected, relative_error=error)
