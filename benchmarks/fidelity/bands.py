"""The error bands of docs/fidelity.md, from the ratios simulated / measured of the references."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from piton.core.interval import prediction_band

DIGITS = 1000
"""Ends are rounded outwards to thousandths."""

Band = tuple[float, float, float, int]
"""Low, high, level, references."""


def bands(ratios: Mapping[str, Sequence[float]]) -> dict[str, Band]:
    """Bands by kind of call, from the ratios of the references by table: `add` (from a cold L2), `copy`, `bank`, `small`."""
    memory, short = [*ratios["add"], *ratios["copy"]], list(ratios["small"])
    found = {"memory": _band(memory), "short": _band(short), "vector": _band([*memory, *short, *ratios["bank"]])}
    return {**found, "pair": _pair(ratios["add"])}


def widened(low: float, high: float, factor: float) -> tuple[float, float]:
    """Both ends farther out by `factor`, rounded outwards."""
    return _outwards(low / factor, high * factor)


def _band(ratios: Sequence[float]) -> Band:
    low, high, level = prediction_band(ratios)
    return (*_outwards(low, high), level, len(ratios))


def _pair(ratios: Sequence[float]) -> Band:
    """Errors of two implementations of one operation, divided by each other; the level is that of one more implementation between the extremes."""
    apart = max(one / other for one, other in itertools.permutations(ratios, 2))
    return (*_outwards(1 / apart, apart), prediction_band(ratios)[2], len(ratios))


def _outwards(low: float, high: float) -> tuple[float, float]:
    return math.floor(low * DIGITS) / DIGITS, math.ceil(high * DIGITS) / DIGITS
