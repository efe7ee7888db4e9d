"""Scores of a report, as pure functions of what it holds (D4): used when a report is made, and again whenever one is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from piton.core.finding import Finding, FindingKind
from piton.core.interval import ErrorBand, Interval
from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.score import BASELINE_FLOOR_RATIO, CasePoints, ScoreProfile, hap, operator_score
from piton.core.verdict import LEFT_OUT, Cause, Verdict
from piton.report.intervals import Basis, basis, operator_interval, sum_of, with_interval

SCORING_FINDINGS = frozenset({FindingKind.TIME_BELOW_T_HW, FindingKind.BASELINE_RAISED, FindingKind.NO_ANCHOR, FindingKind.RELAXED_PASS})
"""Findings that scoring makes; they are made anew each time."""
_UNFINISHED = LEFT_OUT | {Cause.INTERRUPTED}


def score_report(report: Report) -> Report:
    """The same report with HAP, scores, scoring findings, completeness and digest computed from its times, anchors and verdicts."""
    profile = report.score_profile
    bands = report.chip.fidelity if report.chip else {}
    operators = tuple(_score_operator(item, profile, bands) for item in report.operators)
    common = basis(operators)
    if any(case.outcome.verdict is Verdict.TAMPERED for item in operators for case in item.cases):
        operators = tuple(item.model_copy(update={"score": 0.0}) for item in operators)  # D4: the submission gets 0
    operators = tuple(item.model_copy(update={"interval": operator_interval(item, common)}) for item in operators)
    scored = report.model_copy(
        update={
            "operators": operators,
            "level_scores": _level_scores(operators, report.missing_operators.values()),
            "level_intervals": _level_intervals(operators, common),
            "total_score": _total([item.score for item in operators]),
            "total_interval": sum_of((item.interval for item in operators), common),
            "is_complete": report.is_complete and all(is_finished(case) for item in operators for case in item.cases),
        }
    )
    return scored.model_copy(update={"result_digest": scored.canonical_digest()})


def is_finished(case: CaseResult) -> bool:
    """True when the case was evaluated, or needed no evaluation because its operator had failed."""
    return not case.void and case.outcome.cause not in _UNFINISHED


def has_time(case: CaseResult) -> bool:
    """True when T_cand can be scored: a clock that read 0 for the median has measured nothing."""
    return case.time is not None and case.time.value > 0


def score_case(case: CaseResult, bands: Mapping[str, ErrorBand]) -> CaseResult:
    """The case with its HAP and the findings that scoring makes; a case that did not pass has neither. `bands` are the chip's (`ChipFigures.fidelity`)."""
    if case.is_sealed:
        return case  # its times are withheld; it was scored before it was sealed
    kept = tuple(finding for finding in case.findings if finding.kind not in SCORING_FINDINGS)
    if case.void or case.outcome.verdict is not Verdict.PASSED:
        return case.model_copy(update={"hap": None, "findings": kept})
    scored = case.model_copy(update={"hap": None, "findings": (*kept, *_relaxed(case))})
    if not has_time(case) or case.time is None or case.t_hw is None or case.t_baseline is None:
        return scored.model_copy(update={"findings": (*scored.findings, _no_anchor(case))})
    value = with_interval(hap(case.time.value, case.t_hw.value_us, case.t_baseline.value_us), case.time, case.t_hw, case.t_baseline, bands)
    findings = (*scored.findings, *_time_findings(case, value.is_below_t_hw, value.is_baseline_raised))
    return scored.model_copy(update={"hap": value, "findings": findings})


def _score_operator(item: OperatorResult, profile: ScoreProfile, bands: Mapping[str, ErrorBand]) -> OperatorResult:
    cases = tuple(score_case(case, bands) for case in item.cases)
    if profile is ScoreProfile.CPU:  # which has no T_HW at all
        cases = tuple(case.model_copy(update={"findings": tuple(one for one in case.findings if one.kind is not FindingKind.NO_ANCHOR)}) for case in cases)
    if not all(is_finished(case) for case in cases):
        return item.model_copy(update={"cases": cases, "score": None})
    points = [CasePoints(verdict=case.outcome.verdict, hap=case.hap.ranked if case.hap else None) for case in cases]
    return item.model_copy(update={"cases": cases, "score": operator_score(points, profile, item.compiled)})


def _level_scores(operators: Sequence[OperatorResult], missing: Iterable[int]) -> dict[str, float | None]:
    """Sums by level; a level of which the submission has nothing has 0."""
    levels = sorted({*(item.level for item in operators), *missing})
    return {str(level): _total([item.score for item in operators if item.level == level]) for level in levels}


def _level_intervals(operators: Sequence[OperatorResult], common: Basis | None) -> dict[str, Interval]:
    """Sums by level; a level of which the submission has nothing has none: its 0 is certain."""
    levels = sorted({item.level for item in operators})
    sums = {str(level): sum_of((item.interval for item in operators if item.level == level), common) for level in levels}
    return {level: found for level, found in sums.items() if found is not None}


def _total(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    # Beginning with 0.0: a level without operators would have the whole number 0, which is read back as 0.0, of another digest.
    return sum(known, 0.0) if len(known) == len(scores) else None


def _relaxed(case: CaseResult) -> list[Finding]:
    return [
        Finding(
            kind=FindingKind.RELAXED_PASS, message=f"output {check.name} was compared with tau {check.tau:g}, looser than the standard's {check.default_tau:g}"
        )
        for check in case.checks
        if check.is_relaxed
    ]


def _no_anchor(case: CaseResult) -> Finding:
    missing = [name for name, value in (("time", has_time(case) or None), ("T_HW", case.t_hw), ("T_baseline", case.t_baseline)) if value is None]
    return Finding(kind=FindingKind.NO_ANCHOR, message=f"no {' and no '.join(missing)}: the case earns no credit for speed")


def _time_findings(case: CaseResult, is_below: bool, is_raised: bool) -> list[Finding]:
    assert case.time is not None
    assert case.t_hw is not None
    assert case.t_baseline is not None
    below = f"T_cand {case.time.value:.2f} us is below T_HW {case.t_hw.value_us:.2f} us: ranked as HAP 1 until a person has looked at it"
    raised = f"T_baseline {case.t_baseline.value_us:.2f} us is below {BASELINE_FLOOR_RATIO} T_HW ({case.t_hw.value_us:.2f} us): raised to that for the score"
    findings = [Finding(kind=FindingKind.TIME_BELOW_T_HW, message=below)] if is_below else []
    return findings + ([Finding(kind=FindingKind.BASELINE_RAISED, message=raised)] if is_raised else [])
