"""Intervals of scores, out of those of the cases' HAP.

The error of a model is common to many cases: if the simulated HBM is too fast, then in all of them. So the ends are added up, as for errors that are all of one
sign, and do not shrink with the number of cases as independent errors would. For a device's samples that is on the safe side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from piton.core.fidelity import PAIR
from piton.core.interval import ErrorBand, Interval, IntervalKind, merged_kind
from piton.core.measurement import Anchor, Measurement, Provenance
from piton.core.report import CaseResult, OperatorResult
from piton.core.score import WEIGHT_FAST, HapScore, TrueTime, hap_interval
from piton.core.verdict import Verdict


@dataclass(frozen=True)
class Basis:
    """What the intervals of one report have in common."""

    kind: IntervalKind
    confidence: float


def with_interval(value: HapScore, time: Measurement, t_hw: Anchor, t_baseline: Anchor, bands: Mapping[str, ErrorBand]) -> HapScore:
    """The HAP of a case with its interval, if the error of its time is known.

    A T_baseline that nobody gave an interval (a published one) counts as exact. Not so a simulated one: its error is there and nobody knows how large it is,
    so that the HAP has no interval either.

    `bands` are those of the chip: they say how far the errors of two simulated times are apart at most.
    """
    if time.bounds is None or (t_baseline.provenance is Provenance.SIMULATED and t_baseline.interval is None):
        return value
    apart = bands.get(PAIR) if time.provenance is t_baseline.provenance is Provenance.SIMULATED else None
    candidate, base = TrueTime(value_us=time.value, interval=time.bounds), TrueTime(value_us=t_baseline.value_us, interval=t_baseline.interval)
    return value.model_copy(update={"interval": hap_interval(candidate, t_hw.value_us, base, apart)})


def basis(operators: Sequence[OperatorResult]) -> Basis | None:
    """Why the scores of a report are uncertain; None when no case says how far its time can be trusted."""
    found = [case.hap.interval for item in operators for case in item.cases if case.hap and case.hap.interval]
    return Basis(merged_kind(item.kind for item in found), min(item.confidence for item in found)) if found else None


def operator_interval(item: OperatorResult, common: Basis | None) -> Interval | None:
    """Where the score of one operator lies; None for one without a score, or where there is no basis."""
    if item.score is None or common is None:
        return None
    scored = [case for case in item.cases if case.hap and case.outcome.verdict is Verdict.PASSED] if item.score else []
    below = sum((_below(case) for case in scored), 0.0)
    above = sum((_above(case) for case in scored), 0.0)
    weight = 100.0 * WEIGHT_FAST / len(item.cases)
    unknown = sum(case.hap is not None and case.hap.interval is None for case in scored)
    low, high = item.score - weight * below, item.score + weight * above
    return Interval(low=low, high=high, kind=common.kind, confidence=common.confidence, unknown=unknown)


def sum_of(parts: Iterable[Interval | None], common: Basis | None) -> Interval | None:
    """Where a sum of scores lies, ends added to ends; None as soon as one part is missing."""
    found = list(parts)
    known = [part for part in found if part is not None]
    if common is None or len(known) < len(found):
        return None
    low, high, unknown = (sum(values) for values in zip((0.0, 0.0, 0), *((part.low, part.high, part.unknown) for part in known), strict=True))
    return Interval(low=low, high=high, kind=common.kind, confidence=common.confidence, unknown=int(unknown))


def _below(case: CaseResult) -> float:
    """How much less the HAP of a case may be; one whose error is not known may be worth nothing."""
    assert case.hap is not None
    return case.hap.ranked - (case.hap.interval.low if case.hap.interval else 0.0)


def _above(case: CaseResult) -> float:
    """How much more it may be."""
    assert case.hap is not None
    return (case.hap.interval.high if case.hap.interval else 1.0) - case.hap.ranked
