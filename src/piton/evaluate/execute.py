"""One lane: owns the sessions of the operators it works on and takes cases through call, check, time and anchors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event

from piton.core.case import Case, size_class
from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.execution import Build, CaseCall, Execution, Probe, TensorArgument
from piton.core.fidelity import with_error
from piton.core.interval import ErrorBand
from piton.core.measurement import Measurement, Provenance
from piton.core.operator import Operator
from piton.core.protocols import Session
from piton.core.report import CaseResult
from piton.core.submission import Submission
from piton.core.verdict import Verdict, decide
from piton.evaluate.arguments import all_attributes, argument_order, tensor_arguments
from piton.evaluate.build import Workplace
from piton.evaluate.failures import FailureKeeper
from piton.evaluate.golden_service import CaseData, GoldenService
from piton.evaluate.integrity_checks import (
    NOTHING,
    Attempt,
    Checks,
    Further,
    after_first_trial,
    after_trials,
    digest_of_outputs,
    made,
    probe_of_trial,
    wants_further_calls,
)
from piton.evaluate.judging import CalledTrial, TrialData, TrialResult, check_trial, own_outputs
from piton.evaluate.measured import Checked, varied
from piton.evaluate.memory import MemoryGuard, call_bytes
from piton.evaluate.overlap import Rest
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import CaseStarted
from piton.evaluate.retry import Tried, Tries, result_of
from piton.evaluate.rule_outcomes import has_probes
from piton.evaluate.timing import AnchorBook, CaseAnchors
from piton.evaluate.traces import TraceKeeper
from piton.evaluate.trials import FIRST, SECOND, in_second_trial
from piton.evaluate.unrun import void_case
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
    stop: Event = field(default_factory=Event)
    """Set when the first lane is interrupted: that ends goldens and baselines of all lanes, and what this looks like in another one is no result."""


class CaseLane:
    """Implements `schedule.Lane`."""

    def __init__(self, number: int, shared: Evaluation) -> None:
        self._number = number
        self._shared = shared
        self._session: tuple[str, Session] | None = None
        self._takes_kills = False

    def run(self, task: CaseTask) -> CaseResult | Rest[CaseResult] | None:
        """Call the submission on one case. Judging the last of its calls is the rest: on a simulated target it overlaps with the next case.

        What we could not evaluate comes back as a void, what was interrupted as None.
        """
        self._shared.place.events(CaseStarted(operator=task.operator.name, case_id=task.case.id, lane=self._number))
        started = time.monotonic()
        tried = Tries(lambda is_last: self._called(task, is_last=is_last), self._close_session, self._is_stopped).run()
        rest = Rest(lambda: self._finish(task, tried, started))
        return rest if self._is_simulated else rest.finish()

    @property
    def _is_simulated(self) -> bool:
        """What is measured must not share its machine with anything else of ours."""
        return self._shared.place.target.provenance is Provenance.SIMULATED

    def _finish(self, task: CaseTask, tried: Tried[Callable[[], CaseResult]], started: float) -> CaseResult | None:
        """The result of a case, in the journal; None when the run was stopped before."""
        judged = tried.then(lambda judge: Tries(lambda _is_last: judge(), lambda: None, self._is_stopped).run())
        result = result_of(judged, lambda trouble: void_case(task.operator, task.case, trouble.reason))
        if self._is_stopped():
            return None  # killed processes look like a crash of the submission: such a result is nobody's
        result = score_case(result.model_copy(update={"wall_s": time.monotonic() - started}), self._shared.place.target.hardware.fidelity)
        if self._shared.failures is not None:
            self._shared.failures.keep_result(result)  # before the journal has the case: a finished failure has its reproducer
        self._shared.finished(task, result)
        return result

    def _is_stopped(self) -> bool:
        return self._shared.stop.is_set()

    def interrupt(self) -> None:
        """End the processes under a running call; its result is dropped."""
        self._shared.stop.set()
        self._shared.goldens.close()
        self._shared.anchors.close()
        self._close_session()

    def close(self) -> None:
        """End the processes of this lane."""
        self._close_session()

    def _called(self, task: CaseTask, *, is_last: bool) -> Callable[[], CaseResult]:
        """All calls of a case in one try; what comes back concludes. Nobody waits for the judgement on a call that is the last whatever it says."""
        self._takes_kills = is_last
        trial = TrialData(FIRST, self._shared.goldens.fetch(task.operator, task.case))
        anchors = self._shared.anchors.of(task.operator, task.case)  # after the golden: a case without one needs no baseline run
        called, bands = self._call(task, trial, anchors), self._shared.place.target.hardware.fidelity
        if self._is_last(called.execution):
            return lambda: conclude(task, called.judged(), anchors, bands)
        result = self._evaluate(task, called, anchors)
        return lambda: result

    def _is_last(self, execution: Execution) -> bool:
        """True when no further call of the case depends on what is found about this one."""
        request, is_probed = self._shared.request, has_probes(self._shared.place.target) and wants_further_calls(execution)
        return self._is_simulated and request.trials < SECOND and request.integrity != "full" and not is_probed

    def _evaluate(self, task: CaseTask, called: CalledTrial, anchors: CaseAnchors) -> CaseResult:
        first = called.judged()
        request, bands = self._shared.request, self._shared.place.target.hardware.fidelity
        if not first.has_passed:
            return conclude(task, first, anchors, bands)
        anchors = self._shared.anchors.measured(anchors, task.operator, task.case, case_call(task, called.trial.data, anchors, self._shared))
        further = self._further(task, first, anchors)  # before the host is told the values of the second trial, which this call has on the device
        second = self._second_trial(task, anchors) if request.trials >= SECOND else None
        if request.integrity == "full" and second is not None and second.has_passed:
            further = further.joined(self._further(task, first, anchors, after_trials))
        return conclude(task, first, anchors, bands, second, further)

    def _further(self, task: CaseTask, first: TrialResult, anchors: CaseAnchors, checks: Checks = after_first_trial) -> Further:
        """The calls that show what outputs depend on, where the target can make them."""
        if not has_probes(self._shared.place.target):
            return Further()
        return made(checks, Attempt(first.execution, (True,), first.outputs), partial(self._attempt, task, anchors), f"{task.operator.name}/{task.case.id}")

    def _attempt(self, task: CaseTask, anchors: CaseAnchors, number: int, probe: Probe, against: Sequence[int]) -> Attempt:
        """One further call with the values of a trial; right or not for each of the trials `against`."""
        shared = self._shared
        trials = {wanted: TrialData(wanted, shared.goldens.fetch(task.operator, task.case, wanted)) for wanted in dict.fromkeys((number, *against))}
        with shared.guard.reserve(call_bytes(task.case), f"{task.operator.name}/{task.case.id}"):
            call = replace(case_call(task, trials[number].data, anchors, shared), probe=probe)
            execution = self._ask(task, call)
            passes = tuple(not execution.outcomes and not check_trial(task, trials[wanted], execution, shared)[1] for wanted in against)
            is_empty = all(0 in output.shape for output in execution.outputs)
            return Attempt(replace(execution, outputs=(), timelines=()), passes, digest_of_outputs(execution.outputs), is_empty)

    def _second_trial(self, task: CaseTask, anchors: CaseAnchors) -> TrialResult:
        """In the session of the first, so that what the submission kept from that call can still mislead it."""
        try:
            trial = TrialData(SECOND, self._shared.goldens.fetch(task.operator, task.case, SECOND))
            return self._call(task, trial, anchors).judged()
        except EvaluatorError as error:
            wrapped = EvaluatorError("the second trial could not be evaluated", found=str(error), where=f"{task.operator.name}/{task.case.id}")
            wrapped.fault = error.fault
            raise wrapped from error

    def _call(self, task: CaseTask, trial: TrialData, anchors: CaseAnchors) -> CalledTrial:
        shared = self._shared
        with ExitStack() as held:
            held.enter_context(shared.guard.reserve(call_bytes(task.case), f"{task.operator.name}/{task.case.id}"))
            traces = shared.traces if trial.number == FIRST else None
            call = replace(case_call(task, trial.data, anchors, shared), probe=probe_of_trial(shared.request.integrity, trial.number))
            checked = Checked(task.operator, task.case, trial.data, shared.goldens, shared.request)
            call = varied(call, checked) if shared.anchors.is_measuring else call
            execution = self._ask(task, replace(call, timeline=traces.request if traces else None))
            execution = _with_golden(task, trial, execution, shared) if execution.plays_golden else execution
            if traces is not None:
                traces.keep(task.operator.name, task.case, execution.timelines)
            execution = own_outputs(execution, held) if self._is_last(execution) else execution
            return CalledTrial(task, trial, execution, checked, shared, held.pop_all())

    def _ask(self, task: CaseTask, call: CaseCall) -> Execution:
        """One call. Raises ProcessLostError when a SIGKILL that nothing explains ended it, as long as there is another try."""
        execution = self._open(task).call(call)
        if execution.is_killed and not self._takes_kills:
            raise ProcessLostError("a process of the submission was ended by a SIGKILL from outside", where=f"{task.operator.name}/{task.case.id}")
        return execution

    def _open(self, task: CaseTask) -> Session:
        kept = self._session
        if kept is None or kept[0] != task.operator.name:
            self._close_session()
            place = self._shared.place
            kept = (task.operator.name, place.target.device.open(self._shared.submission, task.operator, task.build, place.runner))
            self._session = kept
        if self._is_stopped():  # `interrupt` sets this before it looks for a session, so one of the two closes it
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
