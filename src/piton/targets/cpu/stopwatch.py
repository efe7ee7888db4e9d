"""From times of batches to the time of a call: batch sizes, the slope over them, and where the true value lies. Pure functions.

Problem: a batch costs a fixed time (waking the process, its reply) that is no part of a call, and a kernel that knows how large a batch is could make small
ones slow so that the slope looks fast.
Approach: times t of batches of c calls; the slope of Theil and Sen (median of all pairwise slopes) with its interval from the distribution of Kendall's tau;
as the fixed cost counts at most what an empty kernel was measured to need. The time is the median of (t - fixed cost) / c.
Limits: noise that lasts as long as the whole measurement shifts all batches alike; the canary before and after shows it.
Source: P. K. Sen, Estimates of the regression coefficient based on Kendall's tau, J. Am. Stat. Assoc. 63 (1968) 1379, section 4.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.interval import SAMPLE_CONFIDENCE, Interval, IntervalKind

TIMED_BATCHES = 10
"""Fewer leave the interval of a slope wider than 10 % on a machine that does other things too; more cost time in proportion."""
FIRST_BATCHES = 2
"""Not counted: pages, branch predictors and clock rates settle. The process can't tell them from the others."""
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class Sample:
    """One batch: how many calls, and its time from the process's wake-up to its reply."""

    calls: int
    time_us: float


@dataclass(frozen=True)
class Line:
    """t = fixed + slope c."""

    slope_us: float
    fixed_us: float
    low_us: float
    high_us: float
    """Ends of the slope's 95 % interval."""


@dataclass(frozen=True)
class CallTime:
    """The time of one call."""

    samples_us: tuple[float, ...]
    """Of each batch, without its fixed cost, by its number of calls."""
    interval: Interval
    line: Line
    taken_off_us: float
    """Fixed cost that was taken off every batch."""
    is_padded: bool
    """The fitted fixed cost is far more than an empty kernel's: it was not taken off."""

    @property
    def value_us(self) -> float:
        """Median of the samples."""
        return statistics.median(self.samples_us)


def batch_sizes(batches: int, most: int, draw: random.Random) -> list[int]:
    """That many sizes from 1 to `most`, one from each of as many equal parts of the range, in random order: random, and never all alike."""
    sizes = [1 + min(most - 1, int((part + draw.random()) / batches * most)) for part in range(batches)]
    draw.shuffle(sizes)
    return sizes


def fit(samples: Sequence[Sample]) -> Line:
    """The line of Theil and Sen. Raises ValueError when all batches have the same size."""
    pairs = [(one, other) for index, one in enumerate(samples) for other in samples[index + 1 :] if one.calls != other.calls]
    slopes = sorted((other.time_us - one.time_us) / (other.calls - one.calls) for one, other in pairs)
    if not slopes:
        raise ValueError("a slope needs batches of different sizes")
    slope = statistics.median(slopes)
    low, high = _ends(slopes, samples)
    return Line(slope, statistics.median(item.time_us - slope * item.calls for item in samples), low, high)


def call_time(samples: Sequence[Sample], most_fixed_us: float) -> CallTime:
    """The time of a call when batches may have a fixed cost of up to `most_fixed_us`. Raises ValueError as `fit` does."""
    line = fit(samples)
    fixed = min(max(line.fixed_us, 0.0), most_fixed_us)
    found = tuple(max(0.0, (item.time_us - fixed) / item.calls) for item in samples)
    value = statistics.median(found)
    interval = Interval(low=max(0.0, min(line.low_us, value)), high=max(line.high_us, value), kind=IntervalKind.SAMPLES, confidence=SAMPLE_CONFIDENCE)
    return CallTime(found, interval, line, fixed, line.fixed_us > 2 * most_fixed_us + 0.25 * max(item.time_us for item in samples))


def _ends(slopes: Sequence[float], samples: Sequence[Sample]) -> tuple[float, float]:
    """Order statistics of the slopes between which the true one lies, by the normal approximation of Kendall's tau with ties."""
    n = len(samples)
    ties = [sum(item.calls == size for item in samples) for size in {item.calls for item in samples}]
    variance = (n * (n - 1) * (2 * n + 5) - sum(k * (k - 1) * (2 * k + 5) for k in ties)) / 18
    reach = _NORMAL_95 * math.sqrt(variance)
    low = max(0, math.floor((len(slopes) - reach) / 2) - 1)
    high = min(len(slopes) - 1, math.ceil((len(slopes) + reach) / 2))
    return slopes[low], slopes[high]
