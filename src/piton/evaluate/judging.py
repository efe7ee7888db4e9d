"""Judging a call: what the comparison of its outputs found. It needs nothing of the session any more, so that it can overlap with the next call."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from piton.core.execution import Accuracy, Execution
from piton.core.report import OutputCheck
from piton.core.verdict import Outcome, Verdict, decide
from piton.evaluate.buffers import COPIES
from piton.evaluate.check import Expectation, check_outputs
from piton.evaluate.failures import CallTensors
from piton.evaluate.golden_service import CaseData
from piton.evaluate.integrity_checks import digest_of_outputs
from piton.evaluate.measured import Checked, timed_failures

if TYPE_CHECKING:
    from piton.evaluate.execute import CaseTask, Evaluation


@dataclass(frozen=True)
class TrialData:
    """Inputs and goldens of one trial of a case."""

    number: int
    data: CaseData


@dataclass(frozen=True)
class TrialResult:
    """What one trial of a case found."""

    execution: Execution
    """Without its outputs and timelines: they are large, and a second trial needs the room."""
    checks: tuple[OutputCheck, ...]
    outcomes: tuple[Outcome, ...]
    outputs: str = ""
    """Digest of the outputs, where a later call has to give the same."""

    @property
    def has_passed(self) -> bool:
        """True when nothing was wrong."""
        return decide(list(self.outcomes)).verdict is Verdict.PASSED


@dataclass(frozen=True)
class CalledTrial:
    """A call that is still to be judged, in any thread; until then its memory counts."""

    task: CaseTask
    trial: TrialData
    execution: Execution
    """With outputs that outlive the session's next call."""
    checked: Checked
    """What timed calls are compared with."""
    shared: Evaluation
    held: ExitStack

    def judged(self) -> TrialResult:
        """Compare the outputs; again only after it raised. Raises EvaluatorError when the golden's same-dtype run was needed and failed."""
        task, trial, execution, shared = self.task, self.trial, self.execution, self.shared
        with self.held:
            checks, failures = check_trial(task, trial, execution, shared)
            failures += timed_failures(execution.timed, self.checked) if not failures else []
            if shared.failures is not None and decide([*execution.outcomes, *failures]).verdict is not Verdict.PASSED:
                shared.failures.keep_tensors(task.operator.name, task.case, trial.number, CallTensors(trial.data, execution.outputs))
            outputs = digest_of_outputs(execution.outputs) if shared.request.integrity == "full" else ""
        return TrialResult(replace(execution, outputs=(), timelines=(), timed=()), tuple(checks), (*execution.outcomes, *failures), outputs)


def own_outputs(execution: Execution, held: ExitStack) -> Execution:
    """The execution with copies of the outputs' bytes: those in device memory are gone with the session's next call. They last until `held` is closed."""
    outputs = tuple(item if item.data is None else replace(item, data=held.enter_context(COPIES.copied(item.data))) for item in execution.outputs)
    return replace(execution, outputs=outputs)


def check_trial(task: CaseTask, trial: TrialData, execution: Execution, shared: Evaluation) -> tuple[list[OutputCheck], list[Outcome]]:
    has_data = bool(execution.outputs) and all(output.data is not None or 0 in output.shape for output in execution.outputs)
    if execution.outcomes and not has_data:
        return [], []  # there is nothing to look at, and the reason is already known
    request, data = shared.request, trial.data
    native = cache(lambda: shared.goldens.native(task.operator, task.case, trial.number))  # one run serves all outputs
    threads = max(1, (os.cpu_count() or 1) // request.jobs)
    expected = Expectation(task.operator, task.case, data.inputs, data.outputs, native, request.precision_profile, threads)
    checks, outcomes = check_outputs(execution.outputs, expected)
    return checks, [in_accuracy_mode(found, request.accuracy) for found in outcomes]


def in_accuracy_mode(found: Outcome, accuracy: Accuracy) -> Outcome:
    """The verdict on an output, saying so when the simulated instructions were made worse than they might be."""
    if accuracy == "exact" or found.verdict is Verdict.PASSED:
        return found
    where = "in the pessimistic accuracy mode, where Exp, Ln, Div, Rsqrt and Reciprocal are off by one unit in the last place"
    return found.model_copy(update={"message": f"{found.message} ({where})"})
