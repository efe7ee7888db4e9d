"""One lane: owns the sessions of the operators it works on and takes cases through call, check, time and anchors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial

from piton.core.case import Case, size_class
from piton.core.errors import EvaluatorError
from piton.core.execution import Accuracy, Build, CaseCall, Execution, Probe, TensorArgument
from piton.core.fidelity import with_error
from piton.core.interval import ErrorBand
from piton.core.measurement import Measurement
from piton.core.operator import Operator
from piton.core.protocols import Session
from piton.core.report import CaseResult, OutputCheck
from piton.core.submission import Submission
from piton.core.verdict import Outcome, Verdict, decide
from piton.evaluate.arguments import all_attributes, argument_order, tensor_arguments
from piton.evaluate.build import Workplace
from piton.evaluate.check import Expectation, check_outputs
from piton.evaluate.failures import CallTensors, FailureKeeper
from piton.evaluate.golden_service import CaseData, GoldenService
from piton.evaluate.integrity_checks import NOTHING, Attempt, Checks, Further, after_first_trial, after_trials, digest_of_outputs
from piton.evaluate.measured import timed_failures
from piton.evaluate.memory import MemoryGuard, call_bytes
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import CaseStarted
from piton.evaluate.rule_outcomes import has_probes
from piton.evaluate.timing import AnchorBook, CaseAnchors
from piton.evaluate.traces import TraceKeeper
from piton.evaluate.trials import FIRST, SECOND, in_second_trial
from piton.evaluate.unrun import describe_error, void_case
from piton.numerics.impostors import as_output
from piton.report.rescore import score_case
from piton.targets.null import NAME as NULL


@dataclass(frozen=True)
class CaseTask:
    """One case to evaluate, in an operator that was built."""

    operator: Operator
    case: Case
    build: Build
    key: str
    """Names everything that decides the result; the journal finds it again by this."""


@dataclass(frozen=True)
class Evaluation:
    """What all lanes of one evaluation share."""

    request: EvaluationRequest
    place: Workplace
    submission: Submission
    goldens: GoldenService
    anchors: AnchorBook
    guard: MemoryGuard
    finished: Callable[[CaseTask, CaseResult], None]
    """Takes a finished case (journal, events)."""
    failures: FailureKeeper | None = None
    """Writes reproducers of failed cases; None when none are asked for."""
    traces: TraceKeeper | None = None
    """Writes timelines; None when none are asked for."""


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


class CaseLane:
    """Implements `schedule.Lane`."""

    def __init__(self, number: int, shared: Evaluation) -> None:
        self._number = number
        self._shared = shared
        self._session: tuple[str, Session] | None = None
        self._is_interrupted = False

    def run(self, task: CaseTask) -> CaseResult | None:
        """Evaluate one case; what we could not evaluate comes back as a void, what was interrupted as None."""
        self._shared.place.events(CaseStarted(operator=task.operator.name, case_id=task.case.id, lane=self._number))
        started = time.monotonic()
        try:
            result = self._evaluate(task)
        except EvaluatorError as error:
            result = self._void(task, str(error))
        except Exception as error:  # noqa: BLE001 - a mistake of ours voids one case and is listed; it must not cost the others
            result = self._void(task, f"internal error of Piton, please report it: {describe_error(error)}")
        if self._is_interrupted:
            return None  # killed processes look like a crash of the submission: such a result is nobody's
        result = score_case(result.model_copy(update={"wall_s": time.monotonic() - started}), self._shared.place.target.hardware.fidelity)
        if self._shared.failures is not None:
            self._shared.failures.keep_result(result)  # before the journal has the case: a finished failure has its reproducer
        self._shared.finished(task, result)
        return result

    def interrupt(self) -> None:
        """End the processes under a running call; its result is dropped."""
        self._is_interrupted = True
        self._shared.goldens.close()
        self._shared.anchors.close()
        self._close_session()

    def close(self) -> None:
        """End the processes of this lane."""
        self._close_session()

    def _evaluate(self, task: CaseTask) -> CaseResult:
        first, anchors = self._first_trial(task)
        request, bands = self._shared.request, self._shared.place.target.hardware.fidelity
        if not first.has_passed:
            return conclude(task, first, anchors, bands)
        second = self._second_trial(task, anchors) if request.trials >= SECOND else None  # before a call that may end the processes of the first
        further = self._further(task, first, anchors)
        if request.integrity == "full" and second is not None and second.has_passed:
            further = further.joined(self._further(task, first, anchors, after_trials))
        return conclude(task, first, anchors, bands, second, further)

    def _further(self, task: CaseTask, first: TrialResult, anchors: CaseAnchors, checks: Checks = after_first_trial) -> Further:
        """The calls that show what outputs depend on, where the target can make them."""
        if not has_probes(self._shared.place.target):
            return Further()
        return checks(Attempt(first.execution, (True,), first.outputs), partial(self._attempt, task, anchors))

    def _attempt(self, task: CaseTask, anchors: CaseAnchors, number: int, probe: Probe, against: Sequence[int]) -> Attempt:
        """One further call with the values of a trial; right or not for each of the trials `against`."""
        shared = self._shared
        trials = {wanted: TrialData(wanted, shared.goldens.fetch(task.operator, task.case, wanted)) for wanted in dict.fromkeys((number, *against))}
        with shared.guard.reserve(call_bytes(task.case), f"{task.operator.name}/{task.case.id}"):
            call = replace(case_call(task, trials[number].data, anchors, shared), probe=probe)
            execution = self._open(task).call(call)
            passes = tuple(decide([*execution.outcomes, *_check(task, trials[wanted], execution, shared)[1]]).verdict is Verdict.PASSED for wanted in against)
            is_empty = all(0 in output.shape for output in execution.outputs)
            return Attempt(replace(execution, outputs=(), timelines=()), passes, digest_of_outputs(execution.outputs), is_empty)

    def _first_trial(self, task: CaseTask) -> tuple[TrialResult, CaseAnchors]:
        trial = TrialData(FIRST, self._shared.goldens.fetch(task.operator, task.case))
        anchors = self._shared.anchors.of(task.operator, task.case)  # after the golden: a case without one needs no baseline run
        found = self._try(task, trial, anchors)
        if decide(list(found.outcomes)).verdict is Verdict.PASSED:
            anchors = self._shared.anchors.measured(anchors, task.operator, task.case, case_call(task, trial.data, anchors, self._shared))
        return found, anchors

    def _second_trial(self, task: CaseTask, anchors: CaseAnchors) -> TrialResult:
        """In the session of the first, so that what the submission kept from that call can still mislead it."""
        try:
            trial = TrialData(SECOND, self._shared.goldens.fetch(task.operator, task.case, SECOND))
            return self._try(task, trial, anchors)
        except EvaluatorError as error:
            raise EvaluatorError("the second trial could not be evaluated", found=str(error), where=f"{task.operator.name}/{task.case.id}") from error

    def _try(self, task: CaseTask, trial: TrialData, anchors: CaseAnchors) -> TrialResult:
        shared = self._shared
        with shared.guard.reserve(call_bytes(task.case), f"{task.operator.name}/{task.case.id}"):
            traces = shared.traces if trial.number == FIRST else None
            call = case_call(task, trial.data, anchors, shared)
            execution = self._open(task).call(replace(call, timeline=traces.request if traces else None))
            execution = _with_golden(task, trial, execution, shared) if execution.plays_golden else execution
            if traces is not None:
                traces.keep(task.operator.name, task.case, execution.timelines)
            checks, failures = _check(task, trial, execution, shared)
            failures += timed_failures(task.operator, task.case, execution.timed, shared.goldens, request=shared.request) if not failures else []
            if shared.failures is not None and decide([*execution.outcomes, *failures]).verdict is not Verdict.PASSED:
                shared.failures.keep_tensors(task.operator.name, task.case, trial.number, CallTensors(trial.data, execution.outputs))
            outputs = digest_of_outputs(execution.outputs) if shared.request.integrity == "full" else ""
        return TrialResult(replace(execution, outputs=(), timelines=(), timed=()), tuple(checks), (*execution.outcomes, *failures), outputs)

    def _void(self, task: CaseTask, reason: str) -> CaseResult:
        self._close_session()  # whatever state it is in, the next case must not see it
        return void_case(task.operator, task.case, reason)

    def _open(self, task: CaseTask) -> Session:
        kept = self._session
        if kept is None or kept[0] != task.operator.name:
            self._close_session()
            place = self._shared.place
            kept = (task.operator.name, place.target.device.open(self._shared.submission, task.operator, task.build, place.runner))
            self._session = kept
        if self._is_interrupted:  # `interrupt` sets this before it looks for a session, so one of the two closes it
            self._close_session()
            raise EvaluatorError("the run is being stopped")
        return kept[1]

    def _close_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(EvaluatorError):  # a session that cannot even end says so in its next call, not here
                session[1].close()


def case_call(task: CaseTask, data: CaseData, anchors: CaseAnchors, shared: Evaluation) -> CaseCall:
    """The call of a case: tensors as the golden worker made them, and the budget in simulated cycles."""
    return CaseCall(
        case_id=task.case.id,
        tensors=tensor_arguments(task.operator, data),
        order=argument_order(task.operator),
        attributes=all_attributes(task.operator, task.case),
        omitted=task.case.omitted,
        results=tuple(TensorArgument(item.name, item.shape, item.dtype, None) for item in data.outputs),
        budget_cycles=shared.anchors.budget_cycles(anchors),
        deadline_s=shared.request.bounds.host_deadline_s,
        copy_allowance_bytes=shared.request.bounds.copy_allowance_bytes,
        accuracy=shared.request.accuracy,
    )


def _with_golden(task: CaseTask, trial: TrialData, execution: Execution, shared: Evaluation) -> Execution:
    """The execution with the outputs of the golden's same-dtype run. Raises EvaluatorError on a target that runs submissions: none of these may see them."""
    if shared.place.target.name != NULL:
        raise EvaluatorError(f"target {shared.place.target.name} asks for the golden's outputs")
    native = shared.goldens.native(task.operator, task.case, trial.number)
    return replace(execution, outputs=tuple(as_output(item) for item in native))


def _check(task: CaseTask, trial: TrialData, execution: Execution, shared: Evaluation) -> tuple[list[OutputCheck], list[Outcome]]:
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


def trusted_time(execution: Execution, bands: Mapping[str, ErrorBand]) -> Measurement | None:
    """The time of a call, with where the measured one is expected if it was simulated."""
    return None if execution.time is None else with_error(execution.time, execution.launches, bands)


def conclude(
    task: CaseTask,
    first: TrialResult,
    anchors: CaseAnchors,
    bands: Mapping[str, ErrorBand],
    second: TrialResult | None = None,
    further: Further = NOTHING,
) -> CaseResult:
    """One result from everything that was found; a case that did not pass has no time, and the time of one that did is the first trial's.

    `bands` are the errors of simulated times that the hardware file knows.
    """
    execution = first.execution
    later = second or TrialResult(Execution(), (), ())
    outcomes = [*first.outcomes, *map(in_second_trial, later.outcomes), *further.outcomes]
    chosen = decide(outcomes)
    return CaseResult(
        operator=task.operator.name,
        case=task.case,
        size=size_class(task.case),
        outcome=chosen,
        others=tuple(found for found in outcomes if found is not chosen and found.verdict is not Verdict.PASSED),
        checks=first.checks,
        second_checks=later.checks,
        time=trusted_time(execution, bands) if chosen.verdict is Verdict.PASSED else None,
        t_hw=anchors.t_hw,
        t_baseline=anchors.t_baseline,
        launches=execution.launches,
        copies=execution.copies,
        findings=(*anchors.findings, *execution.findings, *(item for item in later.execution.findings if item not in execution.findings), *further.findings),
    )
