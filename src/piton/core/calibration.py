"""Calibration: constants of a timing model fitted to measured kernels, and how well they then agree (docs/calibrate.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from pydantic import Field

from piton.core.operator import Frozen


@dataclass(frozen=True)
class Observation:
    """One measured kernel that can be simulated."""

    key: str
    """Unique and stable: decides whether it is held out."""
    group: str
    """Kind of kernel, for the report; every group weighs the same in the fit."""
    measured_us: float
    """Median of its rows."""
    rows: int = 1
    """Measurements behind it."""
    is_held_out: bool = False
    """Not seen by the fit."""


@dataclass(frozen=True)
class Constant:
    """A figure that the fit may change, within bounds."""

    name: str
    """Of the hardware file's `simulation` block; with `.*` at its end a common factor of all figures that begin so."""
    low: float
    """At least 0, and above 0 for what something is divided by."""
    high: float
    """Finite."""
    start: float

    @property
    def is_factor(self) -> bool:
        """Does it stand for several figures at once?"""
        return self.name.endswith(".*")

    @property
    def is_whole(self) -> bool:
        """Cycles are counted in whole ones."""
        return self.name.endswith("_cycles")

    def at(self, place: float) -> float:
        """The value at `place` between its bounds (0 to 1): in equal ratios where the lower bound is above 0, else in equal steps."""
        value = self.low * (self.high / self.low) ** place if self.low > 0 else place * self.high
        return float(round(value)) if self.is_whole else _four_digits(value)

    def place_of(self, value: float) -> float:
        """The inverse of `at`, cut to 0 and 1."""
        if self.high == self.low:
            return 0.0
        place = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low) if self.low > 0 else value / self.high
        return min(max(place, 0.0), 1.0)


def _four_digits(value: float) -> float:
    return float(f"{value:.4g}")


class GroupError(Frozen):
    """How far simulated times of one group are from the measured ones."""

    group: str
    """Name; `all` for everything together."""
    count: int = Field(ge=0)
    """Observations."""
    median_error: float
    """Median of |simulated / measured - 1|."""
    bias: float
    """Median of simulated / measured."""
    low: float
    """Smallest simulated / measured."""
    high: float
    """Largest one."""
    rank_correlation: float | None = None
    """Spearman's, between simulated and measured; null below three observations, or when all are equal."""


def group_errors(observations: Sequence[Observation], simulated_us: Sequence[float]) -> tuple[GroupError, ...]:
    """One row per group in order of name, then `all` when there are several."""
    pairs = list(zip(observations, simulated_us, strict=True))
    names = sorted({item.group for item in observations})
    rows = [_error_of(name, [(item.measured_us, time) for item, time in pairs if item.group == name]) for name in names]
    everything = [(item.measured_us, time) for item, time in pairs]
    return (*rows, _error_of("all", everything)) if len(names) > 1 else tuple(rows)


def _error_of(name: str, pairs: Sequence[tuple[float, float]]) -> GroupError:
    ratios = [simulated / measured for measured, simulated in pairs]
    return GroupError(
        group=name,
        count=len(pairs),
        median_error=median(abs(ratio - 1) for ratio in ratios),
        bias=median(ratios),
        low=min(ratios),
        high=max(ratios),
        rank_correlation=rank_correlation([measured for measured, _ in pairs], [simulated for _, simulated in pairs]),
    )


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's coefficient, ties at their mean rank; None below three pairs, or when one side is all equal."""
    if len(first) < 3:
        return None
    one, other = _ranks(first), _ranks(second)
    mean = (len(first) + 1) / 2
    spread = math.sqrt(sum((a - mean) ** 2 for a in one) * sum((b - mean) ** 2 for b in other))
    return sum((a - mean) * (b - mean) for a, b in zip(one, other, strict=True)) / spread if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for place in order[begin:end]:
            ranks[place] = (begin + end + 1) / 2
        begin = end
    return ranks


class FittedConstant(Frozen):
    """A constant before and after."""

    name: str
    """As in the hardware file; with `.*` a factor of several."""
    start: float
    """What it was."""
    value: float
    """What it became."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    influence: float = Field(ge=0)
    """How much the simulated times change over its whole range: the root of the mean square of the change of their logarithm. 0: the rows say nothing."""


class CalibrationReport(Frozen):
    """What `piton calibrate --json` prints."""

    schema_version: int = 1
    """Version of this form."""
    hardware: str
    """What was started from."""
    profile: str
    """Name of the CSV."""
    profile_digest: str
    """SHA-256 of its bytes."""
    out: str
    """The hardware file that was written; empty when none was."""
    constants: tuple[FittedConstant, ...]
    """In the order that they were asked for."""
    fitted_before: tuple[GroupError, ...]
    """Errors of the rows that the fit saw, with the constants of the start."""
    fitted_after: tuple[GroupError, ...]
    """And with the new ones."""
    held_out_before: tuple[GroupError, ...]
    """The same for rows that it did not see."""
    held_out_after: tuple[GroupError, ...]
    """And with the new constants."""
    simulations: int
    """Sets of constants that were tried."""
    unmatched_rows: int
    """Rows of the CSV that no kernel of the mapping stands for."""
    rows: tuple[ObservationResult, ...] = ()
    """Every kernel that was compared."""


class ObservationResult(Frozen):
    """One kernel, measured and simulated."""

    key: str
    """Identity of the observation."""
    group: str
    """Its group."""
    is_held_out: bool
    """Not seen by the fit."""
    measured_us: float
    """Median of its rows in the CSV."""
    before_us: float
    """Simulated with the constants of the start."""
    after_us: float
    """And with the new ones."""


def split_by_key(keys: Iterable[str], held_out_percent: int) -> dict[str, bool]:
    """Which are held out: decided by a hash of the key alone, so that neither times nor their order can matter."""
    from piton.core.canonical import digest

    return {key: int(digest(["calibration", key])[:8], 16) % 100 < held_out_percent for key in keys}


CalibrationReport.model_rebuild()
