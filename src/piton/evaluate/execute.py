"""One lane: owns the sessions of the operators it works on and takes cases through call, check, time and anchors."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from piton.core.case import Case, size_class
from piton.core.errors import EvaluatorError
from piton.core.execution import Build, CaseCall, Execution
from piton.core.fidelity import with_error
from piton.core.interval import ErrorBand
from piton.core.measurement import Measurement, Provenance
from piton.core.operator import Operator
from piton.core.protocols import Session
from piton.core.report import CaseResult
from piton.core.submission import Submission
from piton.core.verdict import Cause, Outcome, Verdict, decide, outcome
from piton.evaluate.arguments import all_attributes, argument_order, tensor_arguments
from piton.evaluate.build import Workplace
from piton.evaluate.failures import FailureKeeper
from piton.evaluate.golden_service import CaseData, GoldenService
from piton.evaluate.judging import CalledTrial, TrialData, TrialResult, in_second_trial_of, own_outputs
from piton.evaluate.memory import MemoryGuard, call_bytes
from piton.evaluate.overlap import Rest
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import CaseStarted
from piton.evaluate.timing import AnchorBook, CaseAnchors
from piton.evaluate.traces import TraceKeeper
from piton.evaluate.trials import FIRST, SECOND, in_second_trial
from piton.numerics.impostors import as_output
from piton.report.rescore import score_case
from piton.targets.null import NAME as NULL


@dataclass(frozen=True)
class CaseTask:
    """One case to evaluate, in an operator that was built."""

    operator: Operator
    case: Case
    building: Future[Build]
    """Of its operator; may still be in the compiler."""
    key: str
    """Names everything that decides the result; the journal finds it again by this."""

    @property
    def build(self) -> Build:
        """The build, waited for. Raises EvaluatorError when the run was stopped before it was made, and whatever kept it from being made."""
        try:
            return self.building.result()
        except CancelledError:
            raise EvaluatorError("the run is being stopped", where=self.operator.name) from None

    @property
    def is_unbuildable(self) -> bool:
        """True when its operator is known to have failed to build."""
        done = self.building.done() and not self.building.cancelled() and self.building.exception() is None
        return done and self.building.result().outcome is not None

    def __reduce__(self) -> tuple[Callable[..., CaseTask], tuple[object, ...]]:
        """For another process: with the build that was made."""
        return ready_task, (self.operator, self.case, self.build, self.key)


def ready_task(operator: Operator, case: Case, build: Build, key: str) -> CaseTask:
    """The task of a case whose operator is built."""
    building: Future[Build] = Future()
    building.set_result(build)
    return CaseTask(operator, case, building, key)


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


class CaseLane:
    """Implements `schedule.Lane`."""

    def __init__(self, number: int, shared: Evaluation) -> None:
        self._number = number
        self._shared = shared
        self._session: tuple[str, Session] | None = None
        self._is_interrupted = False

    def run(self, task: CaseTask) -> CaseResult | Rest[CaseResult] | None:
        """Call the submission on one case. Judging what came of it is the rest: on a target whose time is simulated it overlaps with the next case.

        What we could not evaluate comes back as a void; None for what was interrupted, and for a case whose operator has failed to build.
        """
        try:
            if task.build.outcome is not None:
                return None
        except EvaluatorError:
            if self._is_interrupted:
                return None
            raise
        self._shared.place.events(CaseStarted(operator=task.operator.name, case_id=task.case.id, lane=self._number))
        started = time.monotonic()
        judge = self._caught(task)
        rest = Rest(lambda: self._finish(task, judge, started))
        return rest if self._shared.place.target.provenance is Provenance.SIMULATED else rest.finish()  # what is measured must not share its machine

    def _caught(self, task: CaseTask) -> Callable[[], CaseResult]:
        """What concludes the case; where it could not be called, what gives a void."""
        try:
            return self._called(task)
        except Exception as error:  # noqa: BLE001 - a mistake of ours voids one case and is listed; it must not cost the others
            found = _void(task, error)
            self._close_session()  # whatever state it is in, the next case must not see it
            return lambda: found

    def _finish(self, task: CaseTask, judge: Callable[[], CaseResult], started: float) -> CaseResult | None:
        """The result of a case, in the journal; None when the run was stopped before."""
        try:
            result = judge()
        except Exception as error:  # noqa: BLE001 - likewise
            result = _void(task, error)
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
        self._shared.place.stop_builds()
        self._shared.goldens.close()
        self._shared.anchors.close()
        self._close_session()

    def close(self) -> None:
        """End the processes of this lane."""
        self._close_session()

    def _called(self, task: CaseTask) -> Callable[[], CaseResult]:
        """All calls of a case; what comes back judges the last of them and concludes. A second trial follows on a first that passed, so that is judged here."""
        first, anchors = self._first_call(task)
        bands = self._shared.place.target.hardware.fidelity
        if self._shared.request.trials < SECOND:
            return lambda: conclude(task, first.judged(), anchors, bands)
        judged = first.judged()
        if decide(list(judged.outcomes)).verdict is not Verdict.PASSED:
            return lambda: conclude(task, judged, anchors, bands)
        with in_second_trial_of(task):
            second = self._call(task, TrialData(SECOND, self._shared.goldens.fetch(task.operator, task.case, SECOND)), anchors)
        return lambda: conclude(task, judged, anchors, bands, second.judged())

    def _first_call(self, task: CaseTask) -> tuple[CalledTrial, CaseAnchors]:
        trial = TrialData(FIRST, self._shared.goldens.fetch(task.operator, task.case))
        anchors = self._shared.anchors.of(task.operator, task.case)  # after the golden: a case without one needs no baseline run
        return self._call(task, trial, anchors), anchors

    def _call(self, task: CaseTask, trial: TrialData, anchors: CaseAnchors) -> CalledTrial:
        """One call. In the second trial it goes to the session of the first, so that what the submission kept from that call can still mislead it."""
        shared = self._shared
        with ExitStack() as held:
            held.enter_context(shared.guard.reserve(call_bytes(task.case), f"{task.operator.name}/{task.case.id}"))
            traces = shared.traces if trial.number == FIRST else None
            call = case_call(task, trial.data, anchors, shared)
            execution = self._open(task).call(replace(call, timeline=traces.request if traces else None))
            execution = _with_golden(task, trial, execution, shared) if execution.plays_golden else execution
            if traces is not None:
                traces.keep(task.operator.name, task.case, execution.timelines)
            return CalledTrial(task, trial, own_outputs(execution), shared, held.pop_all())

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


def trusted_time(execution: Execution, bands: Mapping[str, ErrorBand]) -> Measurement | None:
    """The time of a call, with where the measured one is expected if it was simulated."""
    return None if execution.time is None else with_error(execution.time, execution.launches, bands)


def conclude(task: CaseTask, first: TrialResult, anchors: CaseAnchors, bands: Mapping[str, ErrorBand], second: TrialResult | None = None) -> CaseResult:
    """One result from everything that was found; a case that did not pass has no time, and the time of one that did is the first trial's.

    `bands` are the errors of simulated times that the hardware file knows.
    """
    execution = first.execution
    later = second or TrialResult(Execution(), (), ())
    outcomes = [*first.outcomes, *map(in_second_trial, later.outcomes)]
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
        findings=(*anchors.findings, *execution.findings, *(item for item in later.execution.findings if item not in execution.findings)),
    )


def _void(task: CaseTask, error: Exception) -> CaseResult:
    reason = str(error) if isinstance(error, EvaluatorError) else f"internal error of Piton, please report it: {_describe(error)}"
    return void_case(task.operator, task.case, reason)


def _describe(error: Exception) -> str:
    """Type, message and the innermost place of an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def void_case(operator: Operator, case: Case, reason: str) -> CaseResult:
    """A case that we could not evaluate."""
    return unrun_case(operator, case, outcome(Cause.EVALUATION_FAILED, "could not be evaluated"), reason)


def unrun_case(operator: Operator, case: Case, found: Outcome, void: str = "") -> CaseResult:
    """A case that was not called: its operator failed, it was left out, or we could not."""
    return CaseResult(operator=operator.name, case=case, size=size_class(case), outcome=found, void=void)
