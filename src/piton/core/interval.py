"""Intervals: what a number may truly be, from the spread of samples or from the known error of a model (docs/fidelity.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import Enum

from pydantic import Field, model_validator

from piton.core.operator import Frozen

SAMPLE_CONFIDENCE = 0.95
"""Level aimed at for the median of samples."""
BAND_CONFIDENCE = 0.9
"""Level aimed at for the error of a model."""


class IntervalKind(str, Enum):
    """What makes a number uncertain."""

    SAMPLES = "samples"
    """The spread of repeated measurements."""
    MODEL_ERROR = "model_error"
    """How far the model was from the measurements it was compared with."""
    BOTH = "both"


class Interval(Frozen):
    """Two ends between which the true value is expected."""

    low: float = Field(allow_inf_nan=False)
    """Lower end."""
    high: float = Field(allow_inf_nan=False)
    """Upper end."""
    kind: IntervalKind
    """What makes it uncertain."""
    confidence: float = Field(ge=0, le=1)
    """Level of what went in: the least, where it is several intervals."""
    unknown: int = Field(default=0, ge=0)
    """Of a sum: cases whose error nobody knows; each counts with everything that it could be."""

    @model_validator(mode="after")
    def _is_ordered(self) -> Interval:
        if self.low > self.high:
            raise ValueError(f"an interval from {self.low} up to {self.high}")
        return self


class ErrorBand(Frozen):
    """How far simulated times were from measured ones: ratios simulated / measured."""

    low: float = Field(gt=0, allow_inf_nan=False)
    """Smallest ratio."""
    high: float = Field(gt=0, allow_inf_nan=False)
    """Largest ratio."""
    confidence: float = Field(gt=0, le=1)
    """Probability that one more kernel of the kind lies inside (`prediction_band`)."""
    references: int = Field(ge=2)
    """Measured times that were compared with."""
    source: str
    """Which references, and how the ends follow from them."""

    @model_validator(mode="after")
    def _is_ordered(self) -> ErrorBand:
        if self.low > self.high:
            raise ValueError(f"a band from {self.low} up to {self.high}")
        return self

    def around(self, time_us: float) -> Interval:
        """Where the measured time of a kernel is expected that takes `time_us` in the simulation."""
        return Interval(low=time_us / self.high, high=time_us / self.low, kind=IntervalKind.MODEL_ERROR, confidence=self.confidence)


def median_interval(samples: Sequence[float], confidence: float = SAMPLE_CONFIDENCE) -> Interval | None:
    """The interval of the median between two order statistics, whatever the distribution; None for a single sample.

    Of n sorted samples the k-th from below and the k-th from above have the median between them with probability 1 - 2 P(B < k), B binomial (n, 1/2). The
    largest k that keeps `confidence` is taken; where even k = 1 does not (fewer than 6 samples for 95 %), the whole range, with the level that it has.
    """
    found, n = sorted(samples), len(samples)
    if n < 2:
        return None
    levels = [1 - 2 * _binomial_below(k, n) for k in range(1, (n + 1) // 2 + 1)]
    k = max((number for number, level in enumerate(levels, start=1) if level >= confidence), default=1)
    return Interval(low=found[k - 1], high=found[n - k], kind=IntervalKind.SAMPLES, confidence=levels[k - 1])


def prediction_band(ratios: Sequence[float], confidence: float = BAND_CONFIDENCE) -> tuple[float, float, float]:
    """(low, high, level): where one more ratio of the same kind lies, whatever the distribution.

    Of n sorted ratios the k-th from below and from above have the next one between them with probability (n + 1 - 2 k) / (n + 1). The largest k that keeps
    `confidence` is taken, or k = 1, the whole range, with the level that it has. Raises ValueError for fewer than two ratios.
    """
    found, n = sorted(ratios), len(ratios)
    if n < 2:
        raise ValueError("a band needs at least two references")
    k = max(1, math.floor((n + 1) * (1 - confidence) / 2 + 1e-9))
    return found[k - 1], found[n - k], (n + 1 - 2 * k) / (n + 1)


def merged_kind(kinds: Iterable[IntervalKind]) -> IntervalKind:
    """The kind of what is uncertain for all these reasons. Raises ValueError for none."""
    found = set(kinds)
    if not found:
        raise ValueError("nothing is uncertain")
    return found.pop() if len(found) == 1 else IntervalKind.BOTH


def _binomial_below(k: int, n: int) -> float:
    """P(B < k) for B binomial (n, 1/2)."""
    return float(sum(math.comb(n, count) for count in range(k)) / 2**n)
