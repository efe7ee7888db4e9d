"""Does the delivered folder build, link, load and compute right? Its smallest public case per operator, on the virtual NPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from piton.catalog import load_suite
from piton.core.case import Case
from piton.core.errors import PitonError, TargetUnavailableError
from piton.core.report import Report
from piton.core.suite import Suite
from piton.core.verdict import LEFT_OUT, Verdict
from piton.deliver.checks import Check, Status
from piton.deliver.plan import Plan
from piton.evaluate.pipeline import evaluate
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import StageStarted

NAME = "virtual NPU"
TARGET = "ascend910b2-sim"


@dataclass(frozen=True)
class Trial:
    """What the operators are tried on, and where."""

    suite: str
    is_trusted: bool
    cache_dir: str
    run_dir: Path


def check_on_virtual_npu(plan: Plan, folder: Path, trial: Trial, progress: Callable[[str], None]) -> list[Check]:
    """One check per operator: the symbols that its binding calls are defined, it registers what the suite calls, and it passes one case."""
    try:
        suite = load_suite(trial.suite)
    except PitonError as error:
        return [Check(NAME, Status.NOT_MADE, f"the suite {trial.suite} cannot be read: {str(error).splitlines()[0]}")]
    cases = {part.name: case for part in plan.operators if (case := _smallest(suite, part.name)) is not None}
    unknown = [
        Check(f"{NAME}: {part.name}", Status.NOT_MADE, f"the suite {suite.name} has no such operator") for part in plan.operators if part.name not in cases
    ]
    if not cases:
        return unknown
    request = EvaluationRequest(
        submission=str(folder),
        run_dir=str(trial.run_dir),
        cache_dir=trial.cache_dir,
        target=TARGET,
        suite=trial.suite,
        is_trusted=trial.is_trusted,
        operators=tuple(cases),
        cases=tuple(f"{name}/{case.id}" for name, case in cases.items()),
    )
    try:
        report = evaluate(request, lambda event: progress(f"{event.stage} of {event.subject}") if isinstance(event, StageStarted) else None)
    except TargetUnavailableError as error:
        return [*unknown, Check(NAME, Status.NOT_MADE, str(error).replace("\n", " "))]
    return [*unknown, *(_check(report, name) for name in cases)]


def _smallest(suite: Suite, name: str) -> Case | None:
    member = suite.member(name)
    return min(member.cases, key=lambda case: case.elements, default=None) if member else None


def _check(report: Report, name: str) -> Check:
    title = f"{NAME}: {name}"
    operator = next(item for item in report.operators if item.operator == name)
    if not operator.compiled:
        return Check(title, Status.FAILED, f"{operator.build_outcome.verdict.value}: {operator.build_outcome.message}")
    result = next(item for item in operator.cases if item.outcome.cause not in LEFT_OUT)
    where = f"case {result.case.id} of the suite {report.suite}"
    if result.void:
        return Check(title, Status.NOT_MADE, f"{where} could not be evaluated: {result.void}")
    if result.outcome.verdict is not Verdict.PASSED:
        return Check(title, Status.FAILED, f"{where}: {result.outcome.verdict.value}: {result.outcome.message}")
    return Check(title, Status.PASSED, f"built, linked and loaded; {where} passed")
