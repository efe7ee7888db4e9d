"""What every rendering shows of a report: headers that name unit and provenance, one row per case, and why cases failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.finding import FindingKind
from piton.core.measurement import Provenance
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.score import CasePoints, ScoreProfile, case_credit
from piton.core.verdict import LEFT_OUT, Cause, Place, Verdict
from piton.report.bottleneck import bottleneck
from piton.report.failures import cases_text, outcome_text
from piton.report.rescore import is_finished
from piton.report.trust import interval_text, with_interval

NONE = "–"
_SHOWN_MISSING = 6


@dataclass(frozen=True)
class Quantity:
    """A time with its origin."""

    value_us: float
    provenance: Provenance


@dataclass(frozen=True)
class Row:
    """One case, ready to be printed."""

    case_id: str
    size: str
    verdict: str
    is_good: bool
    t_cand: str
    t_baseline: str
    t_hw: str
    hap: str
    hap_interval: str
    """Where the HAP of true times is expected."""
    limits: str
    """Unit that limits T_HW / pipe that was busiest in the submission's launches."""
    inputs: str
    """Dtype and shape of the first input, and how many more there are."""
    ratio: str
    """T_cand / T_HW."""


@dataclass(frozen=True)
class Headers:
    """Column heads of the three times, with unit and, where a column has only one, provenance."""

    t_cand: str
    t_baseline: str
    t_hw: str


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one kind at one place, with the words of the first."""

    case_ids: tuple[str, ...]
    kind: FindingKind
    message: str
    place: Place

    @property
    def subject(self) -> str:
        """The cases."""
        return cases_text(self.case_ids)

    @property
    def text(self) -> str:
        """Kind, message and place."""
        return f"{self.kind.value}: {self.message}" + (f" ({self.place})" if str(self.place) else "")


@dataclass(frozen=True)
class Columns:
    """Provenances that occur in each column of times of a report."""

    t_cand: tuple[Provenance, ...]
    t_baseline: tuple[Provenance, ...]
    t_hw: tuple[Provenance, ...]


def columns(report: Report) -> Columns:
    """Which origins share a column; more than one makes every cell name its own."""
    cases = [case for item in report.operators for case in item.cases]
    return Columns(_origins([_candidate(case) for case in cases]), _origins([_baseline(case) for case in cases]), _origins([_roof(case) for case in cases]))


def headers(found: Columns) -> Headers:
    """Heads such as `T_HW us, modelled`."""
    return Headers(_head("T_cand", found.t_cand), _head("T_baseline", found.t_baseline), _head("T_HW", found.t_hw))


def row(case: CaseResult, found: Columns) -> Row:
    """The row of one case."""
    return Row(
        case_id=case.case.id,
        size=case.size.value,
        verdict=verdict_text(case),
        is_good=case.outcome.verdict is Verdict.PASSED,
        t_cand=_cell(_candidate(case), found.t_cand),
        t_baseline=_cell(_baseline(case), found.t_baseline),
        t_hw=_cell(_roof(case), found.t_hw),
        hap=_hap(case),
        hap_interval=interval_text(case.hap.interval, 2) if case.hap else "",
        limits=_limits(case),
        inputs=inputs_text(case),
        ratio=_ratio(case),
    )


def verdict_text(case: CaseResult) -> str:
    """Verdict with its cause, or that we could not evaluate."""
    if case.void:
        return "void"
    return outcome_text(case.outcome)


def bottlenecks(item: OperatorResult, most: int = 5) -> list[tuple[str, str]]:
    """(case, sentence) about where the time went, for the `most` cases that are furthest from T_HW, in the suite's order."""
    known = [(case, found) for case in listed(item) if (found := bottleneck(case)) is not None]
    furthest = sorted(known, key=lambda pair: -(pair[1].over_t_hw or 0.0))[:most]
    return [(case.case.id, found.sentence) for case, found in known if (case, found) in furthest]


def score_text(score: float | None) -> str:
    """A score with one decimal, or a dash when there is none."""
    return NONE if score is None else f"{score:.1f}"


def level_text(report: Report, level: str) -> str:
    """The score of one level, with its interval."""
    return with_interval(score_text(report.level_scores[level]), report.level_intervals.get(level))


def total_text(report: Report) -> str:
    """The score of the report, with its interval."""
    return with_interval(score_text(report.total_score), report.total_interval)


def trials_text(report: Report) -> str:
    """What follows the options of a report whose cases had to pass twice."""
    return ", two trials" if report.trials > 1 else ""


def missing_text(report: Report) -> str:
    """Which operators the submission does not have; "" when it has all that were asked for."""
    names, there = list(report.missing_operators), len(report.operators)
    if not names:
        return ""
    shown = ", ".join(names[:_SHOWN_MISSING]) + (f" and {len(names) - _SHOWN_MISSING} more" if len(names) > _SHOWN_MISSING else "")
    return f"{there} of {there + len(names)} operators of {report.suite} submitted; these score 0: {shown}"


def listed(item: OperatorResult) -> list[CaseResult]:
    """The cases that were asked for."""
    return [case for case in item.cases if case.outcome.cause not in LEFT_OUT]


def summary(item: OperatorResult) -> str:
    """One line about an operator."""
    passed = sum(case.outcome.verdict is Verdict.PASSED for case in item.cases)
    too_large = sum(case.outcome.cause is Cause.TOO_LARGE for case in item.cases)
    left_out = len(item.cases) - len(listed(item)) - too_large
    rest = (f", {left_out} left out" if left_out else "") + (f", {too_large} above --max-elements" if too_large else "")
    return f"{passed} of {len(item.cases)} cases passed{rest}, score {with_interval(score_text(item.score), item.interval)} of 100"


def findings(item: OperatorResult) -> list[FindingGroup]:
    """Findings of one operator; those of one kind at one place are one entry."""
    grouped: dict[tuple[FindingKind, Place], list[tuple[CaseResult, str]]] = {}
    for case in item.cases:
        for finding in case.findings:
            grouped.setdefault((finding.kind, finding.place), []).append((case, finding.message))
    return [FindingGroup(tuple(dict.fromkeys(case.case.id for case, _ in found)), kind, found[0][1], place) for (kind, place), found in grouped.items()]


def _candidate(case: CaseResult) -> Quantity | None:
    return Quantity(case.time.value, case.time.provenance) if case.time else None


def _baseline(case: CaseResult) -> Quantity | None:
    return Quantity(case.t_baseline.value_us, case.t_baseline.provenance) if case.t_baseline else None


def _roof(case: CaseResult) -> Quantity | None:
    return Quantity(case.t_hw.value_us, case.t_hw.provenance) if case.t_hw else None


def _origins(quantities: Sequence[Quantity | None]) -> tuple[Provenance, ...]:
    found = {quantity.provenance for quantity in quantities if quantity is not None}
    return tuple(origin for origin in Provenance if origin in found)


def _head(name: str, origins: tuple[Provenance, ...]) -> str:
    return f"{name} us" + (f", {origins[0].value}" if len(origins) == 1 else "")


def _cell(quantity: Quantity | None, origins: tuple[Provenance, ...]) -> str:
    if quantity is None:
        return NONE
    return f"{quantity.value_us:.2f}" + (f" {quantity.provenance.value}" if len(origins) > 1 else "")


def _hap(case: CaseResult) -> str:
    if case.hap is None:
        return NONE
    return f"{case.hap.ranked:.3f}" + (" !" if case.hap.is_below_t_hw else "")


def inputs_text(case: CaseResult) -> str:
    """`float16 1024×1024`, with the number of further inputs."""
    tensors = case.case.inputs
    if not tensors:
        return NONE
    shape = "×".join(map(str, tensors[0].shape)) or "scalar"
    return f"{tensors[0].dtype.value} {shape}" + (f" and {len(tensors) - 1} more" if len(tensors) > 1 else "")


def points_text(case: CaseResult, item: OperatorResult, profile: ScoreProfile) -> str:
    """What the case adds to the score of its operator, or a dash for one that was not evaluated."""
    if not is_finished(case):
        return NONE
    if item.score == 0:
        return "0.00"
    credit = case_credit(CasePoints(verdict=case.outcome.verdict, hap=case.hap.ranked if case.hap else None), profile)
    return f"{100 * credit / len(item.cases):.2f}"


def mean_hap(cases: Sequence[CaseResult]) -> float | None:
    """Mean of the ranked HAP over the cases that have one."""
    values = [case.hap.ranked for case in cases if case.hap]
    return sum(values) / len(values) if values else None


def time_ratio(case: CaseResult) -> float | None:
    """T_cand / T_HW, where both are known."""
    return case.time.value / case.t_hw.value_us if case.time and case.t_hw else None


def _ratio(case: CaseResult) -> str:
    found = time_ratio(case)
    return NONE if found is None else f"{found:.2f}"


def _limits(case: CaseResult) -> str:
    roof = case.t_hw.limiting_unit if case.t_hw and case.t_hw.limiting_unit else NONE
    return f"{roof} / {busiest_pipe(case)}"


def busiest_pipe(case: CaseResult) -> str:
    """The pipe that worked most in all launches of the case, summed over cores."""
    busy: dict[str, int] = {}
    for launch in case.launches:
        for pipe, cycles in launch.busy_cycles.items():
            busy[pipe] = busy.get(pipe, 0) + cycles
    return max(busy, key=lambda pipe: busy[pipe]) if any(busy.values()) else NONE
