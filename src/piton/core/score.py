"""HAP and the composite scores: pure functions of the numbers in a report (D4; paper sections 1.4 and 3.3)."""

from __future__ import annotations

import math
from enum import Enum

from pydantic import Field

from piton.core.interval import ErrorBand, Interval, merged_kind
from piton.core.operator import Frozen
from piton.core.verdict import Verdict

WEIGHT_COMPILED = 0.2
WEIGHT_CORRECT = 0.3
WEIGHT_FAST = 0.5
BASELINE_FLOOR_RATIO = 1.05
"""T_baseline below this multiple of T_HW is raised to it for scoring, with a finding (D4)."""
_LEAST_US = 1e-6
"""A clock that read 0 for the fastest of a device's samples still took some time."""


class ScoreProfile(str, Enum):
    """Which triple of times a score is made of; a score never mixes worlds (D4)."""

    SIM = "sim"
    """Simulated T_cand, silicon T_HW, simulated or modelled T_baseline."""
    CANN_BENCH = "cann-bench"
    """Device T_cand, convention T_HW, measured or quoted T_baseline."""
    CPU = "cpu"
    """T_cand and T_baseline measured on this machine's processor; no T_HW, so no HAP: its figures are speed-ups."""


class HapScore(Frozen):
    """HAP of one case: the raw value of the paper and the one that ranks."""

    raw: float
    """Paper's formula, uncapped; above 1 when T_cand < T_HW."""
    ranked: float
    """`raw`, but 1.0 where T_cand < T_HW until a person has reviewed it."""
    is_below_t_hw: bool = False
    """True when T_cand is below T_HW."""
    is_baseline_raised: bool = False
    """True when T_baseline was raised to 1.05 T_HW."""
    interval: Interval | None = None
    """Where the ranked HAP of true times is expected; None where the error of T_cand is not known."""


def hap(t_cand_us: float, t_hw_us: float, t_baseline_us: float) -> HapScore:
    """HAP_i = (T_base - T_HW) / ((T_cand - T_HW) + (T_base - T_HW)), all times in microseconds.

    T_base below 1.05 T_HW is raised to that. A non-positive denominator (T_cand so far below T_HW that the formula breaks) has no raw value of use: it is
    given as infinity and ranks as 1. Raises ValueError for a time that is not positive and finite.
    """
    if not all(0 < time < math.inf for time in (t_cand_us, t_hw_us, t_baseline_us)):
        raise ValueError(f"times must be positive and finite: T_cand {t_cand_us}, T_HW {t_hw_us}, T_baseline {t_baseline_us}")
    floor = BASELINE_FLOOR_RATIO * t_hw_us
    base = max(t_baseline_us, floor)
    headroom = base - t_hw_us
    denominator = (t_cand_us - t_hw_us) + headroom
    raw = headroom / denominator if denominator > 0 else float("inf")
    below = t_cand_us < t_hw_us
    return HapScore(raw=raw, ranked=1.0 if below else raw, is_below_t_hw=below, is_baseline_raised=t_baseline_us < floor)


class TrueTime(Frozen):
    """A time as it was taken, and where the true one is expected."""

    value_us: float = Field(gt=0)
    interval: Interval | None = None
    """None for a time that counts as exact."""

    @property
    def factors(self) -> tuple[float, float]:
        """Least and greatest true time, as multiples of the value."""
        if self.interval is None:
            return 1.0, 1.0
        return max(self.interval.low, _LEAST_US) / self.value_us, max(self.interval.high, _LEAST_US) / self.value_us


def hap_interval(t_cand: TrueTime, t_hw_us: float, t_baseline: TrueTime, apart: ErrorBand | None = None) -> Interval:
    """Where the ranked HAP lies. T_cand needs an interval; a T_baseline without one counts as exact.

    HAP falls with T_cand and rises with T_baseline, so without `apart` its ends are those of the slowest candidate against the fastest baseline, and the
    reverse. Where both times are of one simulator, `apart` bounds how far their two errors differ (docs/fidelity.md): true / simulated of one, divided by the
    same of the other, is at most `apart.high`. That cuts the two corners off, and each end lies at one of the corners that this leaves.
    """
    parts = [part for part in (t_cand.interval, t_baseline.interval, apart) if part is not None]
    ends = _corners(t_cand.factors, t_baseline.factors, apart.high if apart else math.inf, BASELINE_FLOOR_RATIO * t_hw_us / t_baseline.value_us)
    found = [hap(candidate * t_cand.value_us, t_hw_us, base * t_baseline.value_us).ranked for candidate, base in ends]
    return Interval(
        low=min(found),
        high=max(found),
        kind=merged_kind(part.kind for part in parts if isinstance(part, Interval)),
        confidence=min(part.confidence for part in parts),
    )


def _corners(candidate: tuple[float, float], baseline: tuple[float, float], most: float, raised: float) -> list[tuple[float, float]]:
    """Pairs of factors (T_cand, T_baseline) at which HAP is least or greatest.

    Both lie between their ends, and neither is more than `most` times the other. Along the line on which the candidate is `most` times the baseline HAP goes
    one way, but for the point where T_baseline stops being raised (factor `raised`): there it may turn upwards. So for the least value that point counts too.
    """
    (fast, slow), (fast_base, slow_base) = candidate, baseline
    last = max(fast_base, min(slow / most, slow_base))
    bases = [fast_base, last, min(max(raised, fast_base), last)]
    firsts = [fast, max(fast, min(slow_base / most, slow))]
    least = [(min(slow, max(base * most, fast)), base) for base in bases]
    greatest = [(first, min(slow_base, max(first * most, fast_base))) for first in firsts]
    return least + greatest


class CasePoints(Frozen):
    """What a case brings into its operator's score."""

    verdict: Verdict
    hap: float | None
    """Ranked HAP, None when the case passed but has no usable time or anchors (no performance credit)."""


def is_correct(verdict: Verdict, profile: ScoreProfile) -> bool:
    """True when the case earns correctness credit under `profile` (D4: unattributed does, in cann-bench only)."""
    return verdict is Verdict.PASSED or (profile is ScoreProfile.CANN_BENCH and verdict is Verdict.UNATTRIBUTED)


def operator_score(cases: list[CasePoints], profile: ScoreProfile, is_compiled: bool = True) -> float:
    """100 [0.2 compiled + mean over cases of correct (0.3 + 0.5 HAP)], 0 for an operator that was rejected, tampered with or not built.

    A case whose verdict is build_failed in an operator that was built (an API that one path of its kernel needs and the target lacks) counts as not
    correct. `cases` has one entry for every case of the operator, run or not: nothing shrinks the denominator. Raises ValueError for no cases.
    """
    if not cases:
        raise ValueError("an operator without cases has no score")
    verdicts = {case.verdict for case in cases}
    if not is_compiled or verdicts & {Verdict.REJECTED, Verdict.TAMPERED}:
        return 0.0
    credit = sum(case_credit(case, profile) for case in cases)
    return 100.0 * (WEIGHT_COMPILED + credit / len(cases))


def case_credit(case: CasePoints, profile: ScoreProfile) -> float:
    """What one case brings into the mean over its operator's cases: 0 to 0.8."""
    if not is_correct(case.verdict, profile):
        return 0.0
    has_speed = case.hap is not None and case.verdict is Verdict.PASSED
    return WEIGHT_CORRECT + WEIGHT_FAST * (case.hap or 0.0 if has_speed else 0.0)
