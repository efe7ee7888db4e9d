"""How one case moved from one report to another, and how far that can be trusted.

Two worlds, two rules. A device's samples spread: a move counts when the intervals of the two medians do not meet. A simulated time is the same on every run, so
that any difference is a real one of the model; whether it holds on the chip is another question, answered by the error band of simulated times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from piton.core.canonical import plain
from piton.core.interval import Interval
from piton.core.measurement import Measurement, Provenance
from piton.core.operator import Frozen
from piton.core.report import CaseResult
from piton.core.verdict import Cause, Verdict
from piton.report.failures import outcome_text

LEAST_CHANGE = 0.005
"""A smaller change of T_cand (as a share of it), with an equal verdict, is none."""
LEAST_HAP_CHANGE = 0.005
"""The same for HAP, where T_cand did not move or is withheld."""


class MoveKind(str, Enum):
    """What happened to a case. The order is that of listings: what broke comes first."""

    BROKE = "broke"
    """It passed before, and does not any more."""
    UNJUDGED = "unjudged"
    """It was judged before; now it is void or was not run to the end."""
    JUDGED = "judged"
    """It was void or stopped before; now there is a verdict."""
    REPAIRED = "repaired"
    """It passes now."""
    OTHER_VERDICT = "other_verdict"
    """It failed before and fails now, in another way."""
    VANISHED = "vanished"
    """Only the first report has it."""
    ALTERED = "altered"
    """Both have a case of this id, with other inputs: nothing can be said."""
    OTHER_ORIGIN = "other_origin"
    """It passes in both, with times of different origins, such as simulated and device: these can't be compared."""
    SLOWER = "slower"
    FASTER = "faster"
    RESCALED = "rescaled"
    """T_cand moved by less than the threshold; T_HW or T_baseline is another one, and HAP moved."""
    APPEARED = "appeared"
    """Only the other report has it."""
    UNCHANGED = "unchanged"


VERDICT_KINDS = frozenset({MoveKind.BROKE, MoveKind.UNJUDGED, MoveKind.JUDGED, MoveKind.REPAIRED, MoveKind.OTHER_VERDICT})
BROKEN_KINDS = frozenset({MoveKind.BROKE, MoveKind.UNJUDGED, MoveKind.VANISHED})
"""A case that is not shown to pass any more."""
DOUBTFUL_KINDS = frozenset({MoveKind.SLOWER, MoveKind.ALTERED, MoveKind.OTHER_ORIGIN})
"""A run with such a case is not shown to be as good as before, whatever a gate makes of it."""


class Certainty(str, Enum):
    """How far a change of time can be trusted."""

    NONE = ""
    """No change of time, or nothing to judge."""
    MEASURED = "measured"
    """Device times whose intervals do not meet."""
    WITHIN_SPREAD = "within the spread"
    """Device times whose intervals meet: may be noise."""
    SPREAD_UNKNOWN = "spread not known"
    """A device time of a single sample."""
    EXACT = "exact"
    """Simulated and larger than the model's error: expected on the chip too."""
    EXACT_WITHIN_ERROR = "exact, within the model's error"
    """Simulated: a real change of the model, which may not hold on the chip."""
    EXACT_ERROR_UNKNOWN = "exact, the model's error is not known"
    """Simulated; nothing like it was measured on the chip."""
    HAP_MOVED = "times withheld, HAP moved"
    """Hidden cases whose intervals of HAP do not meet."""
    HAP_WITHIN_SPREAD = "times withheld, HAP within its interval"
    """Hidden cases whose intervals of HAP meet: may be noise, or the model's error."""
    HAP_ONLY = "times withheld, spread not known"
    """Hidden cases that tell HAP without an interval."""
    OTHER_ORIGIN = "times of other origins"
    """Such as simulated against device: not to be compared."""


REAL = frozenset({Certainty.MEASURED, Certainty.EXACT, Certainty.EXACT_WITHIN_ERROR, Certainty.EXACT_ERROR_UNKNOWN, Certainty.HAP_MOVED})
"""Changes that running again would show again."""

CERTAINTY_TEXTS = {
    Certainty.MEASURED: "the intervals of the two medians do not meet",
    Certainty.WITHIN_SPREAD: "the intervals of the two medians meet: may be noise",
    Certainty.SPREAD_UNKNOWN: "measured once, so nobody knows whether it is noise",
    Certainty.EXACT: "simulated times are the same on every run, and this change is larger than the model's error: expected on hardware too",
    Certainty.EXACT_WITHIN_ERROR: "a real change of the simulated time, but smaller than the model's error: may not hold on hardware",
    Certainty.EXACT_ERROR_UNKNOWN: "a real change of the simulated time; how far the model is from hardware is not known for such cases",
    Certainty.HAP_MOVED: "hidden cases: only HAP is told, and its intervals do not meet",
    Certainty.HAP_WITHIN_SPREAD: "hidden cases: only HAP is told, and its intervals meet: may be noise, or the model's error",
    Certainty.HAP_ONLY: "hidden cases: only HAP is told, without an interval, so nobody knows whether it is noise",
    Certainty.OTHER_ORIGIN: "times of different origins can't be compared",
}


class Side(Frozen):
    """A case in one report."""

    verdict: str
    """Verdict with its cause, or `void`."""
    is_passed: bool
    """True when it passed."""
    time_us: float | None = None
    """T_cand; None unless it passed."""
    time_provenance: Provenance | None = None
    """Where T_cand comes from."""
    time_interval: Interval | None = None
    """Where the true time is expected, as far as known."""
    t_hw_us: float | None = None
    """T_HW."""
    t_baseline_us: float | None = None
    """T_baseline."""
    hap: float | None = None
    """Ranked HAP."""


class Move(Frozen):
    """One case in two reports."""

    operator: str
    """Name of the operator."""
    case: str
    """Its id."""
    kind: MoveKind
    """What happened to it."""
    before: Side | None = None
    """In the first report; None when it does not have the case."""
    after: Side | None = None
    """In the other report."""
    speedup: float | None = None
    """T_cand before / T_cand after: above 1 it became faster. None without two times of one origin."""
    certainty: Certainty = Certainty.NONE
    """How far the change of time can be trusted; empty where there is none."""

    @property
    def name(self) -> str:
        """`operator/case`."""
        return f"{self.operator}/{self.case}"

    @property
    def is_real(self) -> bool:
        """True for a change of time that running again would show again."""
        return self.certainty in REAL

    @property
    def is_regression(self) -> bool:
        """True for what a gate stops: not shown to pass any more, or really slower."""
        return self.kind in BROKEN_KINDS or (self.kind is MoveKind.SLOWER and self.is_real)

    @property
    def hap_change(self) -> float:
        """HAP after less HAP before; a missing one counts 0."""
        return ((self.after.hap if self.after else None) or 0.0) - ((self.before.hap if self.before else None) or 0.0)

    @property
    def weight(self) -> tuple[int, float, str]:
        """Sort key: kinds in their order, then the largest change first."""
        size = abs(math.log(self.speedup)) if self.speedup else abs(self.hap_change)
        rank = list(MoveKind).index(self.kind)
        if self.kind is MoveKind.FASTER:
            rank -= 1  # slower and faster ones in one list: the largest change first
        return (rank, -size, self.name)


@dataclass(frozen=True)
class Thresholds:
    """From which change on a case counts as moved."""

    time: float = LEAST_CHANGE
    hap: float = LEAST_HAP_CHANGE


def kind_text(kind: str) -> str:
    """A kind as it is read: `other verdict`."""
    return kind.replace("_", " ")


def move(key: tuple[str, str], before: CaseResult | None, after: CaseResult | None, least: Thresholds) -> Move:
    """What became of a case that at least one of the two has."""
    found = Move(operator=key[0], case=key[1], kind=MoveKind.UNCHANGED, before=_side(before), after=_side(after))
    if before is None or after is None:
        kind = MoveKind.APPEARED if before is None else MoveKind.VANISHED
        return found.model_copy(update={"kind": kind})
    if not _is_same_case(before, after):
        return found.model_copy(update={"kind": MoveKind.ALTERED})
    speedup, certainty = _compared(before, after)
    kind = _verdict_kind(before, after) or _time_kind(speedup, certainty, least) or _hap_kind(before, after, least)
    shown = certainty if kind in (MoveKind.SLOWER, MoveKind.FASTER, MoveKind.OTHER_ORIGIN) else Certainty.NONE
    return found.model_copy(update={"kind": kind, "speedup": speedup, "certainty": shown})


def _side(case: CaseResult | None) -> Side | None:
    if case is None:
        return None
    return Side(
        verdict="void" if case.void else outcome_text(case.outcome),
        is_passed=_is_passed(case),
        time_us=case.time.value if case.time else None,
        time_provenance=case.time.provenance if case.time else None,
        time_interval=case.time.bounds if case.time else None,
        t_hw_us=case.t_hw.value_us if case.t_hw else None,
        t_baseline_us=case.t_baseline.value_us if case.t_baseline else None,
        hap=case.hap.ranked if case.hap else None,
    )


def _is_same_case(before: CaseResult, after: CaseResult) -> bool:
    """Equal inputs and attributes, where a NaN equals a NaN; the note beside them may differ."""
    first, other = (plain(case.case.model_copy(update={"note": ""})) for case in (before, after))
    return first == other


def _is_passed(case: CaseResult) -> bool:
    return not case.void and case.outcome.verdict is Verdict.PASSED


def _is_judged(case: CaseResult) -> bool:
    return not case.void and case.outcome.cause is not Cause.INTERRUPTED


def _verdict_kind(before: CaseResult, after: CaseResult) -> MoveKind | None:
    """The kind of a move between verdicts; None when the verdict stayed."""
    if _is_judged(before) != _is_judged(after):
        return MoveKind.JUDGED if _is_judged(after) else MoveKind.UNJUDGED
    if _is_passed(before) != _is_passed(after):
        return MoveKind.REPAIRED if _is_passed(after) else MoveKind.BROKE
    is_same = (before.void, before.outcome.cause) == (after.void, after.outcome.cause)
    return None if is_same else MoveKind.OTHER_VERDICT


def _compared(before: CaseResult, after: CaseResult) -> tuple[float | None, Certainty]:
    """T_cand before / after, and how far that can be trusted."""
    if before.time is None or after.time is None:
        return None, _hap_certainty(before, after)
    if before.time.provenance is not after.time.provenance or before.time.unit != after.time.unit:
        return None, Certainty.OTHER_ORIGIN
    if not (before.time.value > 0 and after.time.value > 0):
        return None, Certainty.NONE
    return before.time.value / after.time.value, _certainty(before.time, after.time)


def _hap_certainty(before: CaseResult, after: CaseResult) -> Certainty:
    """Of cases without times: hidden ones keep the interval of their HAP."""
    if before.hap is None or after.hap is None or not (before.is_sealed or after.is_sealed):
        return Certainty.NONE
    meet = _meet(before.hap.interval, after.hap.interval)
    return {None: Certainty.HAP_ONLY, True: Certainty.HAP_WITHIN_SPREAD, False: Certainty.HAP_MOVED}[meet]


def _certainty(before: Measurement, after: Measurement) -> Certainty:
    meet = _meet(before.bounds, after.bounds)
    if before.provenance is Provenance.SIMULATED:
        return {None: Certainty.EXACT_ERROR_UNKNOWN, True: Certainty.EXACT_WITHIN_ERROR, False: Certainty.EXACT}[meet]
    return {None: Certainty.SPREAD_UNKNOWN, True: Certainty.WITHIN_SPREAD, False: Certainty.MEASURED}[meet]


def _meet(before: Interval | None, after: Interval | None) -> bool | None:
    """Whether two intervals have a point in common; None when one is not known."""
    if before is None or after is None:
        return None
    return before.low <= after.high and after.low <= before.high


def _time_kind(speedup: float | None, certainty: Certainty, least: Thresholds) -> MoveKind | None:
    if certainty is Certainty.OTHER_ORIGIN:
        return MoveKind.OTHER_ORIGIN
    if speedup is None or speedup == 1 or max(speedup, 1 / speedup) < 1 + least.time:
        return None
    return MoveKind.FASTER if speedup > 1 else MoveKind.SLOWER


def _hap_kind(before: CaseResult, after: CaseResult, least: Thresholds) -> MoveKind:
    """For cases whose time stayed, or is withheld: HAP alone tells."""
    if before.hap is None or after.hap is None or abs(after.hap.ranked - before.hap.ranked) < least.hap:
        return MoveKind.UNCHANGED
    if before.time is None or after.time is None:
        low, high = sorted((before.hap.ranked, after.hap.ranked))
        if high < low * (1 + least.time):
            return MoveKind.UNCHANGED
        return MoveKind.FASTER if after.hap.ranked > before.hap.ranked else MoveKind.SLOWER
    return MoveKind.UNCHANGED if _has_same_anchors(before, after) else MoveKind.RESCALED


def _has_same_anchors(before: CaseResult, after: CaseResult) -> bool:
    """Whether HAP of the two is measured on one scale."""
    first, other = ([(found.value_us, found.provenance) if found else None for found in (case.t_hw, case.t_baseline)] for case in (before, after))
    return first == other
