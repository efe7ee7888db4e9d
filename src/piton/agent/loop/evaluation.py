"""Measuring a candidate: Piton's own evaluation, and what of its report counts in a run."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from piton.agent.analysis import profile_of
from piton.agent.candidate import Tree
from piton.agent.model.budget import Budget, Spending
from piton.agent.runs import Measured
from piton.catalog import read_submission
from piton.core.errors import PitonError
from piton.core.report import OperatorResult, Report
from piton.core.verdict import LEFT_OUT, Verdict
from piton.evaluate.policy import EvaluationRequest
from piton.report.json_file import report_text

Evaluate = Callable[[EvaluationRequest], Report]
"""Piton's evaluation of one submission; the layer above says how it is opened."""


class Evaluator(Protocol):
    """Something that measures candidates; for any number of threads. Raises BudgetStopError before a measurement that device time does not allow."""

    def measure(self, tree: Tree) -> Measured:
        """What the evaluation says."""
        ...

    def refuses(self, tree: Tree) -> str:
        """Why a candidate cannot be evaluated at all, so that it is none; empty for one that can."""
        del tree
        return ""


@dataclass(frozen=True)
class PitonEvaluator:
    """Writes a candidate to a folder of its own, evaluates it, and keeps the report only."""

    request: EvaluationRequest
    """What is evaluated: operator, cases, suite, target; submission and folders are set per candidate."""
    evaluate: Evaluate
    scratch: Path
    budget: Budget
    expected_s: float = 10.0
    """Device seconds that are reserved for a measurement."""

    def measure(self, tree: Tree) -> Measured:
        """Evaluate the candidate in a fresh folder below `scratch`, which is removed."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="candidate-", dir=self.scratch))
        try:
            tree.write(folder / "submission")
            request = self.request.model_copy(update={"submission": str(folder / "submission"), "run_dir": str(folder / "run")})
            with self.budget.reserve(Spending(device_s=self.expected_s)) as reservation:
                started = time.monotonic()
                report = self.evaluate(request)
                seconds = time.monotonic() - started
                reservation.settle(Spending(device_s=seconds))
            return measured_of(report, request.operators[0], seconds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def refuses(self, tree: Tree) -> str:
        """What is wrong with a tree that is no submission of the operator, such as one whose piton.yaml a model has spoilt."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="candidate-", dir=self.scratch) as name:
            folder = Path(name) / "submission"
            tree.write(folder)
            try:
                submission = read_submission(folder, Path(name) / "store")
            except PitonError as error:
                return ": ".join(part for part in (error.where.removeprefix(str(folder)).lstrip("/"), error.problem, error.found) if part)
        operator = self.request.operators[0]
        return "" if any(item.operator == operator for item in submission.operators) else f"it has no sources of {operator}"


def measured_of(report: Report, operator: str, seconds: float) -> Measured:
    """The measurement that a report is. A candidate is right when every case that was asked for passed; a void is no pass."""
    result = next(item for item in report.operators if item.operator == operator)
    asked = [case for case in result.cases if case.outcome.cause not in LEFT_OUT]
    passed = [case for case in asked if case.outcome.verdict is Verdict.PASSED and not case.void]
    return Measured(
        is_right=bool(asked) and len(passed) == len(asked),
        passed=len(passed),
        cases=len(asked),
        ratio=profile_of(result).headroom,
        summary=_summary(result, len(passed), len(asked)),
        report=report_text(report),
        report_digest=report.result_digest,
        seconds=seconds,
    )


def _summary(result: OperatorResult, passed: int, asked: int) -> str:
    if not result.compiled:
        return f"{result.build_outcome.verdict.value}: {result.build_outcome.message.splitlines()[0] if result.build_outcome.message else ''}"
    failed = [case for case in result.cases if case.outcome.cause not in LEFT_OUT and (case.outcome.verdict is not Verdict.PASSED or case.void)]
    counts: dict[str, int] = {}
    for case in failed:
        name = "void" if case.void else case.outcome.cause.value
        counts[name] = counts.get(name, 0) + 1
    worst = ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
    return f"{passed} of {asked} cases pass" + (f"; {worst}" if worst else "")
