"""Assembling the report: every case of every selected operator gets a line, run or not (D4: nothing shrinks a denominator)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piton.catalog.integrity_file import shipped_policy
from piton.core.baseline import BaselineSet
from piton.core.case import Case
from piton.core.execution import Build
from piton.core.finding import Finding, FindingKind
from piton.core.measurement import Provenance
from piton.core.operator import Operator
from piton.core.protocols import Target
from piton.core.report import CaseResult, Environment, OperatorResult, Report
from piton.core.score import ScoreProfile
from piton.core.submission import Submission
from piton.core.suite import Suite, SuiteOperator
from piton.core.verdict import PASSED, Cause, Outcome, Verdict, outcome
from piton.evaluate.integrity import integrity_policy
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.rule_outcomes import RunFacts, rule_outcomes, world_of
from piton.evaluate.selection import Selection
from piton.evaluate.timing import peaks_block
from piton.evaluate.unrun import unrun_case
from piton.report.rescore import score_report
from piton.targets.cpu.host import NAME as CPU

Results = Mapping[tuple[str, str], CaseResult]
"""Finished cases by operator and case id."""


@dataclass(frozen=True)
class Subject:
    """What was evaluated, on what."""

    request: EvaluationRequest
    suite: Suite
    selection: Selection
    submission: Submission
    target: Target
    filed: BaselineSet | None = None
    """The baseline file that was named."""


def score_profile(target: Target) -> ScoreProfile:
    """The profile whose triple of times this target can give (D4: a score never mixes worlds)."""
    if target.name == CPU:
        return ScoreProfile.CPU
    return ScoreProfile.CANN_BENCH if target.provenance is Provenance.DEVICE else ScoreProfile.SIM


def assemble_report(subject: Subject, builds: Mapping[str, Build], results: Results, environment: Environment, versions: Sequence[str] = ()) -> Report:
    """The scored report; `versions` are the sets of T_baseline that the run could take from."""
    request, suite, submission, target = subject.request, subject.suite, subject.submission, subject.target
    operators = tuple(_operator_result(member, builds[member.operator.name], subject.selection, results) for member in subject.selection.members)
    unscored = Report(
        suite=suite.name,
        suite_version=suite.version,
        suite_digest=suite.digest(),
        submission=submission_name(submission, request),
        submission_digest=submission.digest(),
        target=target.name,
        hardware=target.hardware.name,
        hardware_digest=target.hardware.digest(),
        chip=None if target.name == CPU else target.hardware.figures(peaks_block(score_profile(target))),
        score_profile=score_profile(target),
        precision_profile=request.precision_profile,
        accuracy=request.accuracy,
        integrity=integrity_policy(request.bounds).model_copy(update={"mode": request.integrity}),
        method=submission.method,
        reporting=submission.reporting,
        seed=request.seed,
        trials=request.trials,
        auto_sync=effective_auto_sync(submission, request),
        operators=operators,
        missing_operators=dict(subject.selection.missing),
        is_complete=not subject.selection.left_out,
        baselines=_used(versions, results),
        findings=_findings((*submission.notes, *subject.selection.remarks)),
        environment=environment,
    )
    return with_rules(score_report(unscored), subject)  # after scoring, whose findings count too


def with_rules(report: Report, subject: Subject) -> Report:
    """The report with what this run says about each rule of the policy, which its digest does not cover."""
    request, known = subject.request, report.integrity
    assert known is not None
    facts = RunFacts(
        track=subject.submission.manifest.track,
        world=world_of(subject.target),
        mode=request.integrity,
        trials=request.trials,
        is_hidden=request.hidden is not None,
        level=report.environment.isolation_level or 0,
    )
    rules = rule_outcomes(shipped_policy(), facts, report.operators)
    return report.model_copy(update={"integrity": known.model_copy(update={"rules": rules})})


def _used(versions: Sequence[str], results: Results) -> tuple[str, ...]:
    """The sets of T_baseline that cases were scored with; where a sealed case withholds its own, all that it could be."""
    found = list(dict.fromkeys(case.t_baseline.version for case in results.values() if case.t_baseline and case.t_baseline.version))
    possible = [version for version in versions if version in found or any(case.is_sealed for case in results.values())]
    return tuple(dict.fromkeys([*possible, *found]))


def submission_name(submission: Submission, request: EvaluationRequest) -> str:
    """The manifest's name, else the folder's."""
    return submission.manifest.name or os.path.basename(os.path.abspath(request.submission))


def effective_auto_sync(submission: Submission, request: EvaluationRequest) -> bool:
    """The request's choice, else the submission's."""
    return submission.manifest.auto_sync if request.auto_sync is None else request.auto_sync


def _operator_result(member: SuiteOperator, build: Build, selection: Selection, results: Results) -> OperatorResult:
    operator = member.operator
    cases = tuple(results.get((operator.name, case.id)) or _missing_case(operator, case, build, selection) for case in member.cases)
    return OperatorResult(
        operator=operator.name,
        level=operator.level,
        category=operator.category,
        compiled=build.outcome is None,
        build_outcome=build.outcome or PASSED,
        diagnostics=build.diagnostics,
        cases=cases,
        score=None,
    )


def _missing_case(operator: Operator, case: Case, build: Build, selection: Selection) -> CaseResult:
    return unrun_case(operator, case, _why_missing(case, build, selection))


def _why_missing(case: Case, build: Build, selection: Selection) -> Outcome:
    if build.outcome is not None and build.outcome.verdict is not Verdict.PASSED:
        return build.outcome
    return selection.why_not(case) or outcome(Cause.INTERRUPTED, "the run was stopped before this case")


def _findings(remarks: tuple[str, ...]) -> tuple[Finding, ...]:
    return tuple(Finding(kind=FindingKind.OTHER, message=text) for text in remarks)
