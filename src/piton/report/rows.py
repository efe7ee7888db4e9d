"""What every rendering shows of a report: headers that name unit and provenance, one row per case, and why cases failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.finding import FindingKind
from piton.core.measurement import Provenance
from piton.core.report import CaseResult, OperatorResult, OutputCheck, Report
from piton.core.verdict import LEFT_OUT, PASSED, Cause, Outcome, Place, Verdict
from piton.report.bottleneck import bottleneck

NONE = "–"


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
    limits: str
    """Unit that limits T_HW / pipe that was busiest in the submission's launches."""


@dataclass(frozen=True)
class Headers:
    """Column heads of the three times, with unit and, where a column has only one, provenance."""

    t_cand: str
    t_baseline: str
    t_hw: str


@dataclass(frozen=True)
class Failure:
    """Why one case did not pass, in full."""

    case_id: str
    title: str
    """Verdict and cause."""
    place: str
    message: str
    numbers: str
    others: tuple[str, ...]
    worst: tuple[str, ...]
    """The worst positions of wrong outputs."""


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
        limits=_limits(case),
    )


def verdict_text(case: CaseResult) -> str:
    """Verdict with its cause, or that we could not evaluate."""
    if case.void:
        return "void"
    return outcome_text(case.outcome)


def outcome_text(found: Outcome) -> str:
    """`verdict: cause`, or just `passed`."""
    return found.verdict.value if found.cause is Cause.NONE else f"{found.verdict.value}: {found.cause.value}"


def score_text(score: float | None) -> str:
    """A score with one decimal, or a dash when there is none."""
    return NONE if score is None else f"{score:.1f}"


def trials_text(report: Report) -> str:
    """What follows the options of a report whose cases had to pass twice."""
    return ", two trials" if report.trials > 1 else ""


def failures(item: OperatorResult) -> list[Failure]:
    """Failed and void cases of one operator, each with cause, place, numbers and message; a failed build stands for all its cases."""
    if not item.compiled:
        return [_failure("build", item.build_outcome, (), ())]
    return [_case_failure(case) for case in item.cases if case.void or _is_failure(case)]


def listed(item: OperatorResult) -> list[CaseResult]:
    """The cases that were asked for."""
    return [case for case in item.cases if case.outcome.cause not in LEFT_OUT]


def summary(item: OperatorResult) -> str:
    """One line about an operator."""
    passed = sum(case.outcome.verdict is Verdict.PASSED for case in item.cases)
    too_large = sum(case.outcome.cause is Cause.TOO_LARGE for case in item.cases)
    left_out = len(item.cases) - len(listed(item)) - too_large
    rest = (f", {left_out} left out" if left_out else "") + (f", {too_large} above --max-elements" if too_large else "")
    return f"{passed} of {len(item.cases)} cases passed{rest}, score {score_text(item.score)} of 100"


def findings(item: OperatorResult) -> list[tuple[str, str]]:
    """Findings of one operator as (cases, text); those of one kind at one place are one line with the words of the first."""
    grouped: dict[tuple[FindingKind, Place], list[tuple[str, str]]] = {}
    for case in item.cases:
        for finding in case.findings:
            grouped.setdefault((finding.kind, finding.place), []).append((case.case.id, finding.message))
    return [(_cases(found), _finding_text(kind, place, found)) for (kind, place), found in grouped.items()]


def bottlenecks(item: OperatorResult, most: int = 5) -> list[tuple[str, str]]:
    """(case, sentence) about where the time went, for the `most` cases that are furthest from T_HW, in the suite's order."""
    known = [(case, found) for case in listed(item) if (found := bottleneck(case)) is not None]
    furthest = sorted(known, key=lambda pair: -(pair[1].over_t_hw or 0.0))[:most]
    return [(case.case.id, found.sentence) for case, found in known if (case, found) in furthest]


def _cases(found: Sequence[tuple[str, str]]) -> str:
    ids = list(dict.fromkeys(case_id for case_id, _ in found))
    return f"case {ids[0]}" if len(ids) == 1 else f"{len(ids)} cases, first {ids[0]}"


def _finding_text(kind: FindingKind, place: Place, found: Sequence[tuple[str, str]]) -> str:
    return f"{kind.value}: {found[0][1]}" + (f" ({place})" if str(place) else "")


def _is_failure(case: CaseResult) -> bool:
    return case.outcome.verdict is not Verdict.PASSED and case.outcome.cause not in LEFT_OUT


def _case_failure(case: CaseResult) -> Failure:
    if case.void:
        return Failure(case.case.id, "void: could not be evaluated", "", case.void, "", (), ())
    return _failure(case.case.id, case.outcome, case.others, (*case.checks, *case.second_checks))


def _failure(case_id: str, found: Outcome, others: Sequence[Outcome], checks: Sequence[OutputCheck]) -> Failure:
    numbers = ", ".join(f"{name} {_number(value)}" for name, value in found.numbers.items())
    also = tuple(" ".join(part for part in (outcome_text(item), str(item.place), _brief(item)) if part) for item in others)
    return Failure(case_id, outcome_text(found), str(found.place), _brief(found), numbers, also, tuple(_worst(checks)))


def _brief(found: Outcome) -> str:
    """The message with `line 7` for places in the file that the outcome's own place names beside it."""
    return found.message.replace(f"{found.place.file}:", "line ") if found.place.file else found.message


def _worst(checks: Sequence[OutputCheck]) -> list[str]:
    return [
        f"{check.name}{list(item.index)}: got {item.got:.9g}, expected {item.expected:.9g}, relative error {item.relative_error:.3g}"
        for check in checks
        if check.outcome != PASSED
        for item in check.worst[:3]
    ]


def _number(value: float | int | str) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


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
